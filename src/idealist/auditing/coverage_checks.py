"""Findings about coverage: unjudged documents and their price, uneven coverage, pool bias."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from idealist.auditing import filling
from idealist.auditing.audit_case import AuditCase, of_each_run
from idealist.auditing.chances import DEPTHS, Chances
from idealist.auditing.coverage import RunCoverage
from idealist.auditing.leave_out import POOL_HELD
from idealist.evaluating import doubt_case
from idealist.evaluating.doubt_case import DoubtCase, RunPrice
from idealist.measures.instrument import Instrument
from idealist.notation import many
from idealist.ranking.placements import Placements
from idealist.ranking.stored_placements import has_documents
from idealist.rendering.doubt import EXAMPLES, Doubt, Severity

#: Below this share judged in the first 10, values are too low by more than noise. On 269 runs of
#: TREC-COVID the condensed nDCG@10 then lies 0.02 and more above. Suggested, from that.
JUDGED_ENOUGH = 0.9
#: Below this share, no claim which run is better should be made; the gap is 0.05 and more. The
#: same runs, suggested.
JUDGED_TOO_FEW = 0.7
#: Runs whose Judged@10 differ by more are not treated alike. There, those outside of the pool have
#: a median 0.06 to 0.14 below those inside. Suggested.
UNEVEN = 0.05
#: Runs without which leaving one out says little. Suggested.
POOL_RUNS = 3
#: A run that loses more of a value without its own judgments was favoured by them. Suggested.
POOL_BIAS = 0.05

TOP, DEEP = DEPTHS
#: What the price of unjudged documents supposes, where judgments thin out with rank and where not.
AS_IN_A_POOL = "if they are about as seldom relevant as what only one team brings into a pool"
AS_MAY_BE = (
    "if unjudged documents are relevant less often than judged ones at the same rank, as is usual, "
    "or at most as often"
)
#: The options that write the pairs to judge first.
TO_JUDGE = ("--to-judge", "judge.tsv")
#: What replaces them where runs are bundles, which cannot name these documents.
FROM_RUNS = "judge the pairs that are worth most first: --to-judge of an audit of the runs has them"


@of_each_run
def unjudged(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Look for unjudged documents, and price them."""
    covered = _matched(case).get(one.run.name) if case.qrels.gold == "pooled" else None
    if covered is None or not (covered.unjudged[TOP] or covered.unjudged[DEEP]):
        return
    depth = TOP if covered.unjudged[TOP] else DEEP
    severity, reading = _reading(case, covered.judged[TOP])
    price, supposing = _price(case, one)
    pairs = (pair for pair in case.coverage.pairs if one.run.name in pair.runs)
    files = case.files() if has_documents(one.run) else []
    yield Doubt(
        "holes",
        f"{covered.unjudged[depth]} of {covered.looked[depth]} documents in the first {depth} are "
        f"unjudged, Judged@{TOP} is {covered.judged[TOP]:.4f} and Judged@{DEEP} "
        f"{covered.judged[DEEP]:.4f}{reading}",
        covered.unjudged[depth], price=price, supposing=supposing,
        severity=severity, total=covered.looked[depth],
        examples=tuple(
            f"query {pair.query}, document {pair.document}" for pair in islice(pairs, EXAMPLES)
        ),
        remedy="" if has_documents(one.run) else FROM_RUNS,
        command=doubt_case.shell(case.evaluator, "audit", files, *TO_JUDGE) if files else "",
    )  # fmt: skip


def _matched(case: AuditCase) -> dict[str, RunCoverage]:
    """Keep the runs whose ids match; of the others, nobody can tell what is judged."""
    return {name: one for name, one in case.coverage.runs.items() if name not in case.mismatched}


def _reading(case: AuditCase, judged: float) -> tuple[Severity, str]:
    """Say how bad it is that so much is judged."""
    if judged >= JUDGED_ENOUGH:
        return "note", ""
    several = len(case.runs) > 1 and judged < JUDGED_TOO_FEW
    return "warning", "; too few to say which run is better" if several else ""


def _price(case: AuditCase, one: DoubtCase) -> tuple[RunPrice, str]:
    """Price the unjudged documents of a run, and say what that supposes."""
    sharing: dict[Placements, dict[str, Instrument]] = {}
    for label, own in case.evaluator.instruments.items():
        if own.measure.judges and not own.measure.needs and own.protocol.unjudged != "drop":
            sharing.setdefault(one.placed[label], {})[label] = own
    ranges: dict[str, tuple[float, float]] = {}
    for placements, instruments in sharing.items():
        chances = Chances(placements, case.coverage.odds)
        ranges |= filling.filled(instruments, chances, DEEP) if chances.usable else {}
    return one.price(ranges), AS_IN_A_POOL if Chances(one.whole).thins else AS_MAY_BE


def uneven(case: AuditCase) -> Iterator[Doubt]:
    """Look for runs that are judged less than those they are compared with."""
    shares = {name: one.judged[TOP] for name, one in _matched(case).items()}
    ranked = sorted(shares, key=shares.__getitem__)
    if (
        case.qrels.gold != "pooled"
        or len(ranked) < 2
        or shares[ranked[-1]] - shares[ranked[0]] <= UNEVEN
    ):
        return
    behind = [name for name in ranked if shares[ranked[-1]] - shares[name] > UNEVEN]
    files = case.files(ranked) or [case.qrels.name, ""]
    yield Doubt(
        "uneven-coverage",
        f"{many(len(behind), 'run is', 'runs are')} judged less than the others: Judged@{TOP} is "
        f"{shares[ranked[0]]:.4f} for {ranked[0]} and {shares[ranked[-1]]:.4f} for {ranked[-1]}",
        len(behind), total=len(ranked),
        examples=tuple(f"{name}: {shares[name]:.4f}" for name in ranked[:EXAMPLES]),
        price=case.for_each_run(lambda one: one.reranked(unjudged="drop")),
        supposing="with unjudged documents taken out",
        command=doubt_case.evaluate_again(
            case.evaluator, *files, unjudged="drop", **case.leniency(ranked)
        ),
    )  # fmt: skip


def pool(case: AuditCase) -> Iterator[Doubt]:
    """Guess which runs contributed to the pool, and say what that is worth to them."""
    found, runs = case.coverage, _matched(case)
    inside = [run for run in found.contributed if run in found.left_out and run in runs]
    if case.qrels.gold != "pooled" or len(runs) < POOL_RUNS or not inside:
        return
    most = max(inside, key=lambda run: found.left_out[run].loss)
    loss, outside = found.left_out[most].loss, len(runs) - len(inside)
    biased = outside and loss > POOL_BIAS and found.held >= POOL_HELD
    prices = {run: found.left_out[run].price for run in inside}
    yield Doubt(
        "pool-bias",
        f"{many(len(inside), 'run seems', 'runs seem')} to have contributed to the pool, being "
        f"judged down to rank {found.depth}, and {outside} not; "
        f"without the judgments that it alone brought, {most} loses up to {loss:.1%} of a value",
        len(inside), severity="warning" if biased else "note", total=len(runs),
        examples=tuple(f"{run}: judged to rank {found.depths[run]}" for run in inside[:EXAMPLES]),
        price={run: price for run, price in prices.items() if price},
        supposing="without the judgments that the run alone brought",
        remedy="expect runs that did not contribute to be undervalued by at most as much; the "
        f"runs here hold {found.held:.0%} of all judgments, and what others brought as well would "
        "not be lost",
    )  # fmt: skip


#: In the order in which findings of the same severity are listed.
CHECKS = (unjudged, uneven, pool)
