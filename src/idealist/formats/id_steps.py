"""Steps that rewrite ids: what tools do to them on the way, each as a function that undoes it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from html import unescape
from operator import methodcaller
from urllib.parse import unquote

from idealist.errors import UsageError, nearest


@dataclass(frozen=True)
class Step:
    """One transformation of ids; `name` is what ``--map-docs`` takes, `words` say what differs.

    `gentle` ones hardly ever make two different ids equal, the others do so easily. `chunk` is the
    value of the axis ``collapse`` that does the same. `end` is where something is taken off:
    ``front`` or ``back``.
    """

    name: str
    words: str
    apply: Callable[[str], str]
    gentle: bool = True
    chunk: str = ""
    end: str = ""

    @property
    def constant(self) -> bool:
        """Whether it takes the same text off all ids."""
        return self.name.startswith(("prefix:", "suffix:"))

    def replaces(self, other: Step) -> bool:
        """Whether it is constant; instead of the number of a chunk, it must have none itself."""
        letters = not any(sign.isdigit() for sign in self.name)
        return self.constant and (letters or not other.chunk)

    def changes(self, names: Iterable[str]) -> bool:
        """Whether any of these ids is changed."""
        return any((self.apply(name) or name) != name for name in names)


@dataclass(frozen=True)
class Chain:
    """Steps applied one after the other.

    >>> chain("lower+prefix:doc-").apply("DOC-7")
    '7'
    """

    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        """What ``--map-docs`` takes."""
        return "+".join(step.name for step in self.steps)

    @property
    def words(self) -> str:
        """What differs, in words."""
        return " and ".join(filter(None, (step.words for step in self.steps)))

    @property
    def is_written(self) -> bool:
        """Whether it is read as it is written: a learned text may look like another step."""
        with suppress(UsageError):
            steps = chain(self.name).steps
            return [step.name for step in steps] == [step.name for step in self.steps]
        return False

    @cached_property
    def chunk(self) -> str:
        """What the axis ``collapse`` takes, where one of the steps makes documents of chunks."""
        return next((step.chunk for step in self.steps if step.chunk), "")

    def apply(self, name: str) -> str:
        """Transform an id; one of which nothing would be left stays as it is."""
        for step in self.steps:
            name = step.apply(name) or name
        return name

    def applied(self, names: Iterable[str]) -> list[str]:
        """Transform many ids, which is faster than one by one."""
        found = list(names)
        for step in self.steps:
            found = [new or old for new, old in zip(map(step.apply, found), found, strict=True)]
        return found


_PADDING = re.compile(r"(?<!\d)(?<!\d\.)0+(?=\d)")


def _zeros(name: str) -> str:
    return _PADDING.sub("", name) if "0" in name else name


_POWER, _GROUPED = re.compile(r"\d(\.\d+)?[eE]\+?\d{1,2}"), re.compile(r"\d{1,3}(,\d{3})+")
_FRACTION = re.compile(r"(?<=\d)\.0+$")


def _number(name: str) -> str:
    if _POWER.fullmatch(name) and float(name).is_integer():
        return str(int(float(name)))
    if "," in name and _GROUPED.fullmatch(name):
        return name.replace(",", "")
    return _FRACTION.sub("", name) if ".0" in name else name


_UUID = re.compile(
    r"(?:urn:uuid:|\{)?(?<![0-9a-z])"
    r"([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})(?![0-9a-z])\}?",
    re.IGNORECASE,
)


def _uuid(name: str) -> str:
    if len(name) < 32:
        return name
    return _UUID.sub(lambda found: "-".join(found.groups()).lower(), name)


_HOST = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//(?:www\.)?|^www\.", re.IGNORECASE)
_EXTENSION = re.compile(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{0,4}$")


def _url(name: str) -> str:
    return name if name.isalnum() else _HOST.sub("", name).rstrip("/")


def _extension(name: str) -> str:
    return _EXTENSION.sub("", name) if "." in name else name


def _path(name: str) -> str:
    return name if name.isalnum() else name.rstrip("/\\").replace("\\", "/").rpartition("/")[2]


#: Every transformation whose parameters need not be learned, the harmless ones first.
STEPS: tuple[Step, ...] = (
    Step("spaces", "white space", lambda name: " ".join(name.split())),
    Step("unicode", "Unicode form", lambda name: unicodedata.normalize("NFKC", name)),
    Step("lower", "upper and lower case", str.lower),
    Step("upper", "upper and lower case", str.upper),
    Step("number", "whole numbers written with a fraction", _number),
    Step("zeros", "zeros in front of numbers", _zeros),
    Step("unescape", "escaped characters", lambda name: unescape(unquote(name))),
    Step("blanks", "signs for a blank", lambda name: re.sub("[+_]", " ", name)),
    Step("slashes", "slashes and backslashes", lambda name: name.replace("\\", "/")),
    Step("uuid", "the form of UUIDs", _uuid),
    Step("url", "the form of URLs", _url),
    Step("extension", "a file extension", _extension, gentle=False, end="back"),
    Step("path", "the folders of a path", _path, gentle=False, end="front"),
)
#: The same, by name.
KNOWN = {step.name: step for step in STEPS}
_HASH = re.compile(r"(?=.*\d)[0-9a-f]{6,}\W?", re.IGNORECASE)


def prefix(text: str) -> Step:
    """Take a constant prefix off."""
    kind = "hash in front" if _HASH.fullmatch(text) else "prefix"
    words = f"the {kind} {text!r}"
    take = methodcaller("removeprefix", text)
    return Step(f"prefix:{text}", words, take, gentle=False, end="front")


def suffix(text: str) -> Step:
    """Take a constant suffix off."""
    take = methodcaller("removesuffix", text)
    return Step(f"suffix:{text}", f"the suffix {text!r}", take, gentle=False, end="back")


def start(pattern: str) -> Step:
    """Take off what differs from id to id in front, as a pattern says."""
    cut = partial(re.compile(rf"\A(?:{pattern})(?=.)").sub, "")
    words = f"what stands in front, of the form {pattern!r}"
    return Step(f"start:{pattern}", words, cut, gentle=False, end="front")


def end(pattern: str) -> Step:
    """Take off what names a chunk of a document, as a pattern says."""
    cut = partial(re.compile(rf"(?<=.)(?:{pattern})\Z").sub, "")
    return Step(f"end:{pattern}", "the number of a chunk", cut, False, pattern, "back")


def _add_prefix(text: str) -> Step:
    words = f"the prefix {text!r}"
    return Step(f"add-prefix:{text}", words, lambda name: text + name.removeprefix(text), False)


def _add_suffix(text: str) -> Step:
    words = f"the suffix {text!r}"
    return Step(f"add-suffix:{text}", words, lambda name: name.removesuffix(text) + text, False)


_AFFIXES = {
    "prefix:": prefix, "suffix:": suffix, "add-prefix:": _add_prefix, "add-suffix:": _add_suffix,
    "start:": start, "end:": end,
}  # fmt: skip
_NEXT = re.compile(r"\+(?=" + "|".join(map(re.escape, [*_AFFIXES, *KNOWN])) + ")")


def chain(written: str) -> Chain:
    """Read a transformation as it is written: steps with ``+`` between them."""
    return Chain(tuple(_step(word) for word in _NEXT.split(written)))


def _step(word: str) -> Step:
    for begin, make in _AFFIXES.items():
        if word.startswith(begin) and word != begin:
            return _made(make, word.removeprefix(begin))
    if word not in KNOWN:
        hint = nearest(word, [*KNOWN, *(f"{begin}TEXT" for begin in _AFFIXES)])
        raise UsageError(f"{word!r} is neither a file nor a transformation of ids", hint)
    return KNOWN[word]


def _made(make: Callable[[str], Step], text: str) -> Step:
    try:
        return make(text)
    except re.error as error:
        raise UsageError(f"{text!r} is no pattern: {error}", "write a regular expression") from None


def undone(step: Step) -> Step | None:
    """Return the step that undoes one, where there is one."""
    if step.name.startswith(("prefix:", "suffix:")):
        return _step(f"add-{step.name}")
    return KNOWN["upper"] if step.name == "lower" else None
