"""Rules for arrays: the same measures, conventions and axes, less what needs ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from idealist.conventions import DEFAULT, Convention
from idealist.conventions import convention as find_convention
from idealist.errors import UsageError
from idealist.evaluating.evaluator import labelled
from idealist.measures import Custom, Measure
from idealist.measures.instrument import Instrument, check_axes
from idealist.protocol import Protocol
from idealist.tensors.tensor_lists import Look

#: Axes that ask for the ids of queries or documents, and what arrays have instead.
NEED_IDS = {
    "collapse": "merge chunks before you measure",
    "duplicates": "each column is a document of its own",
    "exclude_self": "leave such documents out with mask=",
    "missing": "every row is a query of the run",
    "unknown": "every row is a judged query",
}
#: What other tools call it, and what it is here.
ELSEWHERE = {
    "top_k": "cut the measure: nDCG@10",
    "k": "cut the measure: nDCG@10",
    "ignore_index": "write ignore=-100",
    "empty_target_action": "write no_relevant=0, 1, skip or error",
}
TIES = "choose ties=input, input-reversed, expected, worst, best or error"


@dataclass(frozen=True, eq=False)
class Rules:
    """Measures by the names they were asked for, with all that decides their values."""

    convention: Convention
    axes: Mapping[str, Any]
    measures: Mapping[str, Measure]
    instruments: Mapping[str, Instrument]

    @cached_property
    def looks(self) -> dict[Look, list[str]]:
        """The ways to look at a batch, one per protocol, and the measures that share each."""
        sharing: dict[Protocol, list[str]] = {}
        for label, one in self.instruments.items():
            sharing.setdefault(one.protocol, []).append(label)
        return {self._look(protocol, labels): labels for protocol, labels in sharing.items()}

    def _look(self, protocol: Protocol, labels: list[str]) -> Look:
        measures = [self.instruments[label].measure for label in labels]
        ties = protocol.ties == "expected" or any(has(one, "block_end") for one in measures)
        near = not ties and not any(_looks_beyond(one) for one in measures)
        reach = max(one.cutoff or 0 for one in measures) if near else None
        return Look(protocol, reach, ties, any(has(one, "positive_score") for one in measures))

    @cached_property
    def of_highest(self) -> list[str]:
        """The measures whose values depend on the highest grade of all judgments."""
        return [label for label, one in self.instruments.items() if _of_highest(one.measure)]

    def check_highest(self, why: str) -> None:
        """Refuse measures that depend on the highest grade, where that is not known."""
        if self.of_highest:
            hint = "set it, as in ERR(max_grade=4), or use a measure that needs none"
            needing = ", ".join(self.of_highest)
            raise UsageError(f"{needing} depends on the highest grade, {why}", hint)

    @cached_property
    def takes_negative(self) -> bool:
        """Whether somebody said what negative grades mean, or they are refused or dropped."""
        said = "negative" in self.axes
        said = said or any("negative" in one.written() for one in self.measures.values())
        return said or any(one.protocol.negative != "allow" for one in self.instruments.values())

    @property
    def text(self) -> dict[str, str]:
        """What makes two sets of rules the same: every measure's own, in full."""
        return {
            label: f"{one.measure} {one.protocol} {one.aggregate}"
            for label, one in self.instruments.items()
        }


def rules_of(measures: Any, convention: str | Convention, axes: Mapping[str, Any]) -> Rules:
    """Set every parameter of some measures; refuse what arrays cannot follow."""
    given = {key: value for key, value in axes.items() if value is not None}
    asked, convention = labelled(measures), convention or DEFAULT
    try:
        return _rules(tuple(asked.items()), find_convention(convention), tuple(given.items()))
    except TypeError:  # a table written as a dict, which cannot be looked up
        return _made(tuple(asked.items()), find_convention(convention), tuple(given.items()))


def _made(
    measures: tuple[tuple[str, Measure], ...],
    convention: Convention,
    given: tuple[tuple[str, Any], ...],
) -> Rules:
    axes, asked = dict(given), dict(measures)
    for name in axes.keys() & ELSEWHERE.keys():
        raise UsageError(f"there is no axis {name!r}", ELSEWHERE[name])
    check_axes(axes, asked.values())
    for name in axes.keys() & NEED_IDS.keys():
        message = f"{name}={axes[name]} is about ids, and arrays have none"
        raise UsageError(message, f"leave it out: {NEED_IDS[name]}")
    for label, measure in asked.items():
        _check_measure(label, measure)
    made = {label: _instrument(convention, one, axes) for label, one in asked.items()}
    return Rules(convention, axes, asked, made)


_rules = lru_cache(maxsize=128)(_made)


def _check_measure(label: str, measure: Measure) -> None:
    if isinstance(measure, Custom):
        hint = "read_arrays(labels, scores) gives judgments and a run for evaluate()"
        raise UsageError(f"{label} is a function of placements, which arrays are not", hint)
    column = getattr(measure, "cost_column", None)
    needs = "a column" if column not in (None, "none") else measure.needs
    if needs:
        hint = "read_qrels and read_run take ids and columns; evaluate() measures them"
        raise UsageError(f"{label} needs judgments with {needs}, which labels are not", hint)


def _instrument(convention: Convention, measure: Measure, axes: Mapping[str, Any]) -> Instrument:
    """Set every parameter; ties that a convention orders by id keep the order of the input."""
    made = convention.instrument(measure, axes)
    protocol = made.protocol
    if _by_id(protocol.ties):
        if "ties" in axes:
            raise UsageError(f"ties={axes['ties']} is about ids, and arrays have none", TIES)
        protocol = replace(protocol, ties="input")
    if protocol.order == "rank":
        hint = "order=score ranks by the scores, order=given keeps the order of the input"
        raise UsageError("order=rank needs ranks, and arrays have none", hint)
    if protocol.budget is not None:
        raise UsageError(f"depth={protocol.depth} needs lengths, and arrays have none", "cut at k")
    if convention.name == DEFAULT and "grades" not in axes:
        protocol = replace(protocol, grades="keep")  # as for all data that is not TREC text
    if protocol.grades == "nonzero":
        message = "grades=nonzero takes documents of grade 0 for unjudged, and each has a label"
        raise UsageError(message, "choose grades=keep or grades=truncate, or use evaluate()")
    measure.check_ties(protocol.ties)
    return replace(made, protocol=protocol)


def _by_id(ties: str) -> bool:
    return ties.startswith(("docid", "random"))


def _looks_beyond(measure: Measure) -> bool:
    """Whether a measure looks past its cutoff, be it only to refuse what is there."""
    refuses = has(measure, "positive_score") or getattr(measure, "scale", "") == "none"
    return measure.cutoff is None or measure.list_only or refuses


def _of_highest(measure: Measure) -> bool:
    observed = getattr(measure, "max_grade", "") == "observed"
    perfect = getattr(measure, "ideal", "") == "perfect"
    return perfect or (observed and getattr(measure, "probability", "") == "exp2")


def has(measure: Measure, parameter: str) -> bool:
    """Whether a measure has a flag and it is set."""
    return bool(getattr(measure, parameter, False))
