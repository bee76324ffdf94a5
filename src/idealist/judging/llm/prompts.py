"""Prompts: files that say what a model is asked, on which scale, and what it may answer.

A file begins with a front page between two lines ``+++``, in TOML: name, version, kind, description
and, of a prompt for grades, the table ``scale``. Then comes what is said, in which places such as
``{query}`` are filled in. What is filled in from outside stands between tags with a code that does
not occur in it, so that no text can end its own tag.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from idealist.data.judgments import Scale
from idealist.errors import Faults, UsageError, nearest
from idealist.formats.document_entries import DocumentText
from idealist.notation import tidy

#: What a prompt asks for, and the places of documents in it, all of which it must have.
KINDS: dict[str, tuple[str, ...]] = {"grade": ("document",), "preference": ("first", "second")}
#: What a model may answer when asked which of two documents is better.
CHOICES = ("first", "second", "tie")
#: The key of the answer, by kind.
KEYS = {"grade": "grade", "preference": "better"}
#: The keys of the front page.
KNOWN = ("name", "version", "kind", "description", "longest", "scale")
#: The least that a document may be cut to, in characters, and what shows that it was.
SHORTEST, CUT = 100, " […]"

FRONT = re.compile(r"\s*\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*\n", re.DOTALL | re.MULTILINE)
ROLE = re.compile(r"^\[(system|user)\][ \t]*\n", re.MULTILINE)
PLACE = re.compile(r"\{([A-Za-z_]+)\}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

FRONT_HINT = 'begin with +++, then lines such as name = "mine" and version = "1", then +++ again'
SCALE_HINT = 'add [scale] and a line such as 0 = "Not relevant" for each grade'


class Example(NamedTuple):
    """A document that people graded for a query, shown to a model."""

    query: str
    document: DocumentText
    grade: float


@dataclass(frozen=True)
class Prompt:
    """What a model is asked: `source` is the whole file, `body` what comes after its front page.

    Texts of documents are cut to `longest` characters, if that is set.

    >>> prompt = read_prompt("binary")
    >>> prompt.label, prompt.kind, prompt.scale.grades
    ('binary@1', 'grade', (0, 1))
    """

    name: str
    version: str
    kind: str
    scale: Scale
    source: str
    body: str
    description: str = ""
    longest: int | None = None

    @property
    def label(self) -> str:
        """The name and the version, as in the name of a judge."""
        return f"{self.name}@{self.version}"

    @property
    def words(self) -> str:
        """What it asks for, in words.

        >>> read_prompt("binary").words.split(" (")[0]
        'binary@1 asks for a grade, one of 0, 1'
        """
        grades = ", ".join(grade for grade, _ in self._grades)
        asks = f"a grade, one of {grades}" if grades else "the better of two documents"
        return f"{self.label} asks for {asks} (SHA-256 {self.hash[:10]}…)"

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the file."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    @property
    def places(self) -> frozenset[str]:
        """The places that are filled in."""
        return frozenset(PLACE.findall(self.body))

    @property
    def answers(self) -> tuple[float, ...] | tuple[str, ...]:
        """What a model may answer: the grades, or which document is better."""
        return self.scale.grades if self.kind == "grade" else CHOICES

    def messages(
        self, query: str, documents: Sequence[DocumentText], examples: Sequence[Example] = (),
        guidelines: str = "",
    ) -> list[dict[str, str]]:  # fmt: skip
        """Write what is sent; a line of which all places are empty is left out.

        >>> prompt = read_prompt("graded")
        >>> print(prompt.messages("tuple", [DocumentText("Types", "Lists.")])[1]["content"])
        <query 9d0516>
        tuple
        </query 9d0516>
        <BLANKLINE>
        <document 9d0516>
        Title: Types
        <BLANKLINE>
        Lists.
        </document 9d0516>
        """
        self._check(documents, examples)
        outside = [query, *(one.words for one in documents)]
        outside += [words for one in examples for words in (one.query, one.document.words)]
        code = self._code("\n".join(outside).lower())
        filled = {
            "query": _tagged("query", query, code),
            "scale": "\n".join(map(": ".join, self._grades)),
            "grades": ", ".join(grade for grade, _ in self._grades),
            "guidelines": guidelines.strip(),
            "examples": "\n\n".join(self._example(one, code) for one in examples),
        }
        for place, one in zip(KINDS[self.kind], documents, strict=True):
            filled[place] = _tagged(place, self._shown(one), code)
        return [{"role": role, "content": _filled(text, filled)} for role, text in self._parts]

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of an answer.

        >>> read_prompt("binary").schema()["properties"]
        {'grade': {'type': 'integer', 'enum': [0, 1]}}
        """
        allowed = [one if isinstance(one, str) else tidy(one) for one in self.answers]
        whole = all(isinstance(one, int) for one in allowed)
        kind = "string" if self.kind == "preference" else "integer" if whole else "number"
        key = KEYS[self.kind]
        return {
            "type": "object", "properties": {key: {"type": kind, "enum": allowed}},
            "required": [key], "additionalProperties": False,
        }  # fmt: skip

    def check_scale(self, scale: Scale | None) -> None:
        """Refuse a prompt whose grades are not those of the judgments that it is to add to."""
        if self.kind == "grade" and scale is not None and set(scale.grades) != {*self.scale.grades}:
            mine, theirs = (
                ", ".join(str(tidy(g)) for g in one.grades) for one in (self.scale, scale)
            )
            message = f"prompt {self.name} grades {mine}, but the scale of the store is {theirs}"
            hint = "choose a prompt of that scale, or write one: --prompt FILE"
            raise UsageError(message, hint)

    def other_labels(self, scale: Scale | None) -> tuple[str, ...]:
        """Say where the store calls a grade something else than the prompt, with both words."""
        if self.kind != "grade" or scale is None or not scale.labels:
            return ()
        theirs = dict(zip(scale.grades, scale.labels, strict=True))
        mine = zip(self.scale.grades, self.scale.labels, strict=True)
        apart = [
            f"{tidy(grade)} is {theirs[grade]!r} there and {label.split(':')[0]!r} here"
            for grade, label in mine
            if theirs[grade].casefold() not in (label.casefold(), label.split(":")[0].casefold())
        ]
        if not apart:
            return ()
        words = "doubt: people see other words for the grades than the model, check that they mean"
        return (f"{words} the same: {'; '.join(apart)}",)

    @property
    def _grades(self) -> list[tuple[str, str]]:
        grades = [str(tidy(grade)) for grade in self.scale.grades]
        return list(zip(grades, self.scale.labels, strict=True))

    @property
    def _parts(self) -> list[tuple[str, str]]:
        """What is said in which role; all of it by the user, if nothing else is said."""
        first, *rest = ROLE.split(self.body)
        parts = [("user", first), *zip(rest[::2], rest[1::2], strict=True)]
        return [(role, text) for role, text in parts if text.strip()]

    def _check(self, documents: Sequence[DocumentText], examples: Sequence[Example]) -> None:
        if len(documents) != len(KINDS[self.kind]):
            takes = " and ".join(KINDS[self.kind])
            raise UsageError(f"prompt {self.name} takes {takes}, not {len(documents)} documents")
        if "examples" in self.places and not examples:
            message = f"prompt {self.name} shows examples, and there are none"
            raise UsageError(
                message, "judge some documents first, or use a prompt without examples"
            )

    def _code(self, outside: str) -> str:
        """Return a code that does not occur in what comes from outside, mostly always the same."""
        codes = (hashlib.sha256(f"{self.hash}{n}".encode()).hexdigest()[:6] for n in count())
        return next(code for code in codes if code not in outside)

    def _shown(self, document: DocumentText) -> str:
        title, text = document.title.strip(), document.text.strip()
        if self.longest is not None and len(text) > self.longest:
            text = text[: self.longest].rstrip() + CUT
        return "\n\n".join(filter(None, (title and f"Title: {title}", text)))

    def _example(self, example: Example, code: str) -> str:
        answer = json.dumps({KEYS[self.kind]: tidy(example.grade)})
        document = _tagged("document", self._shown(example.document), code)
        return f"{_tagged('query', example.query, code)}\n{document}\n{answer}"


