"""Grades that are words: the number of each, by the user's scale, or a proposal of one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from idealist.data import Scale
from idealist.data.columns import is_number, to_float
from idealist.errors import Faults, UsageError
from idealist.notation import tidy, to_number

#: What a user says of the scale: the highest grade, all grades, {grade: label}, or the grade that
#: each word, or each number found, stands for.
ScaleGiven = Scale | float | Iterable[float] | Mapping[Any, Any]

#: Words that need no scale, and what is said of them.
TRUTH = {"true": 1.0, "false": 0.0}
SAID_TRUTH = "the grades are true and false: read as 1 and 0"
#: Words for grades, from the lowest to the highest; those of one line are worth the same.
LADDER: tuple[tuple[str, ...], ...] = (
    ("irrelevant", "not relevant", "non relevant", "nonrelevant", "notrelevant", "unrelated",
     "off topic", "no", "n", "none", "false", "bad", "incorrect", "wrong", "negative", "fail", "i",
     "not at all relevant", "no match", "spam", "junk"),
    ("low", "poor", "complement", "c", "slightly relevant", "marginally relevant", "marginal",
     "related", "weak"),
    ("partially relevant", "partially", "partial", "partly relevant", "somewhat relevant",
     "medium", "moderate", "fair", "maybe", "substitute", "s", "partial match", "mixed"),
    ("relevant", "yes", "y", "true", "good", "correct", "positive", "pass", "high", "match"),
    ("highly relevant", "very relevant", "fully relevant", "excellent", "exact", "e",
     "very good", "very high", "exact match"),
    ("perfectly relevant", "perfect", "vital"),
)  # fmt: skip
#: The line of each word.
STEPS = {word: step for step, line in enumerate(LADDER) for word in line}
#: Lines of the ladder on which the lowest word found may stand for grade 0: not relevant, or low.
FLOORS = 2
#: No scale has more grades than this.
MOST_GRADES = 10_000
#: More different words are no grades but text. Suggested.
MOST_WORDS = 12

_PAIR = re.compile(
    r"\s*(?P<word>[^,=\s].*?)\s*=\s*(?P<grade>-?[\d./]+(?:e-?\d+)?)\s*(?:,|$)", re.IGNORECASE
)
_LABEL = re.compile(r"\s*(?P<grade>-?[\d.]+)\s*=\s*(?P<word>[^,=\s][^,=]*?)\s*(?:,|$)")
HINT = "write --scale 3, --scale 0..3, or --scale 'good=2,fair=1,bad=0'"


def scale_of(text: str) -> ScaleGiven:
    """Read a scale as the command line has it.

    >>> scale_of("3"), scale_of("1..3"), scale_of("Exact=1, Complement=0.01")
    (3, [1, 2, 3], {'Exact': 1, 'Complement': 0.01})
    >>> scale_of("0=off topic, 1=answers it")
    {'off topic': 0, 'answers it': 1}
    """
    low, dots, high = text.partition("..")
    try:
        if "=" in text:
            found = _matches(_PAIR, text) or _matches(_LABEL, text)
            if not found:
                raise ValueError(text)
            grades = [to_number(match["grade"]) for match in found]
            if found[0].re is _LABEL and len(set(grades)) < len(grades):
                hint = "give each grade one word: --scale '0=off topic,1=related'"
                raise UsageError(f"--scale {text!r} has two words for one grade", hint)
            return dict(zip((match["word"] for match in found), grades, strict=True))
        if dots:
            if not 0 <= int(high) - int(low) < MOST_GRADES:
                raise ValueError(text)
            return list(range(int(low), int(high) + 1))
        numbers = [to_number(part) for part in text.split(",")]
        if len(numbers) == 1 and numbers[0] >= MOST_GRADES:  # all from 0 on would be made
            raise ValueError(text)
    except ValueError:
        raise UsageError(f"--scale {text!r} cannot be read", HINT) from None
    return numbers if len(numbers) > 1 else numbers[0]


def _matches(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Find what a text is made of; nothing where something is left over."""
    found = list(pattern.finditer(text))
    return found if "".join(match[0] for match in found) == text else []


def scale_text(scale: ScaleGiven) -> str:
    """Write a scale as `scale_of` reads it.

    >>> scale_text({0: "bad", 1: "good"}), scale_text([0, 0.5, 1])
    ('bad=0,good=1', '0,0.5,1')
    """
    if isinstance(scale, Mapping) or (isinstance(scale, Scale) and scale.labels):
        return ",".join(f"{word}={tidy(grade)}" for word, grade in by_word(scale).items())
    if isinstance(scale, Scale):
        scale = scale.grades
    if isinstance(scale, Iterable) and not isinstance(scale, str):
        return ",".join(str(to_number(grade)) for grade in scale)
    return str(scale)


