"""What a judged sample says of runs: unbiased estimates with intervals, and paired differences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from idealist.conventions import DEFAULT, Convention
from idealist.data import Qrels
from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.explaining.contributions import terms
from idealist.formats import one_or_several, read_qrels
from idealist.formats.stored_judgments import store_address
from idealist.judging.store import Store
from idealist.measures import Measure
from idealist.measures.samples import Sample
from idealist.ranking.padded_lists import PaddedLists
from idealist.ranking.placements import Placements
from idealist.rendering.document import SIGNED, TEXT, Column, Document, Estimate, Table, Text
from idealist.rendering.plain_data import finite
from idealist.rendering.result import Result
from idealist.rendering.wording import counted
from idealist.significance.stratified_samples import StratifiedSample, Total

#: Measures that are sums over documents, so that an estimate of each is unbiased.
SUMS = ("P", "CG", "DCG", "RBP", "NumRelRet")
#: What estimates other measures from the same sample, though without an interval.
INSTEAD = {"AP": "xinfAP or statAP", "nDCG": "infNDCG"}
USUAL = ("P@10", "DCG@10")
#: How many of a run's first documents must be pooled for RBP without a cutoff; others fade away.
TOP = 10
#: What becomes of documents that were not pooled, so that no sample of them can be judged.
UNPOOLED = ("refuse", "zero")


def sample_estimates(
    judged: Any,
    runs: Any,
    measures: Any = USUAL,
    *,
    baseline: str | None = None,
    rel: float = 1,
    level: float = 0.95,
    unpooled: str = "refuse",
    convention: str | Convention = DEFAULT,
    **axes: Any,
) -> SampleEstimates:
    """Estimate measures of runs from a judged sample, with intervals for what was not judged.

    `judged` is a store that a sample was drawn into, or judgments with a column `stratum` in which
    pooled documents that were not drawn have the grade -1. Each document counts N/n times, where n
    of the N documents of its stratum are judged. `measures` are sums over documents: P, CG, DCG,
    RBP or NumRelRet. All runs are compared with the `baseline`, by default the first. How many
    documents of the pool are relevant, of grade `rel` or more, is estimated too. The intervals are
    about the documents that were not drawn; the queries are taken as they are.

    A run with documents above the cutoff that were not pooled has no unbiased estimate, and is
    refused. With ``unpooled="zero"`` they count as not relevant, and its values have no interval.

    >>> names = ("query", "document", "stratum", "grade")
    >>> rows = [("q", d, "2", g) for d, g in zip("abcd", (1, 0, -1, -1))] + [("q", "e", "1", 1)]
    >>> sample = [dict(zip(names, row)) for row in rows]
    >>> found = sample_estimates(sample, {"q": ["e", "c", "a", "b", "d"]}, "P@4")
    >>> found.totals["run"]["P@4"].value, found.relevant.value
    (0.75, 3.0)

    Reference: Horvitz and Thompson 1952, doi:10.1080/01621459.1952.10483446
    """
    if not 0.5 <= level < 1:
        raise UsageError(f"level is {level}", "it is between 0.5 and 1, such as 0.95")
    if unpooled not in UNPOOLED:
        raise UsageError(f"unpooled is {unpooled!r}", f"choose {' or '.join(UNPOOLED)}")
    qrels = _sampled(judged)
    evaluator = Evaluator(qrels, measures, convention=convention, **axes)
    _check_sums(evaluator)
    found = one_or_several(runs)
    names = [run.name for run in found]
    if baseline is not None and baseline not in names:
        raise UsageError(f"there is no run {baseline!r}", f"the runs are {', '.join(names)}")
    sample = _strata(qrels)
    first = baseline or names[0]
    measured = {run.name: MeasuredRun.of(evaluator, run) for run in found}
    outside = {name: one.outside for name, one in measured.items() if one.outside.number}
    if outside and unpooled == "refuse":
        raise _unpooled(outside)
    totals = {name: one.totals(sample) for name, one in measured.items()}
    differences = {
        name: one.without(measured[first]).totals(sample)
        for name, one in measured.items()
        if name != first
    }
    relevant = sample.total(np.ones(len(qrels)), (qrels.grades >= rel).astype(np.float64))
    return SampleEstimates(qrels, first, totals, differences, relevant, level, outside)


def _sampled(judged: Any) -> Qrels:
    """Read judgments with what was pooled and not drawn."""
    if (address := store_address(judged)) is not None:
        with Store.to_read(address.path) as store:
            return store.qrels(only=address.only, sampled=True)
    qrels = read_qrels(judged)
    if "stratum" not in qrels.columns:
        hint = "draw a sample: idealist judge pool STORE RUN... --by sampled --budget N"
        raise UsageError(f"{qrels.name} is no sample: it has no strata", hint)
    return qrels


def _check_sums(evaluator: Evaluator) -> None:
    for label, instrument in evaluator.instruments.items():
        name = instrument.measure.name
        if instrument.aggregate.aggregate not in ("mean", "sum"):
            hint = "leave the aggregate out"
            raise UsageError(f"{label} is to be neither a mean nor a sum over queries", hint)
        if name not in SUMS:
            other = INSTEAD.get(name, f"one of {', '.join(SUMS)}")
            message = f"{label} is no sum over documents: an estimate of it would be biased"
            raise UsageError(message, f"use {other}")


def _unpooled(outside: dict[str, Outside]) -> UsageError:
    """Say that nothing can be estimated of some runs, and what can be done."""
    every = "; ".join(f"{run}: {one.words} not pooled" for run, one in outside.items())
    hint = "draw a sample from these runs too (judge pool --by sampled), or count such documents "
    hint += "as not relevant, without intervals: --unpooled zero"
    return UsageError(f"{every}, so an estimate would be too low", hint)


def _strata(qrels: Qrels) -> StratifiedSample:
    """Find the strata of all queries; refuse those of which too little is judged."""
    sample = Sample.of(qrels)
    names = qrels.columns["stratum"]
    levels = {name: i for i, name in enumerate(sorted(set(names)))}
    keys, place, stratum = np.unique(
        sample.query * len(levels) + np.array([levels[name] for name in names]),
        return_index=True, return_inverse=True,
    )  # fmt: skip
    short = (sample.judged < np.minimum(sample.size, 2))[place]
    if short.any():
        queries = sorted({qrels.queries[i] for i in sample.query[place[short]].tolist()})
        number = counted(len(queries), "query has", "queries have")
        message = f"{number} strata with fewer than two judged documents, such as {queries[0]}"
        raise UsageError(message, "judge the rest of the sample first")
    return StratifiedSample(stratum, sample.drawn, keys % len(levels))


class Outside(NamedTuple):
    """How many documents of a run above the cutoff were not pooled, of how many there."""

    number: int
    total: int

    @property
    def words(self) -> str:
        """Say so, up to the verb."""
        verb = "was" if self.number == 1 else "were"
        return f"{self.number:,} of {self.total:,} documents above the cutoff {verb}"


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """What each pooled document can add to each measure, `weights`, and the share that it does.

    Both are in the order of the judgments; `outside` counts documents above the cutoffs that were
    not pooled.
    """

    weights: dict[str, Floats]
    worths: dict[str, Floats]
    outside: Outside

    @classmethod
    def of(cls, evaluator: Evaluator, run: Any) -> MeasuredRun:
        """Take a run's values apart, and divide them by the number of queries that count."""
        placed, weights, worths, outside = evaluator.placed(run), {}, {}, Outside(0, 0)
        for label, instrument in evaluator.instruments.items():
            most, own = _added(instrument.measure, placed[label])
            summed = instrument.aggregate.aggregate == "sum"
            weights[label] = most / (1 if summed else int(placed[label].counting.sum()))
            worths[label] = np.divide(own, most, out=np.zeros(len(own)), where=most != 0)
            outside = max(outside, _outside(instrument.measure, placed[label]))
        return cls(weights, worths, outside)

    def without(self, other: MeasuredRun) -> MeasuredRun:
        """Return what this run adds that another does not."""
        worths = {
            label: np.where(self.weights[label] != 0, own, other.worths[label])
            for label, own in self.worths.items()
        }
        weights = {label: own - other.weights[label] for label, own in self.weights.items()}
        return MeasuredRun(weights, worths, max(self.outside, other.outside))

    def totals(self, sample: StratifiedSample) -> dict[str, Total]:
        """Estimate each measure; nobody knows the error where documents were not pooled."""
        found = {
            label: sample.total(weight, self.worths[label])
            for label, weight in self.weights.items()
        }
        if not self.outside.number:
            return found
        return {label: one._replace(error=math.nan) for label, one in found.items()}


