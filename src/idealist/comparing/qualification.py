"""What a verdict must say of itself: the strongest doubt that could undo it, as one clause."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from idealist.rendering.wording import number, p_words, signed

if TYPE_CHECKING:
    from idealist.comparing.pair import Pair

#: Where the loser's share of judged documents is smaller by this, the judgments may be why it
#: lost. Suggested: of 160 significant differences of nDCG@10 between runs of TREC-COVID, 48 are so,
#: and could be undone by judging more.
FAR_FEWER = 0.2


def qualified(pair: Pair) -> str:
    """Say what could undo a significant difference: one clause, or nothing."""
    return next(filter(None, (check(pair) for check in CHECKS)), "")


def judged_less(pair: Pair) -> str:
    """Doubt a loser of which far fewer documents are judged, if judging more could undo it."""
    found = pair.unjudged
    if found is None or found.kind == "none" or pair.sense < 1:
        return ""
    sides = ((pair.baseline, found.judged[0]), (pair.run, found.judged[1]))
    (winner, more), (loser, less) = sides if found.value < 0 else sides[::-1]
    could = _could(pair)
    if not could or more - less < FAR_FEWER:
        return ""
    shares = f"{_share(less)} of {loser}'s documents {found.among} are unjudged"
    return f"but {shares}, against {_share(more)} of {winner}'s: judging them could make {could}"


def reversible(pair: Pair) -> str:
    """Say that judging more could reverse a difference, where some judgments are known to do so."""
    found = pair.unjudged
    if found is None or not found.overturns:
        return ""
    count = "" if found.together is None else f"{found.together} "
    ends = f"{signed(found.low)} to {signed(found.high)}"
    return f"but judging the {count}unjudged documents {found.among} could reverse it ({ends})"


def _share(judged: float) -> str:
    return f"{100 * (1 - judged):.0f} %"


def _could(pair: Pair) -> str:
    """Say what judging more could make of the difference, if that undoes it."""
    found = pair.unjudged
    if found.overturns:
        low, high = found.found
        far = f"up to {signed(high)}" if found.value < 0 else f"down to {signed(low)}"
        return f"the difference anything {far}"
    return f"p as high as {number(found.p.high)} (t-test, two-sided)" if found.undoes else ""


def _tests_disagree(pair: Pair) -> str:
    disagree = any(doubt.code == "tests-disagree" for doubt in pair.doubts)
    return f"but the t-test disagrees ({p_words(pair.p_t)})" if disagree else ""


def _carried_by_few(pair: Pair) -> str:
    few = any(doubt.code == "carried-by-few" for doubt in pair.doubts)
    rest = f"{signed(pair.without_top3)} ({p_words(pair.p_without_top3)})"
    return f"but three queries carry it: without them it is {rest}" if few else ""


#: The strongest first.
CHECKS: tuple[Callable[[Pair], str], ...] = (judged_less, _tests_disagree, _carried_by_few)