def by_word(scale: ScaleGiven | None) -> dict[str, float]:
    """Return the grade of each word of a scale, given as {grade: label} or as {word: grade}.

    >>> by_word({0: "bad", 1: "good"}) == by_word({"bad": 0, "good": 1})
    True
    """
    if isinstance(scale, Scale):
        scale = dict(zip(scale.grades, scale.labels, strict=bool(scale.labels)))
    if not isinstance(scale, Mapping):
        return {}
    labels = any(isinstance(value, str) for value in scale.values())
    pairs = ((label, grade) for grade, label in scale.items()) if labels else scale.items()
    return {str(word): float(to_number(grade)) for word, grade in pairs}


def folded(word: Any) -> str:
    """Write a word, or a number, so that case, hyphens, blanks and a trailing .0 do not matter.

    >>> folded("Not_Relevant"), folded("2.0"), folded(True)
    ('not relevant', '2', 'true')
    """
    text = str(word).strip()
    if is_number(text):
        return str(tidy(to_float(text)))
    return " ".join(re.sub(r"[-_\s]+", " ", text).lower().split())


def as_numbers(
    cells: list[Any], scale: ScaleGiven | None, faults: Faults, line: int | None = None
) -> tuple[list[Any], str]:
    """Turn the words of a column of grades into numbers; say so where no scale was given.

    Without a scale, true and false are 1 and 0, and other words are refused with a proposal. What
    is neither a word of the scale nor a number stays as it is, to be reported with its line. `line`
    is that of the first.
    """
    words = by_word(scale)
    kinds = {*map(type, cells)} - {type(None)}
    if words and kinds <= {str, bool, int, float}:
        grades = {folded(word): grade for word, grade in words.items()}
        numbers = any(map(is_number, grades))  # then a number that the scale lacks is no grade
        known = {cell: _grade(cell, grades, numbers) for cell in {*cells}}
        return [known[cell] for cell in cells], ""
    if kinds == {bool} and None not in cells:
        return list(map(float, cells)), SAID_TRUTH
    if kinds != {str}:
        return cells, ""
    found = {*cells} - {None}
    if any(map(is_number, found)):
        return cells, ""
    if not 1 < len(found) <= MOST_WORDS and not {*map(folded, found)} <= STEPS.keys():
        return cells, ""  # text, or the same mistake in each row
    if not {*map(folded, found)} <= TRUTH.keys():
        refuse(found, faults, line)
    return [cell and TRUTH[folded(cell)] for cell in cells], SAID_TRUTH


def _grade(cell: Any, grades: Mapping[str, float], numbers: bool) -> Any:
    lacking = f"{cell} (not on the scale)" if numbers else cell
    return None if cell is None else grades.get(folded(cell), lacking)


def refuse(words: Iterable[str], faults: Faults, line: int | None) -> NoReturn:
    """Refuse words without a scale, and propose one that runs when it is pasted."""
    proposed, guessed = proposal(words)
    hint = f"say what they are worth: --scale {shlex.quote(scale_text(proposed))}"
    if guessed:
        hint += f"; the order of {', '.join(guessed)} is a guess, so put the right numbers there"
    shown = ", ".join(map(repr, proposed))
    faults.fail("bad-grade", f"the grades are words, not numbers: {shown}", hint, line)


def proposal(words: Iterable[str]) -> tuple[dict[str, float], list[str]]:
    """Propose a scale, the highest grade first, and name the words whose order is a guess.

    >>> proposal(["Irrelevant", "Exact", "Complement", "Substitute"])[0]
    {'Exact': 3, 'Substitute': 2, 'Complement': 1, 'Irrelevant': 0}
    >>> proposal(["relevant", "partially relevant"])[0]
    {'relevant': 2, 'partially relevant': 1}
    >>> proposal(["yes", "dunno", "no"])
    ({'dunno': 2, 'yes': 1, 'no': 0}, ['dunno'])
    """
    spelled = {folded(word): word for word in sorted(words)}  # one spelling of each
    guessed = [spelled[word] for word in spelled if word not in STEPS]
    steps = {word: STEPS.get(word, len(LADDER)) for word in spelled}
    levels = sorted({(step, word if step == len(LADDER) else "") for word, step in steps.items()})
    lowest = 0 if levels[0][0] < FLOORS else 1
    grades = {level: lowest + i for i, level in enumerate(levels)}
    found = {
        spelled[word]: float(grades[step, word if step == len(LADDER) else ""])
        for word, step in steps.items()
    }
    ordered = sorted(found, key=lambda word: -found[word])
    return {word: tidy(found[word]) for word in ordered}, guessed
