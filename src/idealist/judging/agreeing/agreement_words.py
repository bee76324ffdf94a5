"""The answer of an agreement of judges, in words that say no more than the numbers carry."""

from __future__ import annotations

import math
from collections.abc import Collection

from idealist.judging.agreeing.agreement_doubts import FEW_QUERIES, OTHER_ORDER, SAME_ORDER
from idealist.judging.agreeing.label_agreement import LabelAgreement, PanelAgreement, strength
from idealist.judging.agreeing.system_agreement import FEW_RUNS, SystemAgreement
from idealist.rendering.wording import counted, number, told
from idealist.significance.means import FEWEST

#: How much lower kappa with quadratic weights must be to be told beside the plain one. Suggested.
OTHER_STORY = 0.1


def _ends(ends: tuple[float, float]) -> str:
    return "" if math.isnan(ends[0]) else f" [{number(ends[0], 2)}, {number(ends[1], 2)}]"


def label_words(labels: LabelAgreement, copies: bool = False) -> str:
    """Say how far two judges agree on labels, or that their judgments are the same."""
    a, b = map(told, labels.judges)
    pairs = f"{counted(labels.n, 'pair', 'pairs')} of {counted(labels.queries, 'query', 'queries')}"
    kappa = labels.values["kappa"]
    if math.isnan(kappa):
        grade = labels.grades[labels.confusion.sum(axis=0).argmax()]
        return f"{a} and {b} gave grade {grade:g} to all {pairs}, so kappa says nothing"
    if copies:
        return f"{a} and {b} hold the same judgments, of {pairs}"
    how, low = strength(kappa), labels.intervals["kappa"][0]
    other = _weighted_words(labels)
    if math.isnan(low) or labels.queries < FEWEST:
        few = "too few to say how far they agree, or too much alike"
        return f"{a} and {b} have kappa {number(kappa, 2)} on labels of {pairs}: {few}{other}"
    alike = f"{how} on labels" if kappa > 0 else f"on labels {how}"
    alike += ", if at all" if low <= 0 < kappa else ""
    value = f"kappa {number(kappa, 2)}{_ends(labels.intervals['kappa'])}"
    return f"{a} and {b} agree {alike} ({value}, {pairs}){other}"


def _weighted_words(labels: LabelAgreement) -> str:
    """Say where large differences of grades are so many that the weighted kappa is much lower."""
    weighted = labels.values["kappa_quadratic"]
    if not weighted < labels.values["kappa"] - OTHER_STORY:
        return ""
    value = f"kappa with quadratic weights {number(weighted, 2)}"
    return f"; where they differ, it is often by more than a grade ({value})"


def panel_words(own: PanelAgreement, pairs: Collection[LabelAgreement]) -> str:
    """Say how far all judges agree, and which two agree least and most."""
    judges = len(own.panel.judges)
    alpha = f"alpha {number(own.values['alpha_ordinal'], 2)}{_ends(own.intervals['alpha_ordinal'])}"
    enough = (one for one in pairs if one.queries >= FEW_QUERIES)
    known = [one for one in enough if not math.isnan(one.values["kappa"])]
    shared = counted(len(own.panel.level), "pair", "pairs")
    said = f"{judges} judges share {shared}: {alpha}"
    if len(known) < 2:
        return said
    least, most = (pick(known, key=lambda one: one.values["kappa"]) for pick in (min, max))
    words = [f"{' and '.join(map(told, one.judges))} ({number(one.values['kappa'], 2)})"
             for one in (least, most)]  # fmt: skip
    return f"{said}; kappa of two is lowest for {words[0]} and highest for {words[1]}"


def system_words(systems: SystemAgreement, several: bool) -> str:
    """Say how alike they rank systems, which verdicts stay, and whose means are higher."""
    a, b = map(told, systems.judges)
    n, measure, tau = len(systems.runs), systems.measure, number(systems.tau, 2)
    who = f"{a} and {b}" if several else "They"
    said = []
    if n >= FEW_RUNS:
        alike = _order_words(systems.tau)
        said.append(f"{who} rank the {n} systems {alike} by {measure} (tau {tau})")
    elif n == 2:
        said.append(_first_words(systems))
    elif n > 2:
        said.append(
            f"{who} rank the {n} systems with tau {tau} by {measure}, which says little of so few"
        )
    said += [_verdict_words(systems)] if n > 1 else []
    low, high = systems.inflation_interval
    size = number(abs(systems.inflation), 2)
    if low > 0 or high < 0:
        said.append(f"{b}'s mean {measure} is {size} {'higher' if low > 0 else 'lower'}")
    return "; ".join(said) or f"{who} do not differ clearly in mean {measure}"


def _first_words(systems: SystemAgreement) -> str:
    (first, second), (a, b) = systems.winners, map(told, systems.judges)
    if first == second:
        return f"By {systems.measure} both put {' and '.join(map(told, first))} first"
    return (
        f"By {systems.measure}, {a} puts {' and '.join(map(told, first))} first, and {b} "
        f"{' and '.join(map(told, second))}"
    )


def _order_words(tau: float) -> str:
    if math.isnan(tau):
        return "without any order"
    ways = ((SAME_ORDER, "nearly alike"), (OTHER_ORDER, "much alike"), (0.5, "partly alike"))
    return next((words for least, words in ways if tau >= least), "differently")


def _verdict_words(systems: SystemAgreement) -> str:
    a, b = map(told, systems.judges)
    (found, own), gained = systems.significant, systems.count("gained")
    kept = found - systems.count("lost", "reversed")
    if not found:
        more = f", {b} {own}" if own else f", nor does {b}"
        return f"{a} finds no significant difference between systems{more}"
    turned = systems.count("reversed")
    if found == 1:
        does = "confirms" if kept else "reverses" if turned else "does not confirm"
        return f"{b} {does} the one significant difference by {a}"
    differences = counted(found, "significant difference", "significant differences")
    said = f"of {differences} by {a}, {b} confirms {kept}"
    said += f" and reverses {turned}" if turned else ""
    return f"{said}, and finds {counted(gained, 'other', 'others')}" if gained else said
