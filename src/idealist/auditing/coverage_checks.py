"""Findings about coverage: holes and their price, runs judged less, whom the pool favours."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from idealist.auditing import filling
from idealist.auditing.audit_case import Case
from idealist.auditing.coverage import LeftOut, RunCoverage
from idealist.auditing.filling import Chances
from idealist.auditing.finding import Finding, Severity, price
from idealist.auditing.pricing import all_runs, otherwise
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
from idealist.measures.instrument import Instrument
from idealist.notation import many
from idealist.ranking.placements import Placements

TOP, DEEP = DEPTHS
#: The options that write the pairs to judge first.
TO_JUDGE = ("--to-judge", "judge.tsv")


def holes(case: Case) -> Iterator[Finding]:
    """Look for unjudged documents, and price them."""
    for name, one in _met(case).items():
        depth = TOP if one.holes[TOP] else DEEP
        if not one.holes[depth]:
            continue
        severity, reading = _reading(case, one.judged[TOP])
        cost, supposing = _price(case, name)
        yield Finding(
            "holes", severity,
            f"{one.holes[depth]} of {one.looked[depth]} documents in the first {depth} are "
            f"unjudged, Judged@{TOP} is {one.judged[TOP]:.4f} and Judged@{DEEP} "
            f"{one.judged[DEEP]:.4f}{reading}",
            run=name, count=one.holes[depth], total=one.looked[depth],
            examples=tuple(_pairs(case, name)),
            cost={name: cost} if cost else {},
            supposing=supposing,
            remedy="judge the pairs of most worth first",
            command=case.command("audit", name, *TO_JUDGE, files=_files(case, [*case.audited])),
            doc="unjudged documents count as not relevant: of 269 TREC-COVID runs, those with "
            "Judged@10 from 0.9 to 0.98 had nDCG@10 too low by 0.013 to 0.021, those below 0.5 "
            "by 0.18 and more",
        )  # fmt: skip


def _met(case: Case) -> dict[str, RunCoverage]:
    """Give the runs whose ids match; of the others, nobody can tell what is judged."""
    return {name: one for name, one in case.coverage.runs.items() if name not in case.mismatched}


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
    """Price the holes of a run, and say what is supposed for that."""
    audited, now = case.audited[run], case.audited[run].evaluation.aggregates
    sharing: dict[Placements, dict[str, Instrument]] = {}
    for label, one in case.evaluator.instruments.items():
        if one.measure.judges and not one.measure.needs and one.protocol.unjudged != "drop":
            sharing.setdefault(audited.placed[label], {})[label] = one
    then: dict[str, float] = {}
    for placements, instruments in sharing.items():
        chances = Chances(placements)
        then |= filling.price(instruments, chances, DEEP) if chances.usable else {}
    supposing = "holes are as often relevant as what is judged there, at most"
    if not then and (case.qrels.grades <= 0).any():
        gap = filling.calibrated(case.coverage.runs[run].judged[TOP])
        then = {label: min(1.0, now[label] + gap) for label in now if _is_ndcg10(case, label)}
        supposing = "it is as with 269 TREC-COVID runs; here, too few are judged to tell"
    return price(now, then), supposing


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
        cost=all_runs(case, lambda run: otherwise(case, run, unjudged="drop")),
        supposing="unjudged documents are taken out",
        remedy="judge the first documents of these runs too; until then compare the runs by what "
        "is judged of them",
        command=case.command("eval", ranked[0], files=_files(case, ranked), unjudged="drop"),
        doc="unjudged documents count as not relevant, so that the run judged less is held to be "
        "worse than it is",
    )  # fmt: skip


def _files(case: Case, runs: list[str]) -> list[str]:
    if not case.is_filed(*runs):
        return []
    return [case.qrels.name, *(case.audited[run].run.source.name for run in runs)]


def pool(case: Case) -> Iterator[Finding]:
    """Guess which runs contributed to the pool, and say what that is worth to them."""
    found, runs = case.coverage, _met(case)
    inside = [run for run in found.contributed if run in found.left_out and run in runs]
    if len(runs) < POOL_RUNS or not inside:
        return
    most = max(inside, key=lambda run: found.left_out[run].loss)
    loss, outside = found.left_out[most].loss, len(runs) - len(inside)
    biased = outside and loss > POOL_BIAS and found.held >= POOL_HELD
    costs = {run: price(*_apart(found.left_out[run])) for run in inside}
    yield Finding(
        "pool-bias", "warning" if biased else "note",
        f"{many(len(inside), 'run seems', 'runs seem')} to have contributed to the pool, being "
        f"judged down to rank {min(found.depths[run] for run in inside)}, and {outside} not; "
        f"without the judgments that it alone brought, {most} loses up to {loss:.1%} of a value",
        count=len(inside), total=len(runs),
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
