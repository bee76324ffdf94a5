"""What the gate says: a plain sentence for each check."""

from __future__ import annotations

import math

from idealist.gating.checks import FAIL, PASS, UNTESTED, Check
from idealist.notation import many


def sentence(check: Check) -> str:
    """Say what was found, in one plain sentence."""
    base, new = check.values.means
    seen = f"{check.name}: {base:.4f} to {new:.4f} ({check.paired.mean:+.4f})"
    return f"{seen}, {_why(check)}"


def _why(check: Check) -> str:
    size, allowed = many(check.n, "query", "queries"), f"{check.rule.max_drop:g}"
    if check.verdict == UNTESTED:
        return f"too few for a verdict with {size}."
    if check.below_floor:
        return f"which is below the floor of {check.floor:g}."
    if check.verdict == FAIL:
        return f"a real drop (p {_p(check.p_adjusted)}) of more than {allowed}."
    if check.verdict == PASS:
        return f"no drop of more than {allowed}: {_side('lower', check)}."
    if math.isnan(check.paired.se):
        return f"which says nothing with {size}."
    return f"undecided with {size}: {_open(check)}."


def _side(side: str, check: Check) -> str:
    bound = getattr(check.paired, side)(check.rule.alpha)
    word = "at least" if side == "lower" else "at most"
    return f"the true change is {word} {bound:+.4f}"


def _open(check: Check) -> str:
    """Say what keeps the gate from deciding."""
    upper = check.paired.upper(check.rule.alpha)
    if check.paired.mean >= -check.rule.max_drop:
        return f"a drop of more than {check.rule.max_drop:g} cannot be excluded"
    if upper >= 0:
        return f"a drop is likely, but chance could have done it (p {_p(check.p_drop)})"
    return f"a drop, but not one that stands among several checks (p {_p(check.p_adjusted)})"


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"
