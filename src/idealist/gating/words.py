"""What the gate says: a plain sentence for each check."""

from __future__ import annotations

import math

from idealist.gating.checks import FAIL, PASS, UNTESTED, Check, same_signs
from idealist.notation import many
from idealist.summary import p_words


def sentence(check: Check) -> str:
    """Say what was found, in one plain sentence."""
    if check.unmet:
        return f"{check.name}: {check.unmet}."
    base, new = check.values.means
    seen = f"{check.name}: {base:.4f} to {new:.4f} ({check.paired.mean:+.4f})"
    if not check.below_floor:
        return f"{seen}, {_why(check)}."
    return f"{seen}, below the floor of {check.floor:g}; {_why(check)}."


def look(check: Check) -> str:
    """Name the queries that lost most; nothing where none lost."""
    lost = [f"{query} ({after - before:+.4f})" for query, before, after in check.lost]
    return f"look at the queries of {check.name}: {', '.join(lost)}" if lost else ""


def _why(check: Check) -> str:
    size, allowed = many(check.n, "query", "queries"), f"{check.rule.max_drop:g}"
    if check.verdict == UNTESTED:
        return f"too few for a verdict, or to be held to a floor, with {size}"
    if check.ruled == FAIL:
        return f"a real drop ({p_words(check.p_adjusted)}) of more than {allowed}"
    if check.ruled == PASS:
        return _passing(check, allowed)
    if math.isnan(check.paired.se):
        return f"which says nothing with {size}"
    return f"undecided with {size}: {_open(check, allowed)}"


def _passing(check: Check, allowed: str) -> str:
    if not check.values.differences.any():
        return "the same in every query"
    if check.paired.constant:
        return f"no drop of more than {allowed}: all {check.n} queries change by the same"
    least = check.paired.lower(check.rule.alpha)
    return f"no drop of more than {allowed}: the true change is at least {least:+.4f}"


def _open(check: Check, allowed: str) -> str:
    """Say what keeps the gate from deciding, and what would decide."""
    found, alpha = check.paired, check.rule.alpha
    if found.constant and same_signs(check.n) > alpha:
        chance = p_words(same_signs(check.n))
        return f"all change by the same, which so few can do by chance ({chance} by sign flips)"
    if found.mean >= -check.rule.max_drop:
        worst = f"up to {-found.lower(alpha):.4f}, and {allowed} may be lost"
        if check.p_adjusted <= alpha:
            start = f"a real drop ({p_words(check.p_adjusted)}), but it may be {worst}"
        else:
            start = f"a drop cannot be excluded, of {worst}"
        return start + _decided(check, found.mean + check.rule.max_drop)
    if check.p_drop > alpha:
        chance = f"a drop was seen, but chance could have done it ({p_words(check.p_drop)})"
        return chance + _decided(check, -found.mean)
    return f"a drop, but not one that stands among several checks ({p_words(check.p_adjusted)})"


def _decided(check: Check, room: float) -> str:
    """Say how many queries would decide, were the mean and the spread to stay as they are.

    Formula: n (reach / room)², as a bound comes nearer to the mean by √n.
    """
    reach = check.paired.mean - check.paired.lower(check.rule.alpha)
    if not room > reach / 30:  # nobody judges a thousand times as many
        return ""
    wanted = math.ceil(check.n * (reach / room) ** 2)
    return f"; about {max(wanted, check.n + 1):,} such queries would decide"