def _added(measure: Measure, placements: Placements) -> tuple[Floats, Floats]:
    """Return what each document would add with the highest grade, and what it adds."""
    qrels = placements.qrels
    most, own = np.zeros(len(qrels)), np.zeros(len(qrels))
    threshold = getattr(measure, "rel", 1)
    highest = threshold if isinstance(threshold, (int, float)) else 1
    for queries, lists in placements.lists:
        counts = placements.counting[queries][:, None] & lists.found
        place = lists.judgments[lists.place][counts]
        grade, pool = (
            np.full_like(some, max(lists.maximum, highest)) for some in (lists.grade, lists.pool)
        )
        best = replace(lists, grade=grade, pool=pool, pooled={}, known={}, cuts={})
        most[place] = _adds(measure, best)[counts]
        own[place] = _adds(measure, lists)[counts]
    return most, own


def _adds(measure: Measure, lists: PaddedLists) -> Floats:
    found = terms(measure, lists)
    if found.adds is None:
        raise UsageError(found.words, "choose an order of ties, such as ties=docid-desc")
    adds: Floats = np.nan_to_num(found.adds)  # of a query of which nothing relevant was drawn
    return adds


def _outside(measure: Measure, placements: Placements) -> Outside:
    """Count the documents that a run retrieves above the cutoff, and those not pooled of them."""
    cutoff = measure.cutoff or (
        TOP if measure.name == "RBP" else placements.retrieved.max(initial=0)
    )
    seen = int(np.minimum(placements.retrieved[placements.counting], cutoff).sum())
    pooled = (placements.rank <= cutoff) & placements.counting[placements.query]
    return Outside(seen - int(pooled.sum()), seen)


