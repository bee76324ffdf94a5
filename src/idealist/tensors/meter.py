"""A meter: measures over many batches, collected without waiting for the device."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import compress
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
from idealist.tensors.array_libraries import library_of, uncompiled
from idealist.tensors.batch_values import DoubtWarning
from idealist.tensors.layouts import Layout, lay_out, on_host
from idealist.tensors.measured_lists import FACTS, FAULTS, IDENTITY, WATCHED, measure_lists
from idealist.tensors.meter_doubts import MeterCase, find_doubts, negative_labels
from idealist.tensors.tensor_rules import Rules, rules_of

#: The version of what `state_dict` gives.
STATE = 1


class Part(NamedTuple):
    """Lists that were measured together: numbers x lists, and their names."""

    numbers: Array
    queries: tuple[str, ...] | None


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
    {'nDCG@10': 0.9322, 'RR@10': 1.0}

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
        self.rules.check_highest("which no batch knows")
        self.reset()

    def __repr__(self) -> str:
        return f"<Meter {self.name}: {', '.join(self.rules.measures)}>"

    def reset(self) -> None:
        """Forget everything that was measured."""
        self._parts: list[Part] = []
        self._documents: list[Documents] = []
        self._known: MeterCase | None = None

    @uncompiled
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
        """Measure a batch; arguments are those of `values`, and the meter itself has `ignore`.

        `qid` names the lists, one id per row or group. In one dimension without `group` it is one
        id per document, and a query may go on in a later batch: its documents are kept until then.
        """
        self.add(self.looked_at(scores, labels, mask, group, qid, judged))

    def looked_at(
        self, scores: Any, labels: Any, mask: Any, group: Any, qid: Any, judged: Any
    ) -> Part | Documents:
        """Measure a batch, or copy it if its queries may go on, without adding it."""
        if qid is not None and not hasattr(qid, "shape"):
            qid = list(qid)
        layout = lay_out(scores, labels, mask, group, qid, judged, self.ignore)
        if group is None and qid is None and len(getattr(scores, "shape", "2d")) == 1:
            hint = "give group= or qid=, or queries x documents; one list is scores[None, :]"
            refuse("nothing says which documents belong together", hint)
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
        return Part(found.numbers, layout.queries)

    def merge(self, *others: Meter | Mapping[str, Any]) -> None:
        """Take over what other meters measured, or what their `state_dict` says."""
        read = [self._read(other) for other in others]
        for parts, documents in read:
            self._parts += parts
            self._documents += documents
        self._known = None

    def _read(self, other: Any) -> tuple[list[Part], list[Documents]]:
        """Read what another meter measured; refuse what does not belong here."""
        if other is self:
            raise UsageError(
                "a meter cannot be merged with itself", "its queries would count twice"
            )
        state = other.state_dict() if isinstance(other, Meter) else other
        hint = "make both with the same measures, convention and axes"
        try:
            if state["idealist"] != STATE or state["rules"] != self.rules.text:
                raise UsageError("the meters do not measure the same", hint)
            names = [None if some is None else tuple(some) for _, some in state["parts"]]
            numbers = [np.array(some, np.float64) for some, _ in state["parts"]]
            documents = [
                Documents(np.array(scores, np.float64), np.array(labels, np.float64), ids, told)
                for scores, labels, ids, told in state["documents"]
            ]
        except (KeyError, TypeError, ValueError, AttributeError):
            hint = "give a Meter, or what its state_dict() returned"
            raise UsageError("this is not what a meter measured", hint) from None
        return list(map(Part, numbers, names)), documents

    def state_dict(self) -> dict[str, Any]:
        """Return what was measured so far as plain lists, which any checkpoint can hold."""
        parts = [(on_host(numbers).tolist(), names) for numbers, names in self._parts]
        documents = [
            (on_host(scores).tolist(), on_host(labels).tolist(), ids, told)
            for scores, labels, ids, told in self._documents
        ]
        whole = {"idealist": STATE, "rules": self.rules.text}
        return {**whole, "parts": parts, "documents": documents}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` returned, and nothing else."""
        parts, documents = self._read(state)
        self.reset()
        self._parts, self._documents = parts, documents

    def fresh(self) -> Meter:
        """Return a meter with the same rules that has measured nothing."""
        made = Meter.__new__(Meter)
        made.rules, made.ignore, made.name = self.rules, self.ignore, self.name
        made.reset()
        return made

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
        for doubt in negative_labels(self._case()):
            warnings.warn(doubt.message, DoubtWarning, stacklevel=2)
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
            yield self._measured(replace(layout, told=told))


def _documents(layout: Layout, qid: Any) -> Documents:
    """Copy documents, since a batch may be overwritten by the next."""
    library, xp = layout.library, layout.library.xp
    scores = xp.where(layout.there, layout.scores, -math.inf)
    scores, labels = (xp.reshape(one, (-1,)) for one in (scores, library.copy(layout.labels)))
    return Documents(scores, labels, _as_list(qid), layout.told)


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
    if not parts:
        raise UsageError("nothing was measured yet", "call update(scores, labels) first")
    if len({part.queries is None for part in parts}) > 1:
        raise UsageError("only some of the batches name their queries", "give qid for all or none")
    numbers = np.asarray(on_host(_joined([part.numbers for part in parts])), np.float64)
    numbers = numbers[:, (is_query := numbers[len(rules.measures)] > 0)]
    names = [query for part in parts for query in part.queries or ()]
    named = parts[0].queries is not None
    queries = list(compress(names, is_query)) if named else _numbered(numbers.shape[1])
    told = len(rules.measures) + len(FACTS) + WATCHED.index("told")  # which a repeat need not say
    first, repeated = _first(queries, np.delete(numbers, told, axis=0))
    numbers, queries = numbers[:, first], [queries[i] for i in first]
    raw = dict(zip(rules.measures, numbers[: len(rules.measures)], strict=True))
    facts = dict(zip((*FACTS, *WATCHED), numbers[len(rules.measures) :], strict=True))
    _check(facts["fault"], queries)
    lowest = min(float(facts["lowest"].min(initial=0.0)), 0.0)
    asked = Asked("labels", queries, facts["documents"] == 0, lowest)
    counted = np.ones(len(queries), dtype=bool)
    measured = {
        label: settled(one, raw[label], counted, asked) for label, one in rules.instruments.items()
    }
    return MeterCase(rules, name, queries, measured, facts, repeated, named)


def _numbered(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]


def _first(queries: list[str], numbers: Floats) -> tuple[list[int], tuple[str, ...]]:
    """Keep queries that come again with the same numbers once; refuse other numbers."""
    first: dict[str, int] = {}
    repeated: list[str] = []
    for i, query in enumerate(queries):
        known = first.setdefault(query, i)
        if known < i:
            repeated.append(query)
            if not np.allclose(numbers[:, known], numbers[:, i], rtol=1e-9, equal_nan=True):
                hint = "call reset() before another epoch, or give an id for each document"
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

    Queries without a name are told by their number and by where in the input their grades are, so
    that few evaluations whose queries came in another order are taken for the same.
    """
    names = IDENTITY if case.is_named else (*IDENTITY, "placed")
    columns = [case.facts[name].tolist() for name in names]
    rows = (map(_sum_text, row) for row in zip(*columns, strict=True))
    lines = sorted("\t".join((query, *row)) for query, row in zip(case.queries, rows, strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:10]


def _sum_text(number: float) -> str:
    """Write whole numbers in full, and others without the digits that the order of a sum moves."""
    return str(int(number)) if number.is_integer() else f"{number:.6g}"
