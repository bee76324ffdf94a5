"""The answer inside a text that a model wrote: in JSON, marked as the answer, or standing alone.

A grade is a number on the scale, a choice one of three words. Whatever could be meant in two ways
is refused: "2 or 3", "2.5", "no grade: 3", "the passage names 3 dogs".
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from idealist.judging.llm.prompts import CHOICES, KEYS, Prompt
from idealist.notation import tidy

#: The longest text that can be an answer, thoughts aside.
LONGEST = 20_000
#: How many objects of JSON are tried, and how much is read around a mark: texts may be hostile.
MOST_OBJECTS, AROUND = 50, 200
#: What may stand around a word without changing it; bounded and never tried twice, for speed.
GLUE = r"[\s*_`\"'“”‘’]{0,20}+"
#: What an answer is called, by the kind of prompt, and what it looks like.
MARKS = {
    "grade": r"grade|score|rating|relevance|label|answer|judge?ment|verdict|final",
    "preference": r"better|preferred|preference|winner|answer|choice|verdict|final",
}
VALUES = {"grade": r"[-−]?\d+(?:\.\d+)?", "preference": "|".join(CHOICES)}
#: Words before a mark, in the same sentence, that say that it is not meant, or only perhaps.
DENIED = re.compile(
    r"\b(?:no|not|never|cannot|neither|nor|if|unless|whether|would|could|might|example|instead|than"
    r"|e\.g)\b|n['’]t\b",
    re.IGNORECASE,
)
#: What after a number shows that it is none of the grades, or one of several.
SPREAD = re.compile(
    r"[ \t]*(?:(?:or|to|and|through|vs\.?)(?:[ \t]+[a-z]+)?|[-–—,;:~&])[ \t]*[-−]?\d",
    re.IGNORECASE,
)
PART = re.compile(
    rf"{GLUE}(?:/|out of|of)[ \t]*(\d+(?:\.\d+)?)(?![\w%]|[ \t]+[a-z])", re.IGNORECASE
)
#: A grade that a sentence goes on from counts something ("3 days"), unless by one of these words.
COUNTS = re.compile(
    r"[*_`\"'”’]*[ \t]+(?!(?:because|since|as|given|due|based|which|meaning|although|though|while"
    r"|but|so|on|the|this|it|not|(?:ir)?relevant|related|highly|fully|partly|partially|perfectly|somewhat"
    r"|marginally)\b)[^\W\d_]",
    re.IGNORECASE,
)
#: What may stand on the line before JSON that is the answer, and behind it.
BEFORE, BEHIND = re.compile(r"(?:^|[:：=>→`{}\[\](]|\bis)\s*$"), re.compile(r"\s*(?:[^\w\s,]|$)")
GLUED = re.compile(r"[*_`\"'“”‘’]*(?:[\w%+?/²³½]|\.\d)")
QUOTES, QUOTED = ("'", '"', "‘", "“"), re.compile(r"['\"’”][ \t,;]*\w")
THOUGHTS = re.compile(r".*</think(?:ing)?>", re.DOTALL)
THINKING = re.compile(r"<think(?:ing)?>")
FENCED = re.compile(r"```[a-z]*|[\s*_`\"'“”‘’()\[\]{}.#]", re.IGNORECASE)
REFUSED = re.compile(
    r"\bI(?:['’]m| am) (?:very )?(?:sorry|unable|not able)\b|\bI (?:cannot|can['’]t|won['’]t)\b"
    r"|\bas an AI\b",
    re.IGNORECASE,
)


class Unreadable(ValueError):
    """Why a text holds no answer."""


@dataclass(frozen=True)
class Found:
    """An answer, written as its scale writes it, and where in the text it begins."""

    value: str
    at: int
    final: bool = False


def find_answer(prompt: Prompt, text: str) -> Found:
    """Find the one answer that a text gives, or raise `Unreadable`.

    >>> from idealist.judging.llm.prompts import read_prompt
    >>> find_answer(read_prompt("graded"), "It is about dogs.\\n**Grade:** 1 (related)")
    Found(value='1', at=29, final=False)
    """
    start = found.end() if (found := THOUGHTS.match(text)) else 0
    said = text[start:].translate(_DIGITS)
    if THINKING.search(said):
        raise Unreadable("cut off: only thoughts")
    if not said.strip():
        raise Unreadable("empty")
    if len(said) > LONGEST:
        raise Unreadable("too long")
    form = _form(prompt)
    one = form.find(said)
    return Found(one.value, start + one.at, one.final)


def is_complete(prompt: Prompt, text: str) -> bool:
    """Whether a text is JSON as it was asked for and nothing else, so that it cannot be cut off."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(whole, dict) and KEYS[prompt.kind] in whole


