"""Which engine is meant, by its address, and what it takes to ask it.

elasticsearch+http://localhost:9200/products   an engine over HTTP, with what is searched at the end
postgresql://reader@localhost/shop             a database, asked in SQL
sqlite:shop.db, tantivy:folder                 a file, a folder
shop.toml                                      a mapping file, for any other endpoint
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote, urlsplit

from idealist.asking.addresses import http_parts
from idealist.collecting.engine_answers import ResponseReader
from idealist.collecting.environment_secrets import HEADER, Environment, check_address
from idealist.collecting.http_engines import BY_NAME
from idealist.collecting.http_search import HttpSearch, index_of
from idealist.collecting.mapping_files import read_mapping
from idealist.collecting.python_search import PythonSearch
from idealist.collecting.request_templates import Template, template_of, unknown_styles
from idealist.collecting.search_source import SearchSource
from idealist.collecting.sql_search import ROWS, PostgresSearch, SqliteSearch
from idealist.collecting.tantivy_search import HITS, TantivySearch
from idealist.errors import UsageError, nearest
from idealist.formats.engines.table import Engine
from idealist.formats.reading import ReadOptions

#: What addresses begin with.
POSTGRES = ("postgresql://", "postgres://")
NAMES = (*BY_NAME, "postgresql", "sqlite", "tantivy")
#: What a template says in SQL, and of Tantivy.
SQL_EXAMPLE = "SELECT id, score FROM … WHERE … {{query}} ORDER BY score DESC LIMIT {{k}}"
TANTIVY_EXAMPLE = {"query": "{{query|any}}", "fields": ["title", "body"]}


@dataclass(frozen=True)
class Wanted:
    """What is wanted of an engine: `k` hits, the texts of these `fields`, by these `headers`.

    `options` may name the field that is the id, or the score.
    """

    k: int
    fields: Sequence[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    options: ReadOptions = field(default_factory=ReadOptions)

    def reader(self, engine: Engine) -> ResponseReader:
        """Make what reads responses of an engine."""
        return ResponseReader(engine, self.k, self.fields, self.options)


def find_search(given: Any, template: Any, wanted: Wanted) -> SearchSource:
    """Find out what is searched, and check all that can be checked before it is."""
    if not isinstance(given, (str, Path)):
        if template is not None:
            raise UsageError("a Python search takes no template", "leave the template out")
        return PythonSearch.of(given, wanted.k, bool(wanted.fields), wanted.options)
    word = str(given)
    name, sign, rest = word.partition(":")
    is_address = word.startswith(POSTGRES) or (sign and name.partition("+")[0] in NAMES)
    if word.lower().endswith((".toml", ".json")) and not is_address:
        return _mapped(word, template, wanted)
    if word.startswith(POSTGRES):
        environment = Environment()
        check_address(word)
        dsn = environment.address(word)
        sql = _sql(word, template)
        reader = wanted.reader(ROWS)
        return PostgresSearch(dsn, sql, reader, environment.secrets, doubt=environment.doubt)
    if sign and name == "sqlite":
        return SqliteSearch(_there(rest), _sql(word, template), wanted.reader(ROWS))
    if sign and name == "tantivy":
        asked = template_of(_given(template, word, TANTIVY_EXAMPLE))
        if "query" not in asked.body:
            hint = f"such as {json.dumps(TANTIVY_EXAMPLE)}"
            raise UsageError(f"{asked.name} has no query, which Tantivy is asked", hint)
        return TantivySearch(_there(rest), asked, wanted.reader(HITS))
    return _over_http(word, template, wanted)


def _over_http(word: str, template: Any, wanted: Wanted) -> HttpSearch:
    name, _, url = word.partition("+")
    if name not in BY_NAME or not url.startswith(("http://", "https://")):
        _refuse(word, name)
    engine, environment = BY_NAME[name], Environment()
    check_address(url)
    base, index = (url, "") if not engine.has_index else index_of(url)
    asked = template_of(_given(template, word, engine.example))
    return _http(engine, base.rstrip("/"), index, asked, wanted, wanted.headers, environment)


def _mapped(path: str, template: Any, wanted: Wanted) -> HttpSearch:
    """Ask by a mapping file; a template replaces the request in it."""
    mapped, environment = read_mapping(path), Environment()
    asked = Template(json.dumps(mapped.request), dict(mapped.request), path)
    if template is not None:
        asked = template_of(template)
    if mapped.text and wanted.fields:
        wanted = replace(wanted, fields=[mapped.text])
    if mapped.scores:  # which every hit must have then
        named = {"score": [*mapped.scores], **wanted.options.columns}
        wanted = replace(wanted, options=replace(wanted.options, columns=named))
    headers = {
        name.lower(): one
        for given in (mapped.headers, wanted.headers)
        for name, one in given.items()
    }
    check_address(mapped.url)
    found = _http(mapped.engine, mapped.url, "", asked, wanted, headers, environment)
    found = replace(found, decides=mapped.source)
    if not found.places:
        hint = "write {{query}} where it belongs, in url or in [request]"
        raise UsageError(f"{path} has no place for the query", hint)
    return found


def _http(
    engine: Any, base: str, index: str, asked: Template, wanted: Wanted,
    headers: Mapping[str, str], environment: Environment,
) -> HttpSearch:  # fmt: skip
    filled, sent = environment.address(base), environment.headers(headers)
    index = environment.filled(index, quote)
    _check_url(filled)
    for _, words, hint in unknown_styles(f"{base}/{index}"):
        raise UsageError(words, hint)
    if "@" in (parts := urlsplit(filled)).netloc and "authorization" not in map(str.lower, sent):
        raise UsageError(f"{parts.scheme} addresses with a user are not understood", HEADER)
    reader = wanted.reader(engine.response)
    secrets, short, query = environment.secrets, environment.doubt, urlsplit(base).query
    return HttpSearch(engine, filled, index, asked, reader, sent, secrets, short, query)


def _check_url(url: str) -> None:
    if http_parts(url) is None:
        raise UsageError("the address cannot be read", "write http://HOST:PORT/PATH")
    if "#" in url:
        raise UsageError("what follows # in an address is not sent", "leave it out, or write %23")


def _sql(word: str, template: Any) -> Template:
    return template_of(_given(template, word, SQL_EXAMPLE), is_sql=True)


def _given(template: Any, word: str, example: Any) -> Any:
    """Return the template; without one, say what could be in it."""
    if template is None:
        shown = example if isinstance(example, str) else json.dumps(example)
        hint = f"write one into a file, such as {shown}, and give --template FILE"
        raise UsageError(f"{word!r:.60} needs a template of the request", hint)
    return template


def _there(path: str) -> Path:
    if not Path(path).exists():
        raise UsageError(f"there is no {path or 'path'}", "check the path")
    return Path(path)


def _refuse(word: str, name: str) -> NoReturn:
    if name in BY_NAME:
        hint = f"write {name}+http://HOST:PORT" + ("/INDEX" if BY_NAME[name].has_index else "")
        raise UsageError(f"{name} has no address that can be read", hint)
    hint = f"such as elasticsearch+http://localhost:9200/products; {nearest(name, NAMES)}"
    raise UsageError(f"{word!r:.60} is no engine that is known", hint)
