"""Mapping files: a few lines of TOML or JSON by which any HTTP endpoint is asked and read."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from idealist.collecting.environment_secrets import NAME
from idealist.collecting.http_engines import HttpEngine
from idealist.collecting.request_templates import unknown_styles
from idealist.errors import Faults, nearest
from idealist.formats.engines.table import ERRORS, Direction, Engine, Score, Sign
from idealist.formats.source import Source

#: What a mapping may say, and what of a response.
KEYS = ("name", "method", "url", "headers", "request", "response")
PARTS = ("list", "id", "score", "distance", "text", "total", "took", "ok")
SCORES: tuple[tuple[str, Direction], ...] = (("score", "larger"), ("distance", "smaller"))
EXAMPLE = (
    'url = "https://shop.example/search", [request] with q = "{{query}}", '
    'and [response] with list = "result.items" and id = "sku"'
)


@dataclass(frozen=True)
class Mapped:
    """An endpoint: how it is asked, where, with which headers, and what it is asked for."""

    engine: HttpEngine
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    request: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    scores: tuple[str, ...] = ()
    source: str = ""


def read_mapping(path: str | Path) -> Mapped:
    """Read a mapping; say all that is wrong with it."""
    source = Source.of(path)
    text, faults = source.read().decode(), Faults(source.name)
    said = _loaded(text, source.suffix, faults)
    _check(said, faults)
    for line, words, hint in unknown_styles(text):
        faults.add("bad-template", words, hint, line)
    faults.check()
    response = said["response"]
    hits, id_ = _path(response["list"]), _path(response["id"])
    engine = Engine(
        str(said.get("name", Path(source.name).stem)), (hits,), (id_,),
        tuple(Score(_path(response[key]), which) for key, which in SCORES if key in response),
        total=(_path(response["total"]),) if "total" in response else (),
        took=_path(response.get("took", "")), trouble=(*ERRORS, *_signs(response.get("ok", {}))),
    )  # fmt: skip
    method = str(said.get("method", "POST")).upper()
    asked = HttpEngine(engine.name, engine, "", method=method)
    request, headers = said.get("request", {}), said.get("headers", {})
    scores = tuple(response[key] for key, _ in SCORES if key in response)
    field_ = _path(response.get("text", ""))
    return Mapped(asked, said["url"], headers, request, field_, scores, text)


def _table(said: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = said.get(key)
    return found if isinstance(found, dict) else {}


def _unsendable(
    headers: Mapping[str, Any], request: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with headers and a request, each with a hint."""
    for key, value in headers.items():
        if not isinstance(value, str):
            yield f"the header {key} is {value!r:.40}", f'write it in quotes: {key} = "{value}"'
    for key, value in request.items():
        if (found := NAME.search(written := _json(value))) is not None:
            yield f"[request] {key} holds {found[0]}", "put a key into [headers], or into the url"
        elif not written:
            yield f"[request] {key} is no JSON: {value!r:.40}", "write it in quotes"


def _json(value: Any) -> str:
    """Write a value as JSON; empty where that has no such value, as of TOML's dates."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return ""


def _signs(ok: Mapping[str, Any]) -> Iterator[Sign]:
    """Make a sign of trouble of each field that says that all is well."""
    for key, fine in ok.items():
        words = key.replace("{", "{{").replace("}", "}}")
        yield Sign(_path(key), (fine,), f"failed: {words} is {{}}")


def _path(written: str) -> str:
    return written.replace(".", "/")


def _loaded(text: str, suffix: str, faults: Faults) -> dict[str, Any]:
    try:
        said = json.loads(text) if suffix == ".json" else tomllib.loads(text)
    except ValueError as error:  # of both
        kind = "JSON" if suffix == ".json" else "TOML"
        faults.fail("bad-template", f"the mapping is not {kind}: {error}", f"write {EXAMPLE}")
    if not isinstance(said, dict):
        faults.fail("bad-template", "the mapping is not an object", f"write {EXAMPLE}")
    return said


def _check(said: Mapping[str, Any], faults: Faults) -> None:
    def add(message: str, hint: str = f"write {EXAMPLE}") -> None:
        faults.add("bad-template", message, hint)

    for key in said.keys() - {*KEYS}:
        add(f"a mapping has no {key!r}", nearest(key, KEYS))
    for key in ("headers", "request", "response"):
        if not isinstance(said.get(key, {}), dict):
            add(f"{key} is {said[key]!r:.60}, and must be a table")
    for one in _unsendable(_table(said, "headers"), _table(said, "request")):
        add(*one)
    if not isinstance(said.get("url"), str):
        add("the mapping has no url")
    if str(said.get("method", "POST")).upper() not in ("GET", "POST"):
        add(f"the method is {said['method']!r:.20}", "write GET or POST")
    for one in _unreadable(_table(said, "response")):
        add(*one)


def _unreadable(response: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with what is said of responses, each with a hint."""
    for key in ("list", "id"):
        if key not in response:
            yield f"[response] does not say where the {key} is", f"write {EXAMPLE}"
    for key, path in response.items():
        if key not in PARTS:
            yield f"[response] has no {key!r}", nearest(key, PARTS)
        elif key == "ok":
            if not isinstance(path, dict) or any(isinstance(one, dict) for one in path.values()):
                hint = 'write ok = {"meta.success" = true}: what fields say where all is well'
                yield f"ok is {path!r:.40}", hint
        elif not isinstance(path, str):
            yield f"the path of {key} is {path!r:.40}", 'write keys with dots: "result.items"'
