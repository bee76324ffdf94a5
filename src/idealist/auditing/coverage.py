"""Coverage: what is judged of the runs, what holes cost, and whom the pool favours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from idealist.auditing import filling
from idealist.auditing.filling import Chances
from idealist.auditing.finding import Finding, Severity, price
from idealist.auditing.judged import RunCoverage, coverage_of
from idealist.auditing.pooling import LeftOut, contributed, leave_out, pool_depth, share_held
from idealist.auditing.thresholds import (
    DEPTHS,
    EXAMPLES,
    JUDGED_ENOUGH,
    JUDGED_TOO_FEW,
    POOL_BIAS,
    POOL_HELD,
    POOL_RUNS,
    UNEVEN,
)
from idealist.auditing.wanted import Wanted, pairs_to_judge
from idealist.draw import Grid
from idealist.instrument import Instrument
from idealist.notation import many, tidy
from idealist.placements import Placements
from idealist.tables import Qrels

if TYPE_CHECKING:
    from idealist.auditing.case import Audited, Case

TOP, DEEP = DEPTHS


@dataclass(frozen=True, eq=False, repr=False)
class Coverage:
    """What is judged of all runs.

    `grades` counts the judgments of each grade; `runs` has the shares judged, `pairs` the pairs to
    judge first. `depths` says down to which rank each run is wholly judged, `left_out` what each
    would lose without its own judgments, and `held` which share of all judgments the runs that seem
    to have contributed hold within the pool.
    """

    queries: tuple[str, ...]
    grades: Mapping[float, int]
    runs: Mapping[str, RunCoverage]
    depths: Mapping[str, int]
    left_out: Mapping[str, LeftOut]
    held: float
    pairs: tuple[Wanted, ...]

    def __repr__(self) -> str:
        return f"<Coverage of {many(len(self.runs), 'run', 'runs')}>"

    @property
    def contributed(self) -> tuple[str, ...]:
        """The runs that seem to have contributed to the pool."""
        return tuple(run for run, depth in self.depths.items() if contributed(depth))

    def to_judge(self) -> Grid:
        """Tabulate the pairs to judge first."""
        rows = [
            [one.query, one.document, " ".join(one.runs), str(one.rank), f"{one.worth:.4f}"]
            for one in self.pairs
        ]
        return Grid(["query", "document", "runs", "rank", "worth"], rows, words=3)

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "queries": list(self.queries),
            "grades": {str(grade): count for grade, count in self.grades.items()},
            "runs": [one.to_json() for one in self.runs.values()],
            "pool": {
                run: {"depth": depth, "contributed": contributed(depth)}
                for run, depth in self.depths.items()
            },
            "held": self.held,
            "left_out": {run: one.to_json() for run, one in self.left_out.items()},
            "pairs": [one.to_json() for one in self.pairs],
        }


def cover(
    qrels: Qrels, instruments: Mapping[str, Instrument], audited: Mapping[str, Audited],
    teams: Mapping[str, str],
) -> Coverage:  # fmt: skip
    """Look at what is judged of all runs."""
    whole = {name: one.whole for name, one in audited.items()}
    depths = {name: pool_depth(one) for name, one in whole.items()}
    inside = [name for name, depth in depths.items() if contributed(depth)]
    depth = min((depths[name] for name in inside), default=DEEP)
    placed = {name: one.placed for name, one in audited.items()}
    several = len({teams.get(name, name) for name in audited}) > 1
    return Coverage(
        qrels.queries,
        Counter(map(tidy, sorted(qrels.grades.tolist()))),
        {name: coverage_of(name, one) for name, one in whole.items()},
        depths,
        leave_out(instruments, placed, teams, depth) if several else {},
        share_held([whole[name] for name in inside], depth),
        pairs_to_judge(
            {name: one.run for name, one in audited.items()},
            {name: Chances(one) for name, one in whole.items()},
        ),
    )


def holes(case: Case) -> Iterator[Finding]:
    """Look for unjudged documents, and price them."""
    for name, one in _met(case).items():
        depth = TOP if one.holes[TOP] else DEEP
        if not one.holes[depth]:
            continue
        severity, reading = _reading(case, one.judged[TOP])
        cost, how = _price(case, name)
        yield Finding(
            "holes", severity,
            f"{one.holes[depth]} of {one.looked[depth]} documents in the first {depth} are "
            f"unjudged, Judged@{TOP} is {one.judged[TOP]:.4f} and Judged@{DEEP} "
            f"{one.judged[DEEP]:.4f}{reading}",
            run=name, count=one.holes[depth], total=one.looked[depth],
            examples=tuple(_pairs(case, name)),
            cost={name: cost} if cost else {},
            remedy=f"judge the pairs of most worth first{how}",
            command=case.command("explain", name, "--bounds"),
            doc="unjudged documents count as not relevant: of 269 TREC-COVID runs, those with "
            "Judged@10 from 0.9 to 0.98 had nDCG@10 too low by 0.013 to 0.021, those below 0.5 "
            "by 0.18 and more",
        )  # fmt: skip


def _met(case: Case) -> dict[str, RunCoverage]:
    """Give the runs with a judged document; where none meets, the ids are wrong, not the judges."""
    runs = case.coverage.runs.items()
    return {name: one for name, one in runs if len(case.audited[name].whole.rank)}


def _reading(case: Case, judged: float) -> tuple[Severity, str]:
    """Say how bad it is that so much is judged."""
    if not (case.qrels.grades <= 0).any():
        return "note", "; only relevant documents were written down, so that this says little"
    if judged >= JUDGED_ENOUGH:
        return "note", ""
    several = len(case.audited) > 1 and judged < JUDGED_TOO_FEW
    return "warning", "; too few to say which run is better" if several else ""


def _pairs(case: Case, run: str) -> Iterator[str]:
    """Give the pairs of a run to judge first."""
    pairs = (one for one in case.coverage.pairs if run in one.runs)
    return (f"query {one.query}, document {one.document}" for one in islice(pairs, EXAMPLES))


def _price(case: Case, run: str) -> tuple[dict[str, tuple[float, float]], str]:
    """Price the holes of a run, and say how."""
    audited, now = case.audited[run], case.audited[run].evaluation.aggregates
    sharing: dict[Placements, dict[str, Instrument]] = {}
    for label, one in case.evaluator.instruments.items():
        if one.measure.judges and not one.measure.needs and one.protocol.unjudged != "drop":
            sharing.setdefault(audited.placed[label], {})[label] = one
    then: dict[str, float] = {}
    for placements, instruments in sharing.items():
        chances = Chances(placements)
        then |= filling.price(instruments, chances, DEEP) if chances.usable else {}
    how = "; the cost is as if holes were as often relevant as what is judged there, at most"
    if not then and (case.qrels.grades <= 0).any():
        gap = filling.calibrated(case.coverage.runs[run].judged[TOP])
        then = {label: min(1.0, now[label] + gap) for label in now if _is_ndcg10(case, label)}
        how = "; too few are judged to price that, and the cost is that of 269 TREC-COVID runs"
    cost = price(now, then)
    return cost, how if cost else ""


def _is_ndcg10(case: Case, label: str) -> bool:
    """Whether it is the measure whose loss was counted on real runs."""
    measure = case.evaluator.instruments[label].measure
    return measure.name == "nDCG" and measure.cutoff == TOP


def uneven(case: Case) -> Iterator[Finding]:
    """Look for runs that are judged less than those they are compared with."""
    shares = {name: one.judged[TOP] for name, one in _met(case).items()}
    ranked = sorted(shares, key=shares.__getitem__)
    if len(ranked) < 2 or shares[ranked[-1]] - shares[ranked[0]] <= UNEVEN:
        return
    behind = [name for name in ranked if shares[ranked[-1]] - shares[name] > UNEVEN]
    yield Finding(
        "uneven-coverage", "warning",
        f"{many(len(behind), 'run is', 'runs are')} judged less than the others: Judged@{TOP} is "
        f"{shares[ranked[0]]:.4f} for {ranked[0]} and {shares[ranked[-1]]:.4f} for {ranked[-1]}",
        count=len(behind), total=len(ranked),
        examples=tuple(f"{name}: {shares[name]:.4f}" for name in ranked[:EXAMPLES]),
        remedy="judge the first documents of these runs too, or compare the bounds of the runs",
        doc="unjudged documents count as not relevant, so that the run judged less is held to be "
        "worse than it is",
    )  # fmt: skip


def pool(case: Case) -> Iterator[Finding]:
    """Guess which runs contributed to the pool, and say what that is worth to them."""
    found = case.coverage
    inside = [run for run in found.contributed if run in found.left_out]
    if len(found.depths) < POOL_RUNS or not inside:
        return
    most = max(inside, key=lambda run: found.left_out[run].loss)
    loss, outside = found.left_out[most].loss, len(found.depths) - len(inside)
    biased = outside and loss > POOL_BIAS and found.held >= POOL_HELD
    costs = {run: price(*_apart(found.left_out[run])) for run in inside}
    yield Finding(
        "pool-bias", "warning" if biased else "note",
        f"{many(len(inside), 'run seems', 'runs seem')} to have contributed to the pool, being "
        f"judged down to rank {min(found.depths[run] for run in inside)}, and {outside} not; "
        f"without the judgments that it alone brought, {most} loses up to {loss:.1%} of a value",
        count=len(inside), total=len(found.depths),
        examples=tuple(f"{run}: judged to rank {found.depths[run]}" for run in inside[:EXAMPLES]),
        cost={run: cost for run, cost in costs.items() if cost},
        remedy="expect runs that did not contribute to be undervalued by as much at most; the "
        f"runs here hold {found.held:.0%} of all judgments, and what others brought as well would "
        "not be lost",
        doc="a pool holds what its own runs found: leave one of them out and see what it loses "
        "(Zobel 1998)",
    )  # fmt: skip


def _apart(left_out: LeftOut) -> tuple[dict[str, float], dict[str, float]]:
    now = {label: pair[0] for label, pair in left_out.values.items()}
    return now, {label: pair[1] for label, pair in left_out.values.items()}
