"""What is doubtful about judges: when a number misleads, and when a judge should not be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from idealist.judging.agreeing.system_agreement import FEW_RUNS, SystemAgreement
from idealist.judging.llm.model_families import same_family
from idealist.rendering.doubt import Doubt
from idealist.rendering.wording import counted, few, number, signed, told

if TYPE_CHECKING:
    from idealist.judging.agreeing.agreement_report import Agreement

#: Queries below which intervals over queries say little. Suggested.
FEW_QUERIES = 10
#: Orders are the same for practical purposes, or noticeably different: Voorhees 2001,
#: doi:10.1145/383952.383961. Sanderson and Soboroff 2007 show how far that depends on the systems,
#: doi:10.1145/1277741.1277902
SAME_ORDER, OTHER_ORDER = 0.9, 0.8
#: The share of a judge's pairs that another judge lacks from which on means differ for that too.
LACKING = 0.1


def doubts_of_agreement(found: Agreement) -> tuple[Doubt, ...]:
    """Find what is doubtful about an agreement."""
    doubts = [
        Doubt(one.code, one.message, one.count, severity="note", total=one.total)
        for one in found.remarks
    ]
    doubts += [
        *_copies(found),
        *_between(found),
        *_prevalence(found),
        *_few_queries(found),
        *_of_pools(found),
    ]
    for systems in found.systems.values():
        first = next(iter(systems.values()))
        doubts += [*_few_runs(first), *_families(first)]
        for one in systems.values():
            doubts += [*_inflated(one), *_weak_at_top(one)]
    return tuple(doubts)


def _copies(found: Agreement) -> Iterator[Doubt]:
    """Say where two judges hold the same judgments, as one file and its copy do."""
    for both in sorted(found.copies):
        (a, b), n = map(told, found.pairs[both].judges), found.pairs[both].n
        if not math.isnan(found.pairs[both].values["kappa"]):  # one grade for all may be by chance
            words = f"{a} and {b} hold the same judgments, all {n:,} of them"
            yield Doubt("same-judgments", words, n)


def _between(found: Agreement) -> Iterator[Doubt]:
    """Say where grades were made of several that another judge cannot give."""
    if found.thresholds:
        return
    for judge, count in zip(found.panel.judges, found.between, strict=True):
        if count:
            are = "grade of {} lies" if count == 1 else "grades of {} lie"
            yield Doubt(
                "grades-between",
                f"{count:,} {are.format(told(judge))} between those that a judge gave: kappa and "
                "AC1 take them for grades of their own; --merge majority makes none such",
                count,
            )


def _prevalence(found: Agreement) -> Iterator[Doubt]:
    """Say where kappa is low because of one common grade, and for whom it misleads most."""
    such = [one for one in found.pairs.values() if one.paradox]
    if not such:
        return
    labels = max(such, key=lambda one: one.values["ac1"] - one.values["kappa"])
    (a, b), (one, other) = map(told, labels.judges), labels.marginals
    kappa, ac1 = (number(labels.values[name], 2) for name in ("kappa", "ac1"))
    grade = labels.grades[np.minimum(one, other).argmax()]
    more = f"; so it is for {counted(len(such) - 1, 'other pair', 'other pairs')} of judges"
    yield Doubt(
        "prevalence",
        f"{a} and {b} both give grade {grade:g} to at least {np.minimum(one, other).max():.0%} of "
        f"the pairs, so chance alone would make them agree on most: kappa is {kappa}, though they "
        f"say the same of {labels.values['agree']:.0%} (AC1 {ac1}){more * (len(such) > 1)}",
        labels.n, severity="note",
    )  # fmt: skip


def _few_queries(found: Agreement) -> Iterator[Doubt]:
    """Say where judges share so few queries that intervals are rough."""
    few_of = [one for one in found.pairs.values() if one.queries < FEW_QUERIES]
    if not few_of:
        return
    least = min(few_of, key=lambda one: one.queries)
    queries = counted(least.queries, "query", "queries")
    who = f"{told(least.judges[0])} and {told(least.judges[1])} share pairs of {queries} only"
    more = f"; {counted(len(few_of) - 1, 'other pair', 'other pairs')} of judges of fewer than "
    yield Doubt(
        "few-shared-queries", f"{who}{f'{more}{FEW_QUERIES}' * (len(few_of) > 1)}", least.queries
    )


def _of_pools(found: Agreement) -> Iterator[Doubt]:
    """Say where one judge judged much that the other did not, and runs are ranked by both."""
    for i in () if found.shared_pairs else found.systems:
        (a, b), lacking = (found.panel.judges[0], found.panel.judges[i]), found.lacking[i]
        for one, other, (lacks, of) in ((a, b, lacking[0]), (b, a, lacking[1])):
            if lacks > LACKING * of:
                yield Doubt(
                    "pools-differ",
                    f"{told(other)} has not judged {lacks:,} of the {of:,} pairs that {told(one)} "
                    "judged for the same queries",
                    lacks, total=of,
                )  # fmt: skip


def _few_runs(systems: SystemAgreement) -> Iterator[Doubt]:
    n = len(systems.runs)
    if 1 < n < FEW_RUNS:
        pairs = counted(n * (n - 1) // 2, "pair", "pairs")
        yield Doubt("few-systems", f"tau of {n} systems rests on {pairs} of them", n)


def _inflated(systems: SystemAgreement) -> Iterator[Doubt]:
    low, high = systems.inflation_interval
    if not (low > 0 or high < 0):
        return
    a, b = map(told, systems.judges)
    size, word = number(abs(systems.inflation)), "higher" if low > 0 else "lower"
    ends = f"{signed(low)} to {signed(high)}"
    most = max(systems.inflations, key=lambda run: abs(systems.inflations[run]))
    largest = f", {signed(systems.inflations[most])} for {told(most)}" * (len(systems.runs) > 1)
    yield Doubt(
        "judge-inflation",
        f"mean {systems.measure} is {size} {word} by {b} than by {a} (95 % interval {ends})"
        f"{largest}: values by one and by the other cannot be compared",
    )


def _weak_at_top(systems: SystemAgreement) -> Iterator[Doubt]:
    top, whole = systems.tau_top, systems.tau
    if math.isnan(top) or top >= OTHER_ORDER or top >= whole:
        return
    yield Doubt(
        "weak-at-top",
        f"among the {systems.top} best systems by {told(systems.judges[0])}, tau of "
        f"{systems.measure} is {number(top, 2)}; of all {len(systems.runs)} it is "
        f"{number(whole, 2)}",
        systems.top, total=len(systems.runs),
    )  # fmt: skip


def _families(systems: SystemAgreement) -> Iterator[Doubt]:
    """Say where a judge and a system seem to be of the same family of models."""
    for judge in systems.judges:
        kin = [run for run in systems.runs if same_family(judge, run)]
        if kin:
            family = same_family(judge, kin[0])
            yield Doubt(
                "same-family",
                f"by their names, {few(kin)} and the judge {told(judge)} are of one family of "
                f"models ({family})",
                len(kin), total=len(systems.runs),
            )  # fmt: skip
