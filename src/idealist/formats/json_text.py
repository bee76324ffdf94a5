"""JSON: the same shapes as in Python; an object that repeats a key is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, NoReturn

from idealist.errors import Faults, InputError

Path = tuple[str | int, ...]


def load(data: bytes, name: str, before: int = 0) -> Any:
    """Parse JSON; errors name the line of the fault. `before` lines precede the text."""
    faults = Faults(name)
    text = data.decode()
    repeated = False

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        result = dict(pairs)
        repeated = repeated or len(result) < len(pairs)
        return result

    try:
        value = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        _report_syntax(error, before, faults)
    except RecursionError:
        faults.fail("json", "nested too deeply", "give an object of objects")
    except ValueError as error:  # an integer of thousands of digits
        faults.fail("json", f"a number cannot be read: {error}", "give numbers of fewer digits")
    if repeated:
        _report_repeats(text, before, faults)
    return value


def is_lines(data: bytes) -> bool:
    """Whether the text is JSON by the line: an object that ends its line, and another below.

    >>> is_lines(b'{"a": 1}\\n{"a": 2}\\n'), is_lines(b'{"a": 1,\\n"b": 2}')
    (True, False)
    """
    first, _, rest = data.lstrip().partition(b"\n")
    return first.startswith(b"{") and first.rstrip().endswith(b"}") and rest.lstrip()[:1] == b"{"


def load_lines(data: bytes, name: str, before: int = 0) -> tuple[list[Any], list[int]]:
    """Parse JSON by the line; return the values and the line of each. `before` lines precede it."""
    numbered = enumerate(data.split(b"\n"), before + 1)
    found = [(number, line) for number, line in numbered if line.strip()]
    lines = [number for number, _ in found]
    with suppress(ValueError, InputError, RecursionError):  # the line of a fault is found below
        values = load(b"[" + b",".join(line for _, line in found) + b"]", name)
        if len(values) == len(lines):
            return values, lines
    return [load(line, name, number - 1) for number, line in found], lines


def _report_syntax(error: json.JSONDecodeError, before: int, faults: Faults) -> NoReturn:
    near = error.doc[error.pos : error.pos + 20]
    if not error.doc[error.pos :].strip():
        where, hint = "the text ends early", "was the file written completely?"
    elif error.msg.startswith("Unterminated"):
        where, hint = f"the string {near!r} is not closed", "close it; or was the file cut off?"
    elif error.msg == "Extra data":
        where, hint = f"more text follows: {near!r}", "put everything into one object or list"
    else:
        where, hint = f"{error.msg.removesuffix(' at')} at {near!r}", "repair it there"
    faults.fail("json", f"not valid JSON: {where}", hint, before + error.lineno)


def _report_repeats(text: str, before: int, faults: Faults) -> None:
    first: dict[Path, int] = {}
    repeated: set[Path] = set()
    for path, line in keys(text):
        if any(path[:n] in repeated for n in range(1, len(path))):
            continue  # the object around it is repeated: that is the fault
        if path in first:
            repeated.add(path)
            where = " → ".join(repr(key) for key in path)
            message = f"key {where} is repeated, first on line {before + first[path]}"
            faults.add("duplicate-key", message, "keep one of them", before + line)
        first.setdefault(path, line)
    faults.check()


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,\n]')


def keys(text: str) -> Iterator[tuple[Path, int]]:
    """Yield the path and line of every key, in order; array elements are numbered.

    >>> dict(keys('{"q1":\\n {"d1": 1,\\n  "d2": 2}}'))
    {('q1',): 1, ('q1', 'd1'): 2, ('q1', 'd2'): 3}
    """
    line, string = 1, ""
    stack: list[str | int] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line += 1
        elif token[0] == '"':
            string = token
        elif token == ":":
            stack[-1] = str(json.loads(string))
            yield tuple(stack), line
        elif token in "{[":
            stack.append(0 if token == "[" else "")
        elif token in "}]":
            stack.pop()
        elif isinstance(stack[-1], int):
            stack[-1] += 1


_STRING = re.compile(rb'("(?:[^"\\]|\\.)*")(\s*:)?')


def names(content: bytes) -> list[str]:
    """List the different keys of all objects, in order; none where the text has faults.

    >>> names(b'{"q": "a \\"b\\": c", "hits": [{"id": 1}, {"id": 2}]}')
    ['q', 'hits', 'id']
    """
    found = dict.fromkeys(text for text, colon in _STRING.findall(content) if colon)
    with suppress(ValueError):
        return [str(json.loads(text)) for text in found]
    return []


def first_names(head: bytes) -> list[str]:
    """Return the keys of the first record of a list, or of lines; none if it is not a plain row.

    >>> first_names(b'[{"q": 1, "d": "x"}, {'), first_names(b'{"q": 1, "hits": []}')
    (['q', 'd'], [])
    """
    text = head.decode(errors="replace").lstrip().removeprefix("[").lstrip()
    with suppress(ValueError, RecursionError):
        record, _ = json.JSONDecoder().raw_decode(text)
        if isinstance(record, dict) and not any(
            isinstance(value, (list, dict)) for value in record.values()
        ):
            return list(record)
    return []


def locator(content: bytes) -> Callable[..., int | None]:
    """Make a function that finds the line of a key by its path; None where there is no such key.

    >>> locator(b'{"q1":\\n {"d1": 1}}')("q1", "d1")
    2
    """

    @cache  # many faults ask, and a file without one should not pay
    def lines() -> dict[Path, int]:
        return dict(keys(content.decode()))

    return lambda *path: lines().get(path)
