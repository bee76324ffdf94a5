"""Searches over HTTP: one connection a thread, kept open, by Python's own client.

It costs a fifth of what larger clients cost a request, which at thousands of queries is the
difference between the engine's speed and ours.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from idealist._version import __version__
from idealist.asking.addresses import OVERHEARD, is_open
from idealist.asking.patience import LONGEST_WAIT, is_passing, retry_after
from idealist.asking.secret_texts import Secrets
from idealist.collecting.asked_queries import AskedQuery
from idealist.collecting.engine_answers import (
    Answer,
    Busy,
    Hopeless,
    ResponseReader,
    failed,
)
from idealist.collecting.http_engines import HttpEngine
from idealist.collecting.request_templates import PLACE, Template
from idealist.errors import UsageError
from idealist.formats.engines.table import at

#: Answers that no query would change, as long as none was answered.
HOPELESS = {
    401: "the key is wrong or missing", 403: "the key may not do this",
    404: "there is no such address or index", 405: "this is not where searches go",
}  # fmt: skip
#: Keys under which engines explain an error.
WORDS = ("reason", "message", "msg", "error", "errors", "detail", "summary", "status", "root")
#: The longest answer in bytes.
LARGEST = 256 << 20
#: The bytes of an error that are read.
READ = 40_000
#: How long to wait for a version, in seconds.
VERSION_PATIENCE = 5.0


@dataclass(frozen=True)
class HttpSearch:
    """An engine at an address, asked by a template."""

    engine: HttpEngine
    base: str
    index: str
    template: Template
    reader: ResponseReader
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Secrets = field(default_factory=Secrets, repr=False)
    short: str = ""
    decides: str = ""
    concurrency: int = 8

    @property
    def address(self) -> SplitResult:
        """Where the engine is."""
        return urlsplit(self.base)

    @property
    def target(self) -> str:
        """Where searches go."""
        parts = self.address
        query = f"?{parts.query}" if parts.query else ""
        return (
            parts.path
            + self.engine.path.replace("{index}", quote(self.index, safe="%,*{|}"))
            + query
        )

    @property
    def places(self) -> frozenset[str]:
        """What a query must have."""
        inside = (found[1] for found in PLACE.finditer(self.target))
        return self.template.places.union(inside)

    @property
    def doubt(self) -> str:
        """Say that others can read a key on its way, and which is too short to be one."""
        overheard = self.secrets.has_any and is_open(self.address)
        said = OVERHEARD.format(place=self._shown) if overheard else ""
        return "; ".join(filter(None, (said, self.short)))

    @property
    def _shown(self) -> str:
        """The address without anything that is secret."""
        parts = self.address
        host = parts.netloc.rpartition("@")[2]
        return self.secrets.scrub(f"{parts.scheme}://{host}{parts.path}")

    def told(self) -> dict[str, Any]:
        """Say what is asked."""
        return {
            "engine": self.engine.name, "version": self._version(), "address": self._shown,
            "index": self.index or None,
        }  # fmt: skip

    def _version(self) -> str | None:
        """Ask an engine for its version; one that does not tell is searched all the same."""
        path, key = self.engine.version
        if not path:
            return None
        opened = HttpOpened(self, VERSION_PATIENCE)
        impatience = threading.Timer(VERSION_PATIENCE, opened.cut)
        impatience.start()
        try:
            status, _, raw = opened.sent("GET", self.address.path.rstrip("/") + path, None)
            found = at(json.loads(raw), key) if status == 200 else None
            return self.secrets.scrub(str(found))[:100] if found is not None else None
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            impatience.cancel()
            opened.close()

    def opened(self, timeout: float) -> HttpOpened:
        """Open a connection."""
        return HttpOpened(self, timeout)


class HttpOpened:
    """One connection, kept open from a query to the next."""

    def __init__(self, search: HttpSearch, timeout: float) -> None:
        self.search, self.timeout = search, timeout
        self._headers = {
            "content-type": "application/json", "accept": "application/json",
            "user-agent": f"idealist/{__version__}",
            **{name.lower(): one for name, one in search.headers.items()},
        }  # fmt: skip
        self._http: http.client.HTTPConnection | None = None

    def ask(self, query: AskedQuery) -> Answer:
        """Send one request, and read what comes back."""
        search = self.search
        target, body = search.engine.request(search.target, search.template, query.values)
        begun = time.perf_counter()
        try:
            status, wait, raw = self.sent(search.engine.method, target, body)
        except (OSError, http.client.HTTPException) as error:
            raise self._broken(error, time.perf_counter() - begun) from None
        seconds = time.perf_counter() - begun
        if status != 200:
            return self._refused(status, wait, raw, seconds)
        try:
            said = json.loads(raw)
        except (ValueError, RecursionError):
            if raw.startswith(b"\x1f\x8b"):
                return failed("the answer is compressed by gzip, which was not asked for", seconds)
            page = ", but a web page" if b"<html" in raw[:1000].lower() else ""
            return failed(f"the answer is not JSON{page}", seconds)
        answer = search.reader.answer(said, seconds)
        return replace(answer, error=self._masked(raw)) if answer.error else answer

    def _masked(self, raw: bytes) -> str:
        """Take the words of an error from an answer without secrets: none is cut in half then."""
        with suppress(ValueError):
            body = json.loads(self.search.secrets.scrub(raw.decode("utf-8", "replace")))
            return self.search.reader.answer(body, 0.0).error
        return "the answer says that something failed"

    def sent(self, method: str, target: str, body: bytes | None) -> tuple[int, str, bytes]:
        """Send a request; over a connection that the server closed meanwhile, send it again."""
        reused, begun = self._http is not None, time.monotonic()
        try:
            return self._sent(method, target, body)
        except (ConnectionError, http.client.BadStatusLine):
            if not reused or time.monotonic() - begun > self.timeout:
                raise
            self.close()
        return self._sent(method, target, body)

    def _sent(self, method: str, target: str, body: bytes | None) -> tuple[int, str, bytes]:
        connection = self._connected()
        connection.request(method, target, body, self._headers)
        response = connection.getresponse()
        raw = response.read(LARGEST)
        if response.length:
            whole = "more than it may" if len(raw) == LARGEST else "less than it says"
            raise http.client.HTTPException(f"the answer has {whole}, {len(raw):,} bytes")
        response.close()  # which lets the connection take the next request
        if response.will_close:
            self.close()
        return response.status, response.headers.get("retry-after", ""), raw

    def _connected(self) -> http.client.HTTPConnection:
        """Connect unless that is done; from then on nothing but `cut` ends the waiting.

        A time-out of the socket would cost a call of the system for each that reads or writes.
        """
        if self._http is None:
            parts = self.search.address
            host = parts.netloc.rpartition("@")[2]
            if parts.scheme == "https":
                secure = ssl.create_default_context()
                made: http.client.HTTPConnection = http.client.HTTPSConnection(
                    host, timeout=self.timeout, context=secure
                )
            else:
                made = http.client.HTTPConnection(host, timeout=self.timeout)
            made.connect()
            made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            made.sock.settimeout(None)
            self._http = made
        return self._http

    def cut(self) -> None:
        """Let whoever waits for an answer wait no longer."""
        connection = self._http
        if connection is not None and connection.sock is not None:
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def _broken(self, error: Exception, seconds: float) -> Busy:
        """Say that a connection broke, or was never made."""
        unreached = self._http is None
        self.close()
        what = "cannot connect" if unreached else "the connection broke"
        words = f"{what}: {self._clean(str(error) or type(error).__name__)}"
        return Busy(words, 0.0, seconds, unreached)

    def _refused(self, status: int, wait: str, raw: bytes, seconds: float) -> Answer:
        """Say what it means that there is an error in place of an answer."""
        text = raw[:READ].decode("utf-8", "replace")
        told = _message(self.search.secrets.scrub(text)[: READ // 2])
        words = self._clean(f"status {status}: {told}" if told else f"status {status}")
        if status in (408, 504):
            return Answer("timed out", error=words, seconds=seconds)
        if is_passing(status):
            asked = retry_after(wait)
            if asked > LONGEST_WAIT:
                return failed(f"{words}; it asks to wait for {asked:.0f} seconds", seconds)
            raise Busy(words, asked, seconds)
        if status in HOPELESS or 300 <= status < 400:
            means = HOPELESS.get(status, "the address leads elsewhere")
            raise Hopeless(f"{means} ({words})", "check the address, the index and the headers")
        return failed(words, seconds)

    def _clean(self, text: str) -> str:
        return self.search.secrets.scrub(" ".join(text.split()))[:300]

    def close(self) -> None:
        """Hang up."""
        if self._http is not None:
            self._http.close()
            self._http = None


def _message(text: str) -> str:
    """Find the words of an error, in JSON or on a page."""
    with suppress(ValueError, RecursionError):
        return _words_of(json.loads(text))
    return re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", text)


def _words_of(said: Any) -> str:
    """Find the first words under a key that explains errors.

    >>> _words_of({"error": {"type": "x", "reason": "no such index"}, "status": 404})
    'no such index'
    """
    if isinstance(said, list):
        return next(filter(None, map(_words_of, said)), "")
    if isinstance(said, dict):
        return next(filter(None, (_words_of(said[key]) for key in WORDS if key in said)), "")
    return said if isinstance(said, str) else ""


def index_of(base: str) -> tuple[str, str]:
    """Part an address from the index at its end.

    >>> index_of("http://localhost:9200/products")
    ('http://localhost:9200', 'products')
    """
    parts = urlsplit(base)
    above, _, index = parts.path.rstrip("/").rpartition("/")
    if not index:
        hint = f"write what is searched behind it: {parts.scheme}://{parts.netloc}/products"
        raise UsageError("the address names no index", hint)
    return parts._replace(path=above).geturl(), index
