"""Curves: a measure at many cutoffs, and precision at many levels of recall."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from idealist.conventions.signature import Signature, shortened
from idealist.errors import UsageError
from idealist.evaluating.data_doubts import nothing_matches
from idealist.evaluating.doubts import find_doubts
from idealist.evaluating.evaluation_figures import sense_of
from idealist.evaluating.evaluator import Evaluator
from idealist.measures import Measure, as_measure
from idealist.measures.average_precision import IPrec
from idealist.ranking.ranked import Ranked
from idealist.rendering import doubt_words
from idealist.rendering.document import Document, Doubts, Signatures, Table, Text
from idealist.rendering.doubt import Doubt
from idealist.rendering.figure import Figure
from idealist.rendering.figures import curve_figures
from idealist.rendering.plain_data import finite
from idealist.rendering.result import Figures, Result

#: The cutoffs that are looked at unasked, as far as lists reach.
CUTOFFS = (
    *range(1, 11), 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000,
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Curves(Result):
    """What runs are worth at each of some `places`: cutoffs, or levels of recall.

    `values` has, by run, what a measure is at each place; `signatures` says how each was measured,
    by the measure with its place. `chosen` is the cutoff that was asked for by name, as in nDCG@10.
    Where no id of a run meets a judgment, a doubt says so, and nothing was measured.
    """

    kind: str
    measure: str
    places: tuple[float, ...]
    values: Mapping[str, tuple[float, ...]]
    signatures: Mapping[str, Signature]
    convention: str
    chosen: int | None = None
    doubts: tuple[Doubt, ...] = ()

    @property
    def summary(self) -> str:
        """Which run is best, in one sentence."""
        return self.figure(self.kind).says

    @property
    def figures(self) -> Figures:
        """The curves as a figure."""
        return Figures({self.kind: self._depth if self.kind == "depth" else self._recall})

    def _depth(self) -> Figure:
        cutoffs, sense = list(map(int, self.places)), sense_of(next(iter(self.signatures.values())))
        return curve_figures.depth(
            self.measure, cutoffs, self.values, chosen=self.chosen, sense=sense,
            weighted=self._weighted,
        )  # fmt: skip

    def _recall(self) -> Figure:
        return curve_figures.recall(self.places, self.values, weighted=self._weighted)

    @property
    def _weighted(self) -> bool:
        settings = dict(next(iter(self.signatures.values())).settings)
        return settings["aggregate"].startswith("weighted(")

    def report(self) -> Document:
        """Describe the curves: a row a place, a column a run."""
        place = {"depth": "cutoff", "recall": "recall"}[self.kind]
        columns = zip(*self.values.values(), strict=True)
        rows = [(f"{at:g}", *own) for at, own in zip(self.places, columns, strict=True)]
        table = Table.of([place], list(self.values), rows, title=self.measure, turns=True)
        known = shortened(self.signatures, self.convention).values()
        rules = dict.fromkeys(one.partition("|")[2] for one in known)
        lines = tuple(f"MEASURE|{one} for {self.measure} at each {place}" for one in rules)
        notes = (Doubts(self.doubts), Signatures(lines))
        return Document((Text(self.summary, strong=True), table), notes)

    def table(self) -> Table:
        """Return run, place and value, a row each."""
        return self.figure(self.kind).rows

    def data(self) -> dict[str, Any]:
        """Return the curves as plain data; undefined values are None."""
        return {
            "kind": self.kind, "measure": self.measure, "places": list(self.places),
            "runs": [{"run": run, "values": finite(own)} for run, own in self.values.items()],
            "signatures": {label: str(one) for label, one in self.signatures.items()},
            "doubts": [one.data() for one in self.doubts],
        }  # fmt: skip


def depth_curve(
    qrels: Any, runs: Any, measure: Any = "nDCG@10", cutoffs: Iterable[int] | None = None,
    **options: Any,
) -> Curves:  # fmt: skip
    """Measure runs at many cutoffs: nDCG@1, nDCG@2, … as far as the longest list goes.

    `runs` are one run, several, or runs by name. A cutoff of the `measure` itself is the one that
    the figure marks. `options` are those of `evaluate`.

    >>> qrels, run = {"q1": {"a": 1, "b": 1}}, {"q1": ["a", "x", "b"]}
    >>> found = depth_curve(qrels, run, "R")
    >>> found.places, found.values
    ((1, 2, 3), {'run': (0.5, 0.5, 1.0)})
    """
    base = as_measure(measure)
    if not base.takes_cutoff:
        hint = "choose one that does, such as nDCG, P, R or Success"
        raise UsageError(f"{base.name} takes no cutoff", hint)
    own = () if base.cutoff is None else (base.cutoff,)
    asked = CUTOFFS if cutoffs is None else tuple(cutoffs)
    found = {one.cutoff or 0: one for one in (base @ cutoff for cutoff in (*asked, *own))}
    evaluator = _evaluator(qrels, [*found.values()], options)
    ranked = evaluator.several(runs)
    deep = max(_longest(evaluator, run) for run in ranked) if cutoffs is None else max(found)
    kept = {cutoff: found[cutoff] for cutoff in sorted(found) if cutoff <= deep or cutoff in own}
    name = str(base).removesuffix(f"@{base.cutoff}")
    return _curves("depth", name, kept, evaluator, ranked, base.cutoff)


def precision_recall_curve(
    qrels: Any, runs: Any, levels: int | Iterable[float] = 11, **options: Any
) -> Curves:
    """Measure interpolated precision at levels of recall: eleven, or as many or which you say.

    `runs` and `options` are as in `depth_curve`.

    >>> found = precision_recall_curve({"q1": {"a": 1, "b": 1}}, {"q1": ["a", "x", "b"]}, 3)
    >>> found.places, [round(x, 4) for x in found.values["run"]]
    ((0.0, 0.5, 1.0), [1.0, 1.0, 0.6667])

    Reference: Manning et al. 2008, Introduction to Information Retrieval, section 8.4
    """
    if isinstance(levels, int) and 2 <= levels <= 1001:
        levels = [at / (levels - 1) for at in range(levels)]
    if isinstance(levels, (int, float, str)):
        hint = "give a number from 2 to 1001, or a list of levels"
        raise UsageError(f"levels cannot be {levels!r}", hint)
    made = {float(one.recall): one for one in (IPrec(recall=at) for at in levels)}
    found = dict(sorted(made.items()))
    evaluator = _evaluator(qrels, [*found.values()], options)
    return _curves("recall", "IPrec", found, evaluator, evaluator.several(runs))


def _evaluator(qrels: Any, measures: Sequence[Measure], options: Mapping[str, Any]) -> Evaluator:
    if not measures:
        raise UsageError("there is nothing to measure", "give at least one place of the curve")
    return Evaluator(qrels, measures, **options)


def _longest(evaluator: Evaluator, run: Ranked) -> int:
    placed = next(iter(evaluator.placed(run).values()))
    return int(placed.retrieved.max(initial=1))


def _curves(
    kind: str, name: str, measures: Mapping[float, Measure], evaluator: Evaluator,
    ranked: Iterable[Ranked], chosen: int | None = None,
) -> Curves:  # fmt: skip
    """Measure every run at every place; where no id meets, nothing was measured."""
    labels = [str(one) for one in measures.values()]
    values: dict[str, tuple[float, ...]] = {}
    apart: dict[str, tuple[Doubt, ...]] = {}
    for run in ranked:
        case = evaluator.case(run)
        found = find_doubts(case, (nothing_matches,))
        apart[case.run.name] = tuple(replace(one, command="") for one in found)
        unmet = any(one.severity == "error" for one in found)
        now = dict.fromkeys(labels, math.nan) if unmet else case.aggregates
        values[case.run.name] = tuple(now[label] for label in labels)
    doubts = doubt_words.shared([*apart.items()])
    signatures = {label: evaluator.signatures[label] for label in labels}
    convention = evaluator.convention.name
    return Curves(kind, name, tuple(measures), values, signatures, convention, chosen, doubts)
