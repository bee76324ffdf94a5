"""Collecting: something to search and queries in, runs out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from idealist._version import __version__
from idealist.asking.interrupts import YOU
from idealist.collecting.asked_queries import asked_queries, check_values
from idealist.collecting.collected_files import CollectedFile, now
from idealist.collecting.collection_result import Collection
from idealist.collecting.collector import Collector, Pace, Side, Tick
from idealist.collecting.environment_secrets import is_telling
from idealist.collecting.search_addresses import Wanted, find_search
from idealist.errors import UsageError
from idealist.formats.reading import ReadOptions
from idealist.formats.source import run_names

#: More than any of the numbers that say how to ask; as seconds, eleven days.
MOST = 1_000_000
#: Suffixes of what cannot grow line by line.
COMPRESSED = (".gz", ".xz", ".zst")


def collect(
    search: Any,
    queries: Any,
    k: int = 100,
    *,
    template: Any = None,
    output: Any = None,
    text: Any = (),
    headers: Mapping[str, str] | None = None,
    columns: Any = None,
    concurrency: int | None = None,
    rate: float | None = None,
    timeout: float = 30.0,
    attempts: int = 3,
    warm_up: int = 1,
    resume: bool = False,
    again: str = "",
    tick: Tick | None = None,
) -> Collection:
    """Ask an engine, a function or a retriever every query, and keep what it finds.

    `search` is an address, such as ``elasticsearch+http://localhost:9200/products``, a function
    from the text of a query to its hits, or a retriever of LangChain or LlamaIndex. A `template`
    is what an engine is asked; several, with an `output` each, are asked by turns. With an `output`
    every answer is in that file as soon as it came, and `resume` asks what it lacks. `text` names
    fields of documents that are kept too; of a Python search, ``text=True`` keeps what it returns.
    `concurrency` says how many queries are under way at once, `rate` how many are asked a second at
    most. Each has `timeout` seconds, and `attempts` if the engine is busy. The first `warm_up`
    queries of each thread are asked twice, so that connections and caches are not timed.

    >>> found = collect(lambda text: [("d1", 2.0), ("d2", 1.0)], {"q1": "red shoes"}, k=10)
    >>> found.run.rows().documents
    ['d1', 'd2']
    """
    _check_whole(k=(k, 1), attempts=(attempts, 1), warm_up=(warm_up, 0))
    _check_whole(**({} if concurrency is None else {"concurrency": (concurrency, 1)}))
    _check(timeout=timeout, **({} if rate is None else {"rate": rate}))
    if not isinstance(headers or {}, Mapping):
        raise UsageError(f"headers cannot be {headers!r:.60}", 'give {"X-Tenant": "shop"}')
    fields = [text] if isinstance(text, str) else list(text) if isinstance(text, Sequence) else text
    options = ReadOptions({} if columns is None else columns, shared=True)
    wanted = Wanted(k, ["text"] if fields is True else fields or (), headers or {}, options)
    templates = list(template) if isinstance(template, (list, tuple)) else [template]
    found = [find_search(search, one, wanted) for one in templates]
    asked = asked_queries(queries, k, frozenset().union(*(one.places for one in found)))
    for one in found:
        check_values(asked, one.places, "the queries")
    pace = Pace(concurrency or found[0].concurrency, rate, timeout, attempts, warm_up)
    header = {"k": k, **_told(pace), **_kept(wanted), "again": again or None}
    sides = []
    for one, path in zip(found, _outputs(output, len(found)), strict=True):
        own = {**one.told(), "template": _template(one), "begun": now(), **header}
        file = CollectedFile(path, one.secrets, one.places)
        file.begin(own, asked, resume)
        sides.append(Side(one, file))
    with ExitStack() as stack:
        for side in sides:
            stack.enter_context(side.file)
        collector = Collector(sides, asked, pace)
        collector.run(tick)
    return _collection(sides, collector, wanted)


def _check(**numbers: Any) -> None:
    for name, number in numbers.items():
        if not isinstance(number, (int, float)) or not 0 < number <= MOST:
            hint = f"give a number of more than 0, and at most {MOST:,}"
            raise UsageError(f"{name} is {number!r:.40}", hint)


def _check_whole(**numbers: tuple[Any, int]) -> None:
    """Refuse what is no whole number, or less than the least that makes sense."""
    for name, (number, least) in numbers.items():
        if type(number) is not int or not least <= number <= MOST:
            hint = f"give a whole number from {least} to {MOST:,}"
            raise UsageError(f"{name} is {number!r:.40}", hint)


def _outputs(output: Any, count: int) -> list[Path | None]:
    given = list(output) if isinstance(output, (list, tuple)) else [output]
    if len(given) != count:
        message = f"there are {count} templates and {len(given)} files to write"
        raise UsageError(message, "give each template a file: -o a.jsonl -o b.jsonl")
    paths = [None if one is None else Path(one) for one in given]
    for path in filter(None, paths):
        if str(path) == "-" or path.suffix.lower() in COMPRESSED:
            hint = "write run.jsonl; idealist convert makes it anything else"
            raise UsageError(f"a run cannot be collected into {path}", hint)
    named = [path.resolve() for path in paths if path is not None]
    if len(set(named)) < len(named) or (count > 1 and len(named) < count):
        raise UsageError("two runs would be in one file", "give each a file of its own")
    return paths


def _told(pace: Pace) -> dict[str, Any]:
    return {
        "concurrency": pace.concurrency, "rate": pace.rate, "timeout": pace.timeout,
        "attempts": pace.attempts, "warm_up": pace.warm_up, "idealist": __version__,
    }  # fmt: skip


def _kept(wanted: Wanted) -> dict[str, Any]:
    """Say what else makes a run what it is, as it was written; what may be a secret is not said."""
    plain = {name.lower(): one for name, one in wanted.headers.items() if not is_telling(name)}
    return {
        "columns": wanted.options.words()[1::2] or None, "headers": plain or None,
        "text": [*wanted.fields] or None,
    }  # fmt: skip


def _template(search: Any) -> dict[str, str] | None:
    template = getattr(search, "template", None)
    if template is None:
        return None
    more = getattr(search, "decides", "")  # a mapping file, or parameters in an address
    mixed = hashlib.sha256(f"{template.hash} {more}".encode()).hexdigest()
    return {"name": template.name, "sha256": mixed if more else template.hash}


def _doubts(sides: Sequence[Side], wanted: Wanted) -> Iterator[str]:
    for side in sides:
        if side.search.doubt:
            yield side.search.doubt
        if wanted.fields and side.file.has_hits and not side.file.has_texts:
            yield f"no hit has {' or '.join(wanted.fields)}, whose text would be kept"


def _collection(sides: Sequence[Side], collector: Collector, wanted: Wanted) -> Collection:
    files = [side.file for side in sides]
    paths = [str(file.path) for file in files if file.path is not None]
    names = run_names(paths) if paths else ["run"]
    return Collection(
        {name: file.collected() for name, file in zip(names, files, strict=True)},
        {name: file.path or file.records for name, file in zip(names, files, strict=True)},
        collector.stopped, collector.stopped == YOU,
        tuple(dict.fromkeys(_doubts(sides, wanted))),
        {name: file.gone for name, file in zip(names, files, strict=True)},
    )  # fmt: skip
