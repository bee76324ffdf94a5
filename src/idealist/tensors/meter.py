"""A meter: measures over many batches, collected without waiting for the device."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from idealist.conventions import CONVENTIONS, DEFAULT, Convention
from idealist.conventions.signature import Signature
from idealist.data.columns import Floats
from idealist.errors import Faults, UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.formats.arrays import refuse
from idealist.measures.base import Asked
from idealist.measures.instrument import settled
from idealist.ranking.padded_lists import Array
from idealist.tensors.array_libraries import library_of
from idealist.tensors.layouts import Layout, lay_out, on_host
from idealist.tensors.measured_lists import FACTS, FAULTS, WATCHED, measure_lists
from idealist.tensors.meter_doubts import MeterCase, find_doubts
from idealist.tensors.tensor_rules import Rules, rules_of

#: The version of what `state_dict` gives.
STATE = 1


class Part(NamedTuple):
    """Lists that were measured together: numbers x lists, their names, and if padding was told."""

    numbers: Array
    queries: tuple[str, ...] | None
    told: bool


class Documents(NamedTuple):
    """Documents of queries that may go on in a later batch; padding has the score -inf."""

    scores: Array
    labels: Array
    queries: list[Any]
    told: bool


class Meter:
    """Measures of a data set that comes in batches.

    >>> meter = Meter(["nDCG@10", "RR@10"], ignore=-100)
    >>> meter.update([[0.9, 0.2, 0.5]], [[1, 3, -100]])
    >>> meter.update([[0.1, 0.8], [0.6, 0.3]], [[0, 2], [1, 0]])
    >>> {label: round(value, 4) for label, value in meter.compute().items()}
    {'nDCG@10': 0.9032, 'RR@10': 1.0}

    What it keeps is small: the values of each query. It waits for the device in `compute` and
    `evaluation` only. Means are exactly rounded, so neither batches nor processes nor their order
    can change them. `convention` and `axes` are those of `evaluate`, `ignore` is the label of
    padding, and `name` names the run.
    """

    def __init__(
        self,
        measures: Any,
        *,
        convention: str | Convention = DEFAULT,
        ignore: float | None = None,
        name: str = "run",
        **axes: Any,
    ) -> None:
        self.rules = rules_of(measures, convention, axes)
        self.ignore, self.name = ignore, name
        if needing := self.rules.of_highest:
            hint = "set it, as in ERR(max_grade=4), or use a measure that needs none"
            message = f"{', '.join(needing)} depends on the highest grade, which no batch knows"
            raise UsageError(message, hint)
        self.reset()

    def __repr__(self) -> str:
        return f"<Meter {self.name}: {', '.join(self.rules.measures)}>"

    def reset(self) -> None:
        """Forget everything that was measured."""
        self._parts: list[Part] = []
        self._documents: list[Documents] = []
        self._known: MeterCase | None = None

    def update(
        self,
        scores: Any,
        labels: Any,
        *,
        mask: Any = None,
        group: Any = None,
        qid: Any = None,
        judged: Any = None,
    ) -> None:
        """Measure a batch; arguments are those of `values`.

        `qid` names the lists, one id per row or group. In one dimension without `group` it is one
        id per document, and a query may go on in a later batch: its documents are kept until then.
        """
        self.add(self.looked_at(scores, labels, mask, group, qid, judged))

    def looked_at(
        self, scores: Any, labels: Any, mask: Any, group: Any, qid: Any, judged: Any
    ) -> Part | Documents:
        """Measure a batch, or copy it if its queries may go on, without adding it."""
        layout = lay_out(scores, labels, mask, group, qid, judged, self.ignore)
        if not layout.by_document:
            return self._measured(layout)
        if judged is not None:
            hint = "give whole lists, with group= or as queries x documents"
            refuse("judged belongs to whole lists, and these may go on in a later batch", hint)
        return _documents(lay_out(scores, labels, mask, None, None, None, self.ignore), qid)

    def add(self, found: Part | Documents) -> None:
        """Add what was found in a batch."""
        self._known = None
        if isinstance(found, Part):
            self._parts.append(found)
        else:
            self._documents.append(found)

    def _measured(self, layout: Layout) -> Part:
        with layout.library.exact():
            found = measure_lists(layout, self.rules, watch=True)
        return Part(found.numbers, layout.queries, layout.padded)

    def merge(self, *others: Meter | Mapping[str, Any]) -> None:
        """Take over what other meters measured, or what their `state_dict` says."""
        for other in others:
            state = other.state_dict() if isinstance(other, Meter) else other
            if state.get("idealist") != STATE or state.get("rules") != self.rules.text:
                hint = "make both with the same measures, convention and axes"
                raise UsageError("the meters do not measure the same", hint)
            self._parts += [Part(*part) for part in state["parts"]]
            self._documents += [Documents(*some) for some in state["documents"]]
        self._known = None

    def state_dict(self) -> dict[str, Any]:
        """Return what was measured so far, in the processor's memory."""
        parts = [one._replace(numbers=on_host(one.numbers)) for one in self._parts]
        documents = [
            one._replace(scores=on_host(one.scores), labels=on_host(one.labels))
            for one in self._documents
        ]
        return {
            "idealist": STATE, "rules": self.rules.text,
            "parts": [tuple(one) for one in parts], "documents": [tuple(one) for one in documents],
        }  # fmt: skip

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` returned, and nothing else."""
        self.reset()
        self.merge(state)

    def __getstate__(self) -> dict[str, Any]:
        own = self.rules.convention
        by_name = CONVENTIONS.get(own.name) is own  # which other processes know
        made: dict[str, Any] = {"convention": own.name if by_name else own}
        made |= {"ignore": self.ignore, "name": self.name}
        made |= {"measures": list(self.rules.measures), **self.rules.axes}
        return {"made": made, **self.state_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Meter.__init__(self, **state["made"])
        self.merge(state)

    def compute(self) -> dict[str, float]:
        """Return the mean, or whatever aggregate it has, of each measure."""
        return {label: one.aggregate for label, one in self._case().measured.items()}

    def evaluation(self) -> Evaluation:
        """Return everything known: values per query, intervals, doubts and signatures.

        It can be saved, compared and gated like any other evaluation. Its judgments are identified
        by the grades of each query, since labels have no document ids.
        """
        case = self._case()
        digest = _digest(case)
        found = case.measured
        return Evaluation(
            run=self.name,
            queries=tuple(case.queries),
            values={label: one.values for label, one in found.items()},
            counted={label: one.counted for label, one in found.items()},
            aggregates={label: one.aggregate for label, one in found.items()},
            signatures={
                label: Signature.of(one, digest) for label, one in case.instruments.items()
            },
            doubts=find_doubts(case),
            convention=self.rules.convention.name,
        )

    def _case(self) -> MeterCase:
        """Fetch what was measured, and settle it; this waits for the device."""
        if self._known is None:
            self._known = _case(self.rules, self.name, [*self._parts, *self._whole()])
        return self._known

    def _whole(self) -> Iterator[Part]:
        """Measure the queries whose documents came one by one."""
        if self._documents:
            scores = _joined([one.scores for one in self._documents])
            labels = _joined([one.labels for one in self._documents])
            ids = [one for some in self._documents for one in some.queries]
            layout = lay_out(scores, labels, None, None, ids, None, None)
            told = all(one.told for one in self._documents)
            yield self._measured(layout)._replace(told=told)


def _documents(layout: Layout, qid: Any) -> Documents:
    """Copy documents, since a batch may be overwritten by the next."""
    library, xp = layout.library, layout.library.xp
    scores = xp.where(layout.there, layout.scores, -math.inf)
    scores, labels = (xp.reshape(one, (-1,)) for one in (scores, library.copy(layout.labels)))
    return Documents(scores, labels, _as_list(qid), layout.padded)


def _as_list(qid: Any) -> list[Any]:
    found = on_host(qid)
    return list(found.tolist() if hasattr(found, "tolist") else found)


def _joined(arrays: list[Array]) -> Array:
    """Join arrays on their device if they share one, else in the processor's memory."""
    homes = {(type(one), str(getattr(one, "device", "cpu"))) for one in arrays}
    if len(homes) > 1:
        arrays = [on_host(one) for one in arrays]
    library = library_of(arrays[0])
    with library.exact():
        return arrays[0] if len(arrays) == 1 else library.xp.concat(arrays, axis=-1)


def _case(rules: Rules, name: str, parts: list[Part]) -> MeterCase:
    """Settle what was measured; raise what could not be measured."""
    names = (*rules.measures, *FACTS, *WATCHED)
    if not parts:
        raise UsageError("nothing was measured yet", "call update(scores, labels) first")
    if len({part.queries is None for part in parts}) > 1:
        raise UsageError("only some of the batches name their queries", "give qid for all or none")
    numbers = np.asarray(on_host(_joined([part.numbers for part in parts])), np.float64)
    told = np.concatenate([np.full(part.numbers.shape[1], part.told) for part in parts])
    kept = np.flatnonzero(numbers[names.index("query")] > 0)
    numbers, told = numbers[:, kept], told[kept]
    queries = [query for part in parts for query in part.queries or ()]
    queries = [queries[i] for i in kept] if queries else [str(i + 1) for i in range(len(kept))]
    first, repeated = _first(queries, numbers)
    numbers, told, queries = numbers[:, first], told[first], [queries[i] for i in first]
    facts = dict(zip(names, numbers, strict=True))
    _check(facts["fault"], queries)
    lowest = min(float(facts["lowest"].min(initial=0.0)), 0.0)
    asked = Asked("labels", queries, facts["documents"] == 0, lowest)
    counted = np.ones(len(queries), dtype=bool)
    measured = {
        label: settled(one, facts[label], counted, asked)
        for label, one in rules.instruments.items()
    }
    marked = bool(told[facts["negative"] > 0].all())
    return MeterCase(rules, name, queries, measured, facts, marked, repeated)


def _first(queries: list[str], numbers: Floats) -> tuple[list[int], tuple[str, ...]]:
    """Keep queries that come again with the same numbers once; refuse other numbers."""
    first: dict[str, int] = {}
    repeated: list[str] = []
    for i, query in enumerate(queries):
        known = first.setdefault(query, i)
        if known < i:
            repeated.append(query)
            if not np.array_equal(numbers[:, known], numbers[:, i], equal_nan=True):
                hint = "give each list once, or one id per document if lists go on in later batches"
                message = f"query {query!r} was measured twice, with different results"
                Faults("batches").fail("contradiction", message, hint)
    return list(first.values()), tuple(repeated)


def _check(faults: Floats, queries: list[str]) -> None:
    noted = Faults("batches")
    for i in np.flatnonzero(faults).tolist():
        code, message, hint = FAULTS[int(faults[i])]
        noted.add(code, f"query {queries[i]}: {message}", hint)
    noted.check()


def _digest(case: MeterCase) -> str:
    """Return ten hexadecimal digits that depend on the queries and the grades of each.

    Queries without a name are told by their number, so that only the same queries in the same order
    are compared, query by query.
    """
    columns = [case.facts[name].tolist() for name in ("judged", "sum", "squares", "cubes")]
    rows = (map(_sum_text, row) for row in zip(*columns, strict=True))
    lines = sorted("\t".join((query, *row)) for query, row in zip(case.queries, rows, strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:10]


def _sum_text(number: float) -> str:
    """Write whole numbers in full, and others without the digits that the order of a sum moves."""
    return str(int(number)) if number.is_integer() else f"{number:.6g}"
