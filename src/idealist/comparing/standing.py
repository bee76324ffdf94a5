"""Where many runs stand: who is better, who is worse, and who is not told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from idealist.comparing.compare_options import CORRECTIONS
from idealist.comparing.words import shown, signed
from idealist.evaluating.doubt_case import few
from idealist.significance.families import holm

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison
    from idealist.comparing.pair import Pair


#: The ways a pair can end, best first.
WAYS = ("better", "not told apart", "worse", "not measured")

#: How many verdicts of all pairs are written out unasked.
SHOWN = 10


def way(pair: Pair) -> str:
    """Say how a pair ended."""
    if pair.unmeasured:
        return "not measured"
    if not pair.significant:
        return "not told apart"
    return "better" if pair.better else "worse"


def best_first(pairs: Sequence[Pair]) -> list[Pair]:
    """Order pairs by how they ended, and by the size of the difference."""
    return sorted(
        pairs, key=lambda pair: (WAYS.index(way(pair)), -pair.difference * (pair.sense or 1))
    )


def standing(comparison: Comparison) -> list[str]:
    """Say for each measure where the runs stand, and what was too small to be found."""
    lines = list(dict.fromkeys(p.verdict for p in comparison.pairs if p.unmeasured))
    for label in comparison.measures:
        pairs = best_first(comparison[label])
        if not pairs[0].n or all(pair.unmeasured for pair in pairs):
            continue
        where = _all_pairs(pairs) if comparison.options.all_pairs else _baseline(pairs)
        said = label == comparison.primary and written_out(pairs)
        lines.append(" ".join([where, *([] if said else _not_found(pairs))]))
    return lines


def _not_found(pairs: Sequence[Pair]) -> list[str]:
    """Say how large a difference has to be; Tukey's test has one limit for all pairs."""
    small = [pair for pair in pairs if not math.isnan(pair.detectable)]
    if not small:
        return []
    if small[0].options.correction != "tukey":
        return [f"{shown(small).replace('with', 'With', 1)}."]
    most = max(abs(pair.difference) for pair in small)
    return [f"With {small[0].n} queries, differences up to {most:.4f} are not told from chance."]


def written_out(pairs: Sequence[Pair]) -> bool:
    """Whether each pair has its verdict written out unasked; all pairs may be too many."""
    return not pairs[0].options.all_pairs or len(pairs) <= SHOWN


def _baseline(pairs: Sequence[Pair]) -> str:
    """Name the runs that are better than the baseline, that are worse, and the others."""
    words = ("better", "worse") if pairs[0].sense else ("higher", "lower")
    ends = {one: [pair for pair in pairs if way(pair) == one] for one in WAYS}
    won, count = ends["better"], len(pairs)
    some = f"{len(won)} of {count} runs {'is' if len(won) == 1 else 'are'}"
    start = some if won else f"None of {count} runs is"
    parts = [f"{start} {words[0]} than {pairs[0].baseline} on {pairs[0].measure}{_named(won)}"]
    for one, word in (("worse", words[1]), ("not told apart", ""), ("not measured", "")):
        if found := ends[one]:
            verb = "is" if len(found) == 1 else "are"
            parts.append(f"{len(found)} {verb} {word or one}{_named(found)}")
    return f"{'; '.join(parts)}."


def _named(pairs: Sequence[Pair]) -> str:
    names = (p.run if p.unmeasured else f"{p.run} {signed(p.difference)}" for p in pairs)
    return f": {', '.join(names)}" if pairs else ""


def _all_pairs(pairs: Sequence[Pair]) -> str:
    """Count the pairs that differ, and say what the best run beats."""
    options, found = pairs[0].options, sum(pair.significant for pair in pairs)
    parts = [f"{found} of {len(pairs)} pairs differ significantly on {pairs[0].measure}"]
    if options.correction == "tukey":
        raw = [pair.p_randomisation for pair in pairs if not math.isnan(pair.p_randomisation)]
        others = int((holm(raw) < options.alpha).sum())
        parts[0] += f" by {CORRECTIONS['tukey']}"
        if others != found:
            parts.append(f"{CORRECTIONS['holm']} finds {others}")
    return f"{'; '.join(parts)}. {_top(pairs)}."


def _top(pairs: Sequence[Pair]) -> str:
    """Say what the run with the best mean is better than, and what it is not told apart from."""
    sign = -1 if pairs[0].sense < 0 else 1
    means = {p.run: p.run_mean for p in pairs} | {p.baseline: p.base_mean for p in pairs}
    top = max(means, key=lambda run: sign * means[run])
    own = [pair for pair in pairs if top in (pair.run, pair.baseline)]
    level = [pair for pair in own if not pair.significant]
    names = tuple(pair.baseline if pair.run == top else pair.run for pair in level)
    count = f"{len(own) - len(level)} of {len(own)} others"
    start = f"{top} has the best mean, significantly better than {count}"
    return f"{start}, and is not told apart from {few(names)}" if level else start


def unjudged(pairs: Sequence[Pair]) -> list[str]:
    """Say which significant differences unjudged documents could reverse."""
    known = [pair for pair in pairs if pair.significant and pair.holes is not None]
    bounded = [p for p in known if p.holes.kind != "none" or p.holes.overturns is False]
    if not bounded:
        return []
    could = {True: "could", False: "cannot", None: "may, or may not,"}
    words = {end: f"{can} reverse the verdict on" for end, can in could.items()}
    parts = [
        f"{word} {few(tuple(map(_who, some)))}"
        for end, word in words.items()
        if (some := [pair for pair in bounded if pair.holes.overturns is end])
    ]
    return [f"Judging what is unjudged {'; it '.join(parts)}."]


def _who(pair: Pair) -> str:
    return f"{pair.run} - {pair.baseline}" if pair.options.all_pairs else pair.run