def read_prompt(name: str | Path) -> Prompt:
    """Read one of our prompts by its name, or a file.

    >>> read_prompt("graded").description
    'How well a document answers a query, from 0 to 3.'
    """
    ours = our_prompts()
    path = ours.get(str(name), Path(name))
    try:
        data = path.read_bytes()
    except OSError as error:
        if path.suffix or len(path.parts) > 1:
            message, hint = f"cannot read {path}: {error.strerror}", "check the path"
        else:
            message, hint = f"there is no prompt {name!s}", nearest(str(name), ours)
        raise UsageError(message, hint) from None
    faults = Faults(str(name))
    try:
        source = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        faults.fail("encoding", "a prompt must be UTF-8 text", "save it as UTF-8")
    return parse_prompt(source, faults)


def our_prompts() -> dict[str, Path]:
    """Return the files of the prompts that come with idealist, by name."""
    folder = Path(__file__).with_name("prompt_files")
    return {path.stem: path for path in sorted(folder.glob("*.md"), key=lambda path: path.stem)}


def parse_prompt(source: str, faults: Faults) -> Prompt:
    """Read a prompt; say all that is wrong with it, each with its line."""
    found = FRONT.match(source)
    if found is None:
        faults.fail("bad-prompt", "the prompt has no front page", FRONT_HINT, 1)
    front, body = _front(found, faults), source[found.end() :]
    kind = str(front.get("kind", "grade"))
    _check_front(front, kind, faults)
    faults.check()
    _check_body(body, kind, source.count("\n", 0, found.end()) + 1, faults)
    faults.check()
    scale = Scale.of(front["scale"]) if kind == "grade" else Scale(())
    text = {key: str(front.get(key, "")) for key in ("name", "version", "description")}
    cut = front.get("longest")
    return Prompt(**text, kind=kind, scale=scale, source=source, body=body, longest=cut)


