"""What the gate says: a plain sentence for each check."""

from __future__ import annotations

import math

from idealist.gating.checks import FAIL, PASS, UNTESTED, Check, same_signs
from idealist.notation import many
from idealist.summary import p_words


def sentence(check: Check) -> str:
    """Say what was found, in one plain sentence."""
    base, new = check.values.means
    seen = f"{check.name}: {base:.4f} to {new:.4f} ({check.paired.mean:+.4f})"
    return f"{seen}, {_why(check)}"


def _why(check: Check) -> str:
    size, allowed = many(check.n, "query", "queries"), f"{check.rule.max_drop:g}"
    if check.verdict == UNTESTED:
        floor = "; it is below the floor, which so few are not held to"
        return f"too few for a verdict with {size}{floor if check.below_floor else ''}."
    if check.below_floor:
        return f"which is below the floor of {check.floor:g}."
    if check.verdict == FAIL:
        return f"a real drop ({p_words(check.p_adjusted)}) of more than {allowed}."
    if check.verdict == PASS:
        return f"no drop of more than {allowed}: {_least(check)}."
    if math.isnan(check.paired.se):
        return f"which says nothing with {size}."
    return f"undecided with {size}: {_open(check)}."


def _least(check: Check) -> str:
    if check.paired.constant:
        return f"all {check.n} queries change by the same"
    return f"the true change is at least {check.paired.lower(check.rule.alpha):+.4f}"


def _open(check: Check) -> str:
    """Say what keeps the gate from deciding."""
    alpha = check.rule.alpha
    if check.paired.constant and same_signs(check.n) > alpha:
        chance = p_words(same_signs(check.n))
        return f"all change by the same, which so few can do by chance ({chance} by sign flips)"
    if check.paired.mean >= -check.rule.max_drop:
        return f"a drop of more than {check.rule.max_drop:g} cannot be excluded"
    if check.p_drop > alpha:
        return f"a drop was seen, but chance could have done it ({p_words(check.p_drop)})"
    return f"a drop, but not one that stands among several checks ({p_words(check.p_adjusted)})"
