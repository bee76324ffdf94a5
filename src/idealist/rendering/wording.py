"""Words for numbers and names: the one home of how they are written for people."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

#: How many names a sentence lists before it counts the rest.
NAMED = 5
#: The longest name in a sentence.
LONGEST = 60
#: Characters that are not seen, or turn the text around them: controls, marks of direction, halves
#: of characters.
_HIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def seen(words: str) -> str:
    """Show characters that hide by their number; they would also turn text around.

    >>> seen("bm25\\u202e\\0")
    'bm25[U+202E][U+0000]'
    """
    return _HIDDEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", words)


def number(value: float | None, digits: int = 4) -> str:
    """Write a value: four digits unless told otherwise, a dash where it is undefined.

    >>> number(0.43125), number(30.0, 0), number(-1e-17), number(float("nan"))
    ('0.4313', '30', '0.0000', '-')
    """
    if value is None or math.isnan(value):
        return "-"
    written = f"{value:.{digits}f}"
    return written if float(written) else written.removeprefix("-")


def signed(value: float | None, digits: int = 4) -> str:
    """Write a difference with its sign; what rounds to nothing has none.

    >>> signed(0.03125), signed(-0.5, 2), signed(-1e-9)
    ('+0.0312', '-0.50', '0.0000')
    """
    if value is None or math.isnan(value):
        return "-"
    written = f"{value:+.{digits}f}"
    return written if float(written) else written[1:]


def p_value(p: float | None) -> str:
    """Write a p-value; a small one has no digits worth printing.

    >>> p_value(0.03031), p_value(2e-7)
    ('0.0303', '<0.0001')
    """
    return "-" if p is None or math.isnan(p) else "<0.0001" if p < 0.0001 else f"{p:.4f}"


def p_words(p: float) -> str:
    """Write a p-value in a sentence.

    >>> p_words(0.03031), p_words(2e-7)
    ('p=0.0303', 'p<0.0001')
    """
    written = p_value(p)
    return f"p{written}" if written.startswith("<") else f"p={written}"


def percent(share: float | None, digits: int = 1) -> str:
    """Write a relative change in percent, with its sign.

    >>> percent(0.125), percent(float("nan"))
    ('+12.5 %', '-')
    """
    return "-" if share is None or math.isnan(share) else f"{100 * share:+.{digits}f} %"


def weights_words(alike: float | None) -> str:
    """Say that queries have weights, and how many of equal weight make a mean as sure.

    >>> weights_words(12.46)
    ', weighted (as sure as 12.5 of equal weight)'
    """
    if alike is None or math.isnan(alike):
        return ""
    return f", weighted (as sure as {alike:.1f} of equal weight)"


def together_words(count: int) -> str:
    """Say that so many intervals hold all at once; one alone has nothing to say.

    >>> together_words(11), together_words(1)
    (', simultaneous over 11 comparisons', '')
    """
    return f", simultaneous over {count:,} comparisons" if count > 1 else ""


def counted(count: int, one: str, several: str) -> str:
    """Write a number that may be large, with its noun.

    >>> counted(1, "query", "queries"), counted(6980, "query", "queries")
    ('1 query', '6,980 queries')
    """
    return f"{count:,} {one if count == 1 else several}"


def amount_words(amount: float) -> str:
    """Write an amount of money, a small one too.

    >>> amount_words(12.345), amount_words(0.0135), amount_words(8e-6), amount_words(0)
    ('12.35', '0.0135', '<0.0001', '0')
    """
    if amount >= 1:
        return f"{amount:,.2f}"
    return "0" if not amount else f"{amount:.4f}" if amount >= 5e-5 else "<0.0001"


def visible(name: str) -> str:
    """Write an id so that blanks at its ends, and what does not print, can be seen.

    >>> visible("d1"), visible("d1 "), visible("d\\x1b[1m")
    ('d1', "'d1 '", "'d\\\\x1b[1m'")
    """
    return name if name == name.strip() and name.isprintable() else repr(name)


def told(name: str) -> str:
    """Write a name in a sentence or a label: on one line, and not longer than a reader reads.

    The middle is left out, since names of runs often differ at the end.

    >>> told("bm25\\ndense"), told("x" * 70 + "seed=1")[-9:]
    ("'bm25\\\\ndense'", 'xxxseed=1')
    """
    return short(" ".join(visible(name).split()), LONGEST)


def few(names: Sequence[str], most: int = NAMED) -> str:
    """Name some and count the others.

    >>> few(["q1", "q2", "q3"], most=2)
    'q1, q2 and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(visible, names[:most])) + more


def short(name: str, longest: int | None) -> str:
    """Leave out the middle of a name that is too long.

    >>> short("python-sorting-howto", 11)
    'pytho…howto'
    """
    if longest is None or len(name) <= longest:
        return name
    half = (longest - 1) // 2
    return f"{name[: longest - 1 - half]}…{name[len(name) - half :]}"


def clipped(words: str, longest: int | None) -> str:
    """Leave out the end of a text that is too long."""
    line = " ".join(words.split())
    return line if longest is None or len(line) <= longest else f"{line[: longest - 1]}…"


def shared_signatures(signatures: Sequence[str]) -> list[str]:
    """Write short signatures; measures that share all but the name share a line.

    >>> shared_signatures(["AP|ties=input", "RR|ties=input"])
    ['MEASURE|ties=input for AP, RR']
    """
    sharing: dict[str, list[str]] = {}
    for signature in signatures:
        measure, _, rest = signature.partition("|")
        sharing.setdefault(rest, []).append(measure)
    lines = []
    for rest, measures in sharing.items():
        several = len(measures) > 1
        named = f"MEASURE|{rest} for {', '.join(measures)}" if several else f"{measures[0]}|{rest}"
        lines.append(named)
    return lines