class _Form:
    """What answers to one kind of prompt look like, and which are allowed."""

    def __init__(self, kind: str, allowed: tuple[str, ...]) -> None:
        self.kind, self.key, self.allowed = kind, KEYS[kind], allowed
        value, name = f"(?P<value>{VALUES[kind]})", f"(?:{MARKS[kind]})"
        self.value = re.compile(rf"(?<![\w.]){VALUES[kind]}", re.IGNORECASE)
        self.whole = re.compile(VALUES[kind], re.IGNORECASE)
        told = rf"{GLUE}(?:\([^()\n]{{0,60}}\))?{GLUE}(?:[:：=]|->|→|\bis\b){GLUE}[(\[{{]?{GLUE}"
        self.mark = re.compile(
            rf"(?P<final>\b(?:final|overall)\b[\s_]{{0,3}}+)?"
            rf"(?:\b{name}(?:[\s_]{{1,3}}+{name}){{0,2}}\b(?P<told>{told})|<{name}>\s*)"
            rf"{value}",
            re.IGNORECASE,
        )
        self.named = re.compile(
            rf"\W*(?:(?:final|overall)\s)?{name}[\s*_]{value}\W*", re.IGNORECASE
        )
        self.boxed = re.compile(rf"\\boxed\{{\s*{value}\s*\}}", re.IGNORECASE)
        self.opens = re.compile(rf"[^\w−-]*{value}[ \t*_]*(?:[:(,–—]|-[ \t]|\n|$)", re.IGNORECASE)
        self.in_json = re.compile(rf"\"{self.key}\"\s*:\s*\"?\s*{value}", re.IGNORECASE)

    def find(self, text: str) -> Found:
        """Find the answer in JSON or marked; otherwise standing alone."""
        objects = list(self._objects(text))
        if len(objects) == 1 and objects[0][0] == 0 and objects[0][1] == len(text.rstrip()):
            return self._in_object(text, *objects[0])
        found = [self._in_object(text, *one) for one in objects if _stands_out(text, *one[:2])]
        for first, last, _ in objects:
            text = text[:first] + " " * (last - first) + text[last:]
        found += self._marked(text)
        return self._one([*self._lines(text), *found]) if found else self._alone(text)

    def _one(self, found: list[Found]) -> Found:
        """Return the answer that is meant: that marked as final, or that which all marks name."""
        meant = [one for one in found if one.final] or found
        if len({one.value for one in meant}) > 1:
            raise Unreadable(_several(one.value for one in meant))
        return meant[-1]

    def _objects(self, text: str) -> Iterator[tuple[int, int, list[Any]]]:
        """Yield where JSON objects with the key stand, and all that they have under it."""
        decoder, at = json.JSONDecoder(object_pairs_hook=_Pairs), -1
        for _ in range(MOST_OBJECTS):
            at = text.find("{", at + 1)
            if at < 0:
                return
            try:
                found, end = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                found, end = _Pairs(), at + 1
            values = [value for key, value in found if key.lower() == self.key]
            if values:
                yield at, end, values
                at = end - 1
        if "{" in text[at + 1 :]:
            raise Unreadable("no clear answer: too many braces")

    def _in_object(self, text: str, first: int, last: int, values: list[Any]) -> Found:
        read = [self._of_json(value) for value in values]
        if len(set(read)) > 1:
            raise Unreadable(_several(read))
        places = [one.start("value") for one in self.in_json.finditer(text, first, last)]
        return Found(read[0], places[-1] if places else first, final=True)

    def _of_json(self, value: Any) -> str:
        word = value.strip() if isinstance(value, str) else json.dumps(value)
        if isinstance(value, bool) or not self.whole.fullmatch(word):
            shown = word if isinstance(value, str | int | float | None) else "not a single value"
            raise Unreadable(f"no clear answer: {self.key} is {shown:.40}")
        return self._allowed(word)

    def _allowed(self, word: str) -> str:
        value = self._named(word)
        if value not in self.allowed:
            raise Unreadable(f"off the scale: {value:.40}")
        return value

    def _marked(self, text: str) -> Iterator[Found]:
        for found in self.mark.finditer(text):
            before = re.split(r"[.!?:;\n]", text[max(0, found.start() - AROUND) : found.start()])[
                -1
            ]
            line = text[found.end() : found.end() + AROUND].partition("\n")[0]
            listed = "\n" in (found["told"] or "") and re.match(r"[.)]\s*\w", line)
            quoted = text[: found.start()].endswith(QUOTES) and QUOTED.match(line)
            counts = self.kind == "grade" and COUNTS.match(line) and not PART.match(line)
            if not (DENIED.search(before) or listed or quoted or counts):
                yield self._checked(text, found, final=bool(found["final"]))
        for found in self.boxed.finditer(text):
            yield self._checked(text, found, final=True)

    def _checked(self, text: str, found: re.Match[str], final: bool = False) -> Found:
        """Refuse a number that goes on, is one of several, or is a part of another scale."""
        word, rest = found["value"], text[found.end("value") :][:AROUND]
        if self.kind == "grade":
            if part := PART.match(rest):
                if _number(part[1]) != self.allowed[-1]:
                    raise Unreadable(f"off the scale: {word} of {part[1]}"[:60])
            elif SPREAD.match(rest):
                raise Unreadable(_several(map(_number, self.value.findall(text))))
            elif GLUED.match(rest):
                raise Unreadable("no clear answer: the number goes on")
        elif re.match(r"\w", rest):
            raise Unreadable("no clear answer")
        return Found(self._allowed(word), found.start("value"), final)

    def _alone(self, text: str) -> Found:
        """Find a value that opens the text, is all of it, or has its last line to itself."""
        named = {self._named(one.group()) for one in self.value.finditer(text)}
        if len(named) > 1:
            raise Unreadable(_several(sorted(named)))
        if named and (found := self.opens.match(text) or self.named.fullmatch(text)):
            return self._checked(text, found)
        *_, last = (None, *self._lines(text))
        if last is not None and not FENCED.sub("", text[last.at :].partition("\n")[2]):
            return Found(self._allowed(last.value), last.at)
        raise Unreadable("refused" if REFUSED.search(text) else "no clear answer")

    def _lines(self, text: str) -> Iterator[Found]:
        """Yield the values that have a line to themselves."""
        for line in re.finditer(r"[^\n]+", text):
            bare = FENCED.sub("", line.group())
            found = self.value.search(text, line.start(), line.end())
            if found and found.group() == bare:
                yield Found(self._named(bare), found.start())

    def _named(self, word: str) -> str:
        return word.lower() if self.kind == "preference" else _number(word)