@dataclass(frozen=True, eq=False, repr=False)
class SampleEstimates(Result):
    """Estimates from a judged sample: `totals` by run and measure, `differences` from a baseline.

    Each is a value with its standard error; so is `relevant`, the number of relevant documents in
    the pool. `outside` counts the first documents of a run that were not pooled.
    """

    qrels: Qrels
    baseline: str
    totals: dict[str, dict[str, Total]]
    differences: dict[str, dict[str, Total]]
    relevant: Total
    level: float
    outside: dict[str, Outside]

    @cached_property
    def drawn(self) -> int:
        """How many documents are judged."""
        return int((self.qrels.grades >= 0).sum())

    @property
    def measures(self) -> list[str]:
        """What is estimated."""
        return list(self.totals[self.baseline])

    @property
    def summary(self) -> str:
        """How many documents are relevant, by how many that were judged."""
        queries = counted(len(self.qrels.queries), "query", "queries")
        pooled = counted(len(self.qrels), "pooled document", "pooled documents")
        half = self.relevant.half(self.level)
        about = f"{self.relevant.value:,.0f}" + (f" ± {half:,.0f}" if half > 0 else "")
        judged = f"estimated from {self.drawn:,} judged"
        unsure = ", though nobody can say how surely" if math.isnan(half) else ""
        return f"{about} of {pooled} of {queries} are relevant, {judged}{unsure}"

    def report(self) -> Document:
        """Show the estimates, then the differences."""
        blocks: list[Any] = [self.table()]
        if self.differences:
            title = f"Difference from {self.baseline}"
            blocks.append(self._table(self.differences, title))
        interval = f"± is half of a {100 * self.level:g} % interval"
        why = "which is about the documents that were not drawn, and takes the queries as they are"
        said = [f"{self.summary}; {interval}, {why}", *map(self._unpooled, self.outside)]
        every = [
            one
            for found in (self.totals, self.differences)
            for run, one in found.items()
            if run not in self.outside and self.baseline not in self.outside
        ]
        if any(math.isnan(one.error) for totals in every for one in totals.values()):
            said.append("no ±: what was drawn by chance is worth nothing there, and shows no error")
        return Document(tuple(blocks), tuple(map(Text, said)))

    def _unpooled(self, run: str) -> str:
        known = self.outside[run]
        counts = "counts" if known.number == 1 else "count"
        return (
            f"{run}: {known.words} not pooled and {counts} as not relevant, so its values have no ±"
            " and may be too low"
        )

    def table(self) -> Table:
        """Return the estimates of each run."""
        return self._table(self.totals)

    def _table(self, found: dict[str, dict[str, Total]], title: str = "") -> Table:
        rows = [
            (run, *(Estimate(one.value, one.half(self.level)) for one in totals.values()))
            for run, totals in found.items()
        ]
        columns = [Column("run", TEXT), *map(Column, self.measures)]
        if title:
            columns = [Column("run", TEXT), *(Column(name, SIGNED) for name in self.measures)]
        return Table(tuple(columns), tuple(rows), title)

    def data(self) -> dict[str, Any]:
        """Return values, standard errors and intervals as plain data; unknown ones are None."""
        found: dict[str, Any] = finite({
            "level": self.level,
            "judged": self.drawn,
            "pooled": len(self.qrels),
            "queries": len(self.qrels.queries),
            "relevant": self._plain(self.relevant),
            "estimates": self._data(self.totals),
            "baseline": self.baseline,
            "differences": self._data(self.differences),
            "outside": {run: one.number for run, one in self.outside.items()},
        })  # fmt: skip
        return found

    def _data(self, found: dict[str, dict[str, Total]]) -> dict[str, Any]:
        return {
            run: {name: self._plain(one) for name, one in totals.items()}
            for run, totals in found.items()
        }

    def _plain(self, one: Total) -> dict[str, float]:
        half = one.half(self.level)
        low, high = one.value - half, one.value + half
        return {"value": one.value, "error": one.error, "low": low, "high": high}
