"""What one side's ids have in front or at the end and the other's lack, learned from the data."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from operator import itemgetter

from idealist.formats.id_steps import Step, end, prefix, start, suffix

#: Pairs of ids that must show the same prefix or suffix before it is tried. Suggested.
AFFIX_VOTES = 2
#: Share of texts that differ in a number only which must be the same, to be constant. Suggested.
AFFIX_CONSTANT = 0.9
#: Shares of one side's ids that begin or end alike before that is tried. Suggested.
AFFIX_SHARES = (0.9, 0.5, 0.2)
#: Up to so many pairs of ids, each is looked for within the other. Suggested.
FEW_PAIRS = 2500
#: Letters of a prefix or suffix that are looked at. Suggested.
LONGEST_AFFIX = 64

#: The ids that do not meet, of one query: those found, and those wanted.
Group = tuple[Collection[str], Collection[str]]
#: Texts that differ in these only differ in a number: of a chunk, a page, a query.
_NUMBER = re.compile(r"(?<![^\W_])(?=[a-f]*\d)[0-9a-f]{6,}(?![^\W_])|\d+", re.IGNORECASE)
#: What means something else in a pattern.
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
#: The number at the end of an id, with what divides it from the rest.
_LAST = re.compile(r"[\W_](?:[^\W\d_]+[\W_]?)?\d+\W?$")


def affixes(groups: Sequence[Group], few: bool) -> Iterator[tuple[Step, str]]:
    """Guess what one side's ids have too much, each with the side: ``found`` or ``wanted``.

    `few` lets one pair of ids do for a guess. What differs in its number from id to id is a
    pattern: at the end, that of chunks.
    """
    votes = 1 if few else AFFIX_VOTES
    for side, own in (("found", groups), ("wanted", [(right, left) for left, right in groups])):
        turned = [(_reversed(left), _reversed(right)) for left, right in own]
        backs = Counter({text[::-1]: count for text, count in _counts(turned).items()})
        before, behind = _families(_counts(own), votes), _families(backs, votes)
        for text in dict.fromkeys([*_constants(before), *_frequent(own)]):
            yield prefix(text), side
        ends = _alone(_reversed(_frequent(turned)), [name for names, _ in own for name in names])
        for text in dict.fromkeys([*_constants(behind), *ends]):
            yield suffix(text), side
        yield from ((start(pattern), side) for pattern in _patterns(before))
        chunks = dict.fromkeys([*_patterns(behind), *_patterns(_numbered(own))])
        yield from ((end(pattern), side) for pattern in chunks)


def _reversed(names: Collection[str] | Iterator[str]) -> list[str]:
    return [name[::-1] for name in names]


def _counts(groups: Sequence[Group]) -> Counter[str]:
    """Count what precedes ids of the other side."""
    return Counter(text for left, right in groups for text in _fronts(left, right))


def _families(counts: Counter[str], votes: int) -> list[Counter[str]]:
    """Put texts together that differ in numbers only, and give the two most frequent families."""
    families: dict[tuple[str, ...], Counter[str]] = {}
    for text, count in counts.items():
        families.setdefault(tuple(_NUMBER.split(text)), Counter())[text] = count
    ordered = sorted(families.values(), key=lambda family: -family.total())[:2]
    return [family for family in ordered if family.total() >= votes]


def _numbered(groups: Sequence[Group]) -> list[Counter[str]]:
    """Find the numbers with which many ids of one side end, and few of the other."""
    counts, others = (
        Counter(
            found[0]
            for own in side
            for name in own
            if not name.isalnum() and (found := _LAST.search(name))
        )
        for side in zip(*groups, strict=True)
    )
    few = {tuple(_NUMBER.split(text)) for text in others}
    total = sum(len(left) for left, _ in groups)
    families = _families(counts, max(1, round(AFFIX_SHARES[-1] * total)))
    return [one for one in families if tuple(_NUMBER.split(next(iter(one)))) not in few]


def _constants(families: Sequence[Counter[str]]) -> Iterator[str]:
    """Find the texts that do not differ; up to three digits may be anything."""
    for family in families:
        text, count = family.most_common(1)[0]
        if count >= AFFIX_CONSTANT * family.total() and (re.search(r"\D", text) or len(text) > 3):
            yield text


def _patterns(families: Sequence[Counter[str]]) -> Iterator[str]:
    """Write families of more than one text as patterns, numbers alone excepted.

    >>> list(_patterns([Counter({"#p=3": 2, "#p=12": 1}), Counter({"_0001": 1, "_0012": 1})]))
    ['#p=\\\\d+', '_\\\\d{4}']
    """
    for family in families:
        between = _NUMBER.split(next(iter(family)))
        if len(family) > 1 and any(between):
            columns = zip(*map(_NUMBER.findall, family), strict=True)
            numbers = [*map(_number, columns), ""]
            plain = [_SPECIAL.sub(r"\\\g<0>", text) for text in between]
            yield "".join(a + b for a, b in zip(plain, numbers, strict=True))


def _number(seen: Collection[str]) -> str:
    """Write numbers as a pattern; those that are padded with zeros are all of one length."""
    digit = r"\d" if all(map(str.isdigit, seen)) else "[0-9a-fA-F]"
    padded = len({*map(len, seen)}) == 1 and any(re.match("0.", one) for one in seen)
    return digit + (f"{{{len(next(iter(seen)))}}}" if padded else "+")


def _fronts(left: Collection[str], right: Collection[str]) -> Iterator[str]:
    """Find what precedes an id of the other side, or, among few, one within."""
    if len(left) * len(right) <= FEW_PAIRS:
        places = ((name, name.find(other)) for name in left for other in right)
        yield from (name[:at] for name, at in places if _divides(name, at))
        return
    wanted = set(right)
    shortest = min(map(len, wanted))
    ends = {name[len(name) - shortest :] for name in wanted}
    for name in [name for name in left if name[len(name) - shortest :] in ends]:
        cuts = range(1, len(name) - shortest + 1)
        yield from (name[:at] for at in cuts if name[at:] in wanted and _divides(name, at))


def _divides(name: str, at: int) -> bool:
    """Whether an id can be cut there: numbers are not cut, 12 is not 1 and 2."""
    inside = 0 < at <= LONGEST_AFFIX
    return inside and not (name[at - 1].isdigit() and name[at].isdigit())


def _frequent(groups: Sequence[Group]) -> Iterator[str]:
    """Find the longest beginnings that most ids of one side share, or many, and few others."""
    left = [name for own, _ in groups for name in own]
    right = [name for _, own in groups for name in own]
    longest = _longest(left) if min(len(left), len(right)) > 1 else {}
    for share, common in longest.items():
        text = common.rstrip(string.digits)
        if text and sum(name.startswith(text) for name in right) < share / 2 * len(right):
            yield text


def _alone(ends: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Leave out ends that others differ from in a number only: those are of chunks.

    >>> list(_alone(["#c2", ".v2"], ["a#c1", "a#c2", "b#c2", "b#c3", "a.v2", "b.v2"]))
    ['.v2']
    """
    for text in ends:
        like = re.compile(r"\d+".join(map(re.escape, _NUMBER.split(text))) + r"\Z")
        count = sum(name.endswith(text) for name in names)
        if count >= AFFIX_CONSTANT * sum(bool(like.search(name)) for name in names):
            yield text


def _longest(names: Sequence[str]) -> dict[float, str]:
    """Find the longest beginning that each of the shares has in common.

    >>> _longest(["doc-1", "doc-2", "dog"])
    {0.9: 'do', 0.5: 'doc-', 0.2: 'doc-1'}
    """
    found = dict.fromkeys(AFFIX_SHARES, "")
    for length in range(1, LONGEST_AFFIX + 1):
        text, count = max(Counter([name[:length] for name in names]).items(), key=itemgetter(1))
        reached = [share for share in AFFIX_SHARES if count >= share * len(names)]
        if not reached or len(text) < length:
            break
        found |= dict.fromkeys(reached, text)
    return found