def _front(found: re.Match[str], faults: Faults) -> dict[str, Any]:
    try:
        return tomllib.loads(found[1])
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+)", str(error))
        before = found.string.count("\n", 0, found.start(1))
        line = before + (int(at[1]) if at else found[1].count("\n"))
        message = f"the front page is not TOML: {str(error).split(' (at')[0]}"
        faults.fail("bad-prompt", message, FRONT_HINT, line)


def _check_front(front: Mapping[str, Any], kind: str, faults: Faults) -> None:
    def add(message: str, hint: str = "") -> None:
        faults.add("bad-prompt", message, hint)

    for key in front.keys() - {*KNOWN}:
        add(f"the front page has an unknown key {key}", nearest(key, KNOWN))
    for key in ("name", "version"):
        if not NAME.fullmatch(str(front.get(key, ""))):
            word = repr(front[key]) if key in front else "missing"
            add(f"the {key} is {word}", f'write {key} = "…" with letters, digits, ".", "_" and "-"')
    longest = front.get("longest", SHORTEST)
    if type(longest) is not int or longest < SHORTEST:
        add(f"longest is {longest!r}", f"write the most characters of a document, from {SHORTEST}")
    if kind not in KINDS:
        add(f"the kind is {kind!r}", nearest(kind, KINDS))
    elif kind == "preference" and "scale" in front:
        add("a prompt for preferences has no scale", "leave out [scale]")
    elif kind == "grade":
        _check_scale(front.get("scale"), add)


def _check_scale(scale: Any, add: Any) -> None:
    if not isinstance(scale, dict) or len(scale) < 2:
        add("the prompt has no scale of two grades or more", SCALE_HINT)
        return
    for grade, label in scale.items():
        if not re.fullmatch(r"-?\d{1,6}(\.\d{1,6})?", grade):
            add(
                f"{grade!r} is not a grade",
                'write a number, "in quotes" if it has a point or a sign',
            )
        if not isinstance(label, str) or not label.strip():
            add(f"grade {grade} has no label", SCALE_HINT)
    numbers = {float(grade) for grade in scale if re.fullmatch(r"-?[\d.]+", grade)}
    if len(numbers) < len(scale):
        add("two labels are of the same grade", SCALE_HINT)


def _check_body(body: str, kind: str, first: int, faults: Faults) -> None:
    needed = ("query", *KINDS[kind])
    places = (*needed, "guidelines", *(("scale", "grades", "examples") if kind == "grade" else ()))
    for found in PLACE.finditer(body):
        if found[1] not in places:
            line = first + body.count("\n", 0, found.start())
            hint = f"{nearest(found[1], places)} If you mean the braces, write {{ {found[1]} }}"
            faults.add("bad-prompt", f"there is no place {found[0]}", hint, line)
    for place in needed:
        if f"{{{place}}}" not in body:
            message = f"the prompt has no place for the {place}"
            faults.add("bad-prompt", message, f"write {{{place}}} where it belongs")


def _filled(text: str, filled: Mapping[str, str]) -> str:
    """Fill in the places at once, so that nothing filled in is taken for a place."""
    lines: list[str] = []
    for line in text.strip().split("\n"):
        places = PLACE.findall(line)
        if not places or any(filled[place] for place in places):
            lines.append(PLACE.sub(lambda found: filled[found[1]], line))
        elif lines and not lines[-1]:
            lines.pop()  # a paragraph of its own
    return "\n".join(lines)


def _tagged(tag: str, words: str, code: str) -> str:
    return f"<{tag} {code}>\n{words.strip()}\n</{tag} {code}>"