def _stands_out(text: str, first: int, last: int) -> bool:
    """Whether JSON is no part of a sentence, which may tell what a document says."""
    before = text[:first].rpartition("\n")[2]
    if not before.strip():
        return True
    behind = text[last : last + AROUND].partition("\n")[0]
    return bool(BEFORE.search(before) and BEHIND.match(behind)) and not DENIED.search(before)


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with all its keys, also those that it repeats."""


@lru_cache(100)
def _form_of(kind: str, allowed: tuple[str, ...]) -> _Form:
    return _Form(kind, allowed)


def _form(prompt: Prompt) -> _Form:
    words = (one if isinstance(one, str) else str(tidy(one)) for one in prompt.answers)
    return _form_of(prompt.kind, tuple(words))


def _number(word: str) -> str:
    value = float(word.replace("−", "-"))
    return str(tidy(value)) if math.isfinite(value) else word


def _several(values: Any) -> str:
    return f"several answers: {', '.join(list(dict.fromkeys(values))[:5])}"


class _Digits(dict[int, str]):
    """Digits of all scripts, one for one."""

    def __missing__(self, character: int) -> str:
        written = chr(character)
        digit = unicodedata.decimal(written, None)
        self[character] = written if digit is None else str(digit)
        return self[character]


_DIGITS = _Digits()
