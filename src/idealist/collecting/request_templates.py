"""Templates of requests: JSON or SQL with places such as ``{{query}}`` that each query fills.

JSON is parsed before it is filled, and in SQL places become parameters: no text of a query can
break out of its place. A place may say how a text is written: ``{{query|json}}`` as a string in
quotes, for a query language inside JSON; ``{{query|any}}`` and ``{{query|all}}`` as its words, each
in quotes, for engines that would take a hyphen for a command.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from idealist.errors import Faults, UsageError, nearest
from idealist.formats import json_text
from idealist.formats.source import Source

PLACE = re.compile(r"\{\{\s*(\w+)\s*(?:\|\s*(\w+)\s*)?\}\}")
WORD = re.compile(r"\w+")
#: What is quoted or a comment in SQL; PostgreSQL also quotes by E'…', $$ or $name$.
QUOTED = re.compile(
    r"""\bE'(?:\\.|''|[^'\\])*' | '(?:[^']|'')*' | "(?:[^"]|"")*"
    | --[^\n]* | /\*.*?\*/ | \$((?:[a-z_]\w*)?)\$.*?\$\1\$""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
Values = Mapping[str, Any]


class Place(NamedTuple):
    """A place of a template: what fills it, and how that is written."""

    name: str
    style: str = ""

    def of(self, values: Values) -> Any:
        """Return what fills the place; a number or a list stays one."""
        value = values[self.name]
        return STYLES[self.style](_text(value)) if self.style else value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> list[str]:
    return [f'"{word}"' for word in WORD.findall(text)]


#: How a text may be written.
STYLES: dict[str, Callable[[str], str]] = {
    "json": json.dumps,
    "any": lambda text: " OR ".join(_quoted(text)),
    "all": lambda text: " ".join(_quoted(text)),
}


@dataclass(frozen=True)
class Template:
    """What an engine is asked: the `source` as it was written, and in `body` what it says.

    >>> template = parse_template('{"match": "{{query}}", "size": "{{k}}"}')
    >>> template.filled({"query": 'red "shoes"', "k": 10})
    {'match': 'red "shoes"', 'size': 10}
    """

    source: str
    body: Any
    name: str = "template"

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the source."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    @cached_property
    def places(self) -> frozenset[str]:
        """The names of what fills it."""
        return frozenset(found[1] for found in PLACE.finditer(self.source))

    def filled(self, values: Values) -> Any:
        """Fill the places of JSON."""
        return _filled(self.body, values)

    def parameters(self, mark: Callable[[str], str]) -> tuple[str, list[Place]]:
        """Write SQL with parameters for its places, each as `mark` writes its name.

        >>> sql = Template("SELECT id FROM d WHERE t MATCH {{query|any}} LIMIT {{k}}", "")
        >>> sql.parameters(":{}".format)[0]
        'SELECT id FROM d WHERE t MATCH :p0 LIMIT :p1'
        """
        places = [_place(found) for found in PLACE.finditer(self.source)]
        numbers = iter(range(len(places)))
        return PLACE.sub(lambda _: mark(f"p{next(numbers)}"), self.source), places


def _place(found: re.Match[str]) -> Place:
    return Place(found[1], found[2] or "")


def in_text(text: str, values: Values, written: Callable[[str], str] = str) -> str:
    """Fill the places of a text, each `written` as where it stands wants it.

    >>> in_text("/{{query|all}}?n={{k}}", {"query": "a-b", "k": 3})
    '/"a" "b"?n=3'
    """
    return PLACE.sub(lambda found: written(_text(_place(found).of(values))), text)


def _filled(part: Any, values: Values) -> Any:
    match part:
        case str():
            whole = PLACE.fullmatch(part)
            return in_text(part, values) if whole is None else _place(whole).of(values)
        case list():
            return [_filled(one, values) for one in part]
        case dict():
            return {in_text(key, values): _filled(one, values) for key, one in part.items()}
    return part


def read_template(path: str | Path, *, is_sql: bool = False) -> Template:
    """Read a template from a file, and say what is wrong with it."""
    source = Source.of(path)
    return parse_template(source.read().decode(), source.name, is_sql=is_sql)


def parse_template(source: str, name: str = "template", *, is_sql: bool = False) -> Template:
    """Check a template: JSON, or SQL that selects."""
    faults = Faults(name)
    for line, words, hint in _flaws(source, is_sql):
        faults.add("bad-template", words, hint, line)
    faults.check()
    body = None if is_sql else json_text.load(source.encode(), name)
    if not is_sql and not isinstance(body, dict):
        faults.fail("bad-template", "a request must be a JSON object", 'such as {"q": "{{query}}"}')
    return Template(source, body, name)


def unknown_styles(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the fault and a hint of each place that is written in no known way."""
    for found in PLACE.finditer(source):
        if found[2] is not None and found[2] not in STYLES:
            words = f"{found[0]}: no text is written {found[2]}"
            yield _line(source, found), words, nearest(found[2], STYLES)


def _line(source: str, found: re.Match[str]) -> int:
    return source.count("\n", 0, found.start()) + 1


def _flaws(source: str, is_sql: bool) -> Iterator[tuple[int, str, str]]:
    yield from unknown_styles(source)
    quoted = [one.span() for one in QUOTED.finditer(source)] if is_sql else []
    for found in PLACE.finditer(source):
        line = _line(source, found)
        if any(start < found.start() < end for start, end in quoted):
            hint = f"it becomes a parameter: write {found[0]} alone, or '%' || {found[0]} || '%'"
            yield line, f"{found[0]} stands in quotes, or in a comment", hint
        if not is_sql and not _in_string(source, found.start()):
            hint = f'write "{found[0]}": a number or a list stays one'
            yield line, f"{found[0]} stands outside a string", hint
    if not PLACE.search(source):
        hint = "write {{query}}, or the name of a column of the queries, where it belongs"
        yield 1, "the template has no place for the query", hint


def _in_string(source: str, at: int) -> bool:
    """Whether a place of JSON is inside a string; the parser would refuse it elsewhere."""
    return len(re.findall(r'(?<!\\)(?:\\\\)*"', source[:at])) % 2 == 1


def template_of(given: Any, *, is_sql: bool = False) -> Template:
    """Take a template as Python's users give it: a path, its text, or a dict."""
    if isinstance(given, Template):
        return given
    if isinstance(given, Mapping):
        return parse_template(json.dumps(given))
    if isinstance(given, str) and PLACE.search(given):
        return parse_template(given, is_sql=is_sql)
    if isinstance(given, (str, Path)):
        return read_template(given, is_sql=is_sql)
    raise UsageError(f"a template cannot be {given!r:.60}", "give a path, a text or a dict")
