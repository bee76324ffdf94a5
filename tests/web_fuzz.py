"""Hostile requests for every route of the workbench, the same for the same seed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote, quote_plus

import hostile
import idealist as il
from idealist.judging.judgment_imports import import_judgments
from idealist.judging.store_records import Batch, Pooled
from idealist.web.guard import HEADERS, LOGOUT
from idealist.web.page_state import PageState
from idealist.web.people import ROLES
from web_client import EXAMPLES, HOST, Answer, Client
from web_people import Address, addresses, become, shared

SOURCE = Path(__file__).parents[1] / "src" / "idealist" / "web"
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
STRINGS = hostile.strings()
#: Numbers where a page may want one, and what is not quite one.
NUMBERS = [
    "0",
    "1",
    "2",
    "-1",
    "3.5",
    "99999999",
    "1e308",
    "1e309",
    "NaN",
    "-Infinity",
    "0x1",
    "٣",
    "1_0",
    "+1",
    " 1",
    "²",
]
#: What the folder knows: reasonable values reach further than hostile ones.
KNOWN = [
    "bm25", "reranked", "qrels.txt", "judgments.db", "nDCG@10", "AP", "RR", "q01", "q06", "python-sorting-howto",
    "trec_eval", "sklearn", "ties=input", "missing=zero", "better", "worse", "worst", "best", "id", "low", "name",
    "judgments", "run", "ignored", "queries", "ann", "bob", "graded", "later", "cannot tell", "pooled", "depth",
]  # fmt: skip
#: What fits a parameter or a field, so that what stands beside it is read as well.
FITTING = {
    "m": ["nDCG@10", "AP", "RR", "P@5,10"], "c": ["trec_eval", "sklearn", "ranx"], "set": ["ties=input", "missing=zero", "gain=exp2", r"collapse=#\d+", "collapse=(.*)*(.*)*x", "collapse=/etc/passwd"],
    "qrels": ["qrels.txt", "judgments.db", "qrels.jsonl"], "baseline": ["bm25", "reranked"], "pin": ["bm25", "reranked"],
    "run": ["bm25", "reranked"], "query": ["q01", "q06", "q10"], "document": ["python-sorting-howto", "d2"], "way": ["better", "worse", "same"],
    "sort": ["worst", "best", "change", "low", "high", "id", "nDCG@10", "name"], "page": ["1", "2"], "ranks": ["5", "10", "100"],
    "batch": ["1"], "grade": ["0", "1", "3"], "file": ["qrels.txt", "bm25.run", "queries.tsv"], "role": ["run", "judgments", "ignored", ""],
    "judge": ["ann", "bob"], "slice": ["kind"], "find": ["sort", "python"], "a": ["bm25"], "b": ["reranked"], "to": ["query", "judge"],
    "scale": ["3", "0..2", "0=bad,1=good", "99999999", "1e30", "0..99999999"],
}  # fmt: skip
#: Paths that try to be others.
TRICKS = [
    "//runs", "/./runs", "/runs/../files", "/%2e%2e/etc/passwd", "/..;/runs", "/runs/", "/runs//", "/runs.json/", "/RUNS",
    "/runs%00", "/runs\x00", "/runs\n", "/static/", "/static/..", "/static/../routes.py", "/static/%2e%2e/%2e%2e/routes.py",
    "/static/..\\..\\routes.py", "/enter", "/enter/", "//enter", "/%65nter", "/login", "//login", "/login/../runs", "/favicon.ico",
    "/.env", "/.git/config", "/etc/passwd", "/C:/windows/win.ini", "/\ud800", "/\udcff", "/é", "/🦄", "/" + "a/" * 500,
    "/" + "x" * 9000, "/runs;a=b", "/runs?x", "/runs#x", "*", "", "runs", "http://evil.example/runs", "/judge.csv.json", "/{path}",
    "/report.html/", "/report.html%2f..", "/__proto__", "/<script>window.hit=1</script>", "/'\"><img src=x onerror=window.hit=1>",
]  # fmt: skip
#: Bodies that are neither a form nor JSON, or too much of it.
BODIES: list[bytes] = [
    b"", b"\x00", b"\xff\xfe", b"{", b"[", b"]", b"null", b"[]", b"1", b'"a"', b"{}{}", b'{"a":', b'{"a": NaN}', b'{"a": 1e999}',
    b'{"a": "\\ud800"}', b'{"\\udfff": 1}', b"[" * 50_000, b'{"a":' * 20_000, b'{"a": ' + b"9" * 5000 + b"}", b"%", b"%%%", b"&&&===",
    b"a" * 2**20, b"=" * 2**17, b"a=1&" * 600, b"a=%ff%fe%00", b"a=%ud800", b"\xed\xa0\x80=1", b'{"query": {"a": [[[]]]}}',
    b'{"__proto__": {"x": 1}}', b'{"query": "q01", "query": "q02"}', b"{'a': 1}", b"\xef\xbb\xbf{}", '{"é": "🦄"}'.encode("utf-16"),
]  # fmt: skip
KINDS = [
    JSON, FORM, "", "text/plain", "multipart/form-data", "multipart/form-data; boundary=x", "application/json; charset=utf-16",
    "application/json;;;", "APPLICATION/JSON", "a/b/c", "\x00", f"{FORM}; charset=utf-7", "application/xml", "application/json, text/html",
]  # fmt: skip
#: Headers that might be believed.
NAMES = [
    "host", "origin", "referer", "sec-fetch-site", "cookie", "authorization", "accept", "accept-language", "range", "content-type",
    "if-none-match", "if-modified-since", "x-forwarded-host", "x-forwarded-for", "x-forwarded-proto", "forwarded", "x-http-method-override",
    "x-original-url", "transfer-encoding", "content-length", "content-encoding", "expect", "upgrade", "connection", "user-agent", "te",
]  # fmt: skip
#: Values of wrong kinds, where a page wants text or a number.
WRONG: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**30,
    -1e300,
    [],
    {},
    [[]],
    [None],
    {"a": {"b": []}},
    ["q01"],
    {"query": "q01"},
    "",
]
#: What no page of ours has, and attributes that would run something.
FORBIDDEN = re.compile(
    rb"<(?:iframe|object|embed|base|style|math|plaintext|xmp|template|applet|frameset|marquee)\b"
    rb"|<script(?! src=\"/static/| type=\"application/json\" id=\"[\w-]+\">[^<]*</script>)|<!--|<meta (?!charset|name=\"viewport\"|http-equiv=\"refresh\" content=\"1\")", re.IGNORECASE,
)  # fmt: skip
TAG = re.compile(rb"<[a-zA-Z][^>]*>")
QUOTED = re.compile(rb'"[^"]*"')
EVENT = re.compile(rb"[\s/\"']on[a-z]+\s*=", re.IGNORECASE)
ELSEWHERE = re.compile(
    rb'\b(?:href|src|action|formaction|poster|data|xlink:href)="\s*(?!/(?!/)|#|\?)', re.IGNORECASE
)


#: What folders can hold: a store too, files alone, data that is itself hostile, nothing.
FOLDERS = ("store", "files", "hostile", "empty")


def prepared(tmp: Path, kind: str = "store") -> Client:
    """Open a folder of a kind for a team."""
    folder = tmp / "folder"
    folder.mkdir()
    if kind in ("store", "files"):
        for name in ("qrels.txt", "bm25.run", "reranked.run", "queries.tsv"):
            shutil.copy(EXAMPLES / name, folder / name)
    if kind == "hostile":
        _hostile_files(folder)
    if kind in ("store", "hostile"):
        _store(folder)
    return shared(folder, tmp / "users.toml")


def _hostile_files(folder: Path) -> None:
    """Write judgments, runs and texts of hostile strings, under names that are hostile too."""
    ids = [*dict.fromkeys(hostile.as_id(one)[:200] for one in STRINGS)]
    queries, documents = ids[:20], ids
    rows = [
        {"query": query, "doc": doc, "grade": (a + b) % 3}
        for a, query in enumerate(queries)
        for b, doc in enumerate(documents[a : a + 30])
    ]
    (folder / "qrels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name in ("<img src=x onerror=window.hit=1>.jsonl", '" onmouseover=window.hit=1 x=".jsonl'):
        own = [
            {"query": one["query"], "doc": one["doc"], "score": len(name) * index % 17}
            for index, one in enumerate(rows)
        ]
        (folder / name).write_text("\n".join(map(json.dumps, own)))
    texts = [
        {"id": query, "text": STRINGS[index][:500] or "x", "kind": STRINGS[-index - 1][:50] or "x"}
        for index, query in enumerate(queries)
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, texts)))


def _store(folder: Path) -> None:
    """Make a store with judges who disagree, and a batch to judge."""
    judged = next(one for one in folder.iterdir() if one.name.startswith("qrels"))
    texts = next(one for one in folder.iterdir() if one.name.startswith("queries"))
    docs: dict[str, Any] = {"python-sorting-howto": "sorted takes a key"}
    docs |= {
        hostile.as_id(one)[:100]: {"title": one[:300], "text": one[:3000] or "x"}
        for one in STRINGS[::-1]
    }
    pairs = [(f"q0{at % 9 + 1}", name) for at, name in enumerate(docs)]
    with il.Store.create(
        folder / "judgments.db", scale=3, queries=str(texts), docs=docs, guidelines=STRINGS[2]
    ) as store:
        import_judgments(store, str(judged), judge="ann")
        for judge, grade in (("bob", 0), ("carol", 3), (hostile.as_name(STRINGS[3]), 1)):
            store.judge(il.Judgment("q01", "python-sorting-howto", grade, judge, note=STRINGS[4]))
        store.add_batch(Batch("depth", tuple(Pooled(*pair, at) for at, pair in enumerate(pairs))))


def fields() -> list[str]:
    """Find the names of all that pages read or send, in our own source."""
    found = {"name", "password"}
    for path in sorted(SOURCE.glob("*.py")):
        text = path.read_text("utf-8")
        found.update(re.findall(r"(?:\.get\(|\[|sent, |said, )\"(\w+)\"", text))
    for path in sorted((SOURCE / "templates").glob("*.html")):
        found.update(re.findall(r"\bname=\"(\w+)\"", path.read_text("utf-8")))
    return sorted(found)


@dataclass
class Fuzzer:
    """Asks for everything in every wrong way; `seed` decides which."""

    client: Client
    seed: int
    who: str = ""
    statuses: Counter[int] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.routes = [*addresses(self.client)]
        self.fields = fields()
        state = PageState()
        names = [
            name
            for name, _ in PageState(
                **{one: _other(getattr(state, one)) for one in vars(state)}
            ).pairs()
        ]
        self.parameters = [*dict.fromkeys([*names, "x", ""])]

    def run(self, count: int, who: str) -> Fuzzer:
        """Send so many requests as somebody, or as nobody."""
        self.who = who
        asyncio.run(self._all(count, who))
        return self

    async def _all(self, count: int, who: str) -> None:
        self.client.cookies.clear()
        for _ in range(count):
            if who and not self.client.cookies:
                become(self.client, who)
            kind = self.random.choices(
                [self._page, self._action, self._trick, self._body, self._header], [50, 28, 8, 7, 7]
            )[0]
            await self._ask(*kind())
            if len(self.client.bench.door.sessions._known) > 50:
                self.client.bench.door.sessions._known.clear()
                self.client.cookies.clear()

    # -- what is asked

    def _value(self, name: str = "") -> str:
        """Return something that fits a name, something hostile, nearly a number, or known."""
        fitting = FITTING.get(name, KNOWN)
        pool = self.random.choices([STRINGS, NUMBERS, KNOWN, fitting], [4, 1, 1, 6 if name else 3])[
            0
        ]
        return self.random.choice(pool)

    def _route(self, method: str) -> Address:
        """Choose a route, mostly one that is allowed; reports take long, and our files never change."""
        known = [one for one in self.routes if one.method == method]
        allowed = [one for one in known if not self.who or one.needs in ROLES[self.who]]
        while True:
            one = self.random.choice(allowed if allowed and self.random.random() < 0.8 else known)
            rare = one.path.startswith("/static/") or one.path == "/report.html"
            if not rare or self.random.random() < 0.05:
                return one

    def _query(self) -> str:
        names = self.random.choices(self.parameters, k=self.random.randrange(5))
        pairs = [(name, self._value(name)) for name in names]
        return "&".join(f"{quote_plus(name)}={quote_plus(value[:2500])}" for name, value in pairs)

    def _page(self) -> tuple[str, str, bytes, dict[str, str]]:
        return "GET", f"{self._route('GET').path}?{self._query()}", b"", {}

    def _action(self) -> tuple[str, str, bytes, dict[str, str]]:
        one = self._route("POST")
        names = self.random.sample(self.fields, self.random.randrange(1, 7))
        if self.random.random() < 0.5:
            body = "&".join(f"{name}={quote(self._value(name))}" for name in names).encode()
            kind = FORM
        else:
            given = {name: self._anything(name) for name in names}
            if self.random.random() < 0.3:  # what a judge says, nearly
                given |= {"said": [self._said() for _ in range(self.random.randrange(4))]}
            body, kind = json.dumps(given).encode(), JSON
        return "POST", f"{one.path}?{self._query()}", body[: 2**20], {"content-type": kind}

    def _anything(self, name: str) -> Any:
        """Return a text, or something of another kind."""
        wrong = self.random.random() < 0.3
        return self.random.choice(WRONG) if wrong else self._value(name)

    def _said(self) -> Any:
        """Return one thing that a judge says: mostly right, with something else in it."""
        said: dict[str, Any] = {
            "token": str(self.random.randrange(10**6)), "query": self.random.choice(FITTING["query"]),
            "document": self.random.choice(FITTING["document"]), "grade": self.random.randrange(4),
        }  # fmt: skip
        if self.random.random() < 0.3:
            said |= {"better": "d2", "worse": "python-sorting-howto"}
        for name in self.random.sample([*said, *self.fields], self.random.randrange(3)):
            said[name] = self._anything(name)
        return said if self.random.random() < 0.95 else self.random.choice(WRONG)

    def _trick(self) -> tuple[str, str, bytes, dict[str, str]]:
        path = self.random.choice(
            [*TRICKS, "/" + self.random.choice(STRINGS), self._route("GET").path + self._value()]
        )
        method = self.random.choice(
            ["GET", "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "get", ""]
        )
        return (
            method,
            path.replace("?", "") + self.random.choice(["", "?" + self._query()]),
            b"",
            {},
        )

    def _body(self) -> tuple[str, str, bytes, dict[str, str]]:
        one, body = self._route("POST"), self.random.choice(BODIES)
        if self.random.random() < 0.3:
            body = bytes(self.random.randrange(256) for _ in range(self.random.randrange(200)))
        return "POST", one.path, body, {"content-type": self.random.choice(KINDS)}

    def _header(self) -> tuple[str, str, bytes, dict[str, str]]:
        method = self.random.choice(["GET", "POST", "HEAD"])
        chosen = self.random.sample(NAMES, self.random.randrange(1, 4))
        given = {
            name: self.random.choice(
                [self._value()[:4000], self.random.choice(KINDS), "null", HOST]
            )
            for name in chosen
        }
        body = b"{}" if method == "POST" else b""
        return method, self._route("POST" if method == "POST" else "GET").path, body, given

    # -- what is answered

    async def _ask(self, method: str, address: str, body: bytes, headers: dict[str, str]) -> None:
        """Ask as our own pages would, and look at what comes back."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        given = {
            "host": HOST,
            "sec-fetch-site": "same-origin",
            "accept": "text/html",
            "cookie": cookies,
            **headers,
        }
        path, _, query = address.partition("?")
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode(errors="replace"), "query_string": query.encode(errors="replace"),
            "root_path": "", "client": ("127.0.0.1", 50000), "server": ("127.0.0.1", 8517), "state": {},
            "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in given.items()],
        }  # fmt: skip
        half = len(body) // 2
        blocks = [body] if self.random.random() < 0.9 else [body[:half], body[half:]]
        cut = bool(body) and self.random.random() < 0.05
        try:
            answer = await (self._cut_off(scope, body) if cut else self.client._sent(scope, blocks))
        except Exception as error:
            error.add_note(f"{method} {address[:300]!r} {headers} {body[:300]!r}")
            raise
        self.check(
            answer, f"{method} {address[:300]!r} {headers} {body[:300]!r} -> {answer.status}"
        )
        self.statuses[answer.status] += 1
        self.answered[f"{method} {path}" if answer.status < 400 else "refused"] += 1
        if path == LOGOUT and answer.status == 303:
            self.client.cookies.clear()

    async def _cut_off(self, scope: dict[str, Any], body: bytes) -> Answer:
        """Send half of a body, and leave."""
        left, told = [body[: len(body) // 2]], list[Any]()

        async def receive() -> dict[str, Any]:
            if left:
                return {"type": "http.request", "body": left.pop(), "more_body": True}
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            told.append(message)

        await self.client.app(scope, receive, send)
        headers = {name.decode(): value.decode("latin-1") for name, value in told[0]["headers"]}
        return Answer(told[0]["status"], headers, b"".join(one.get("body", b"") for one in told))

    def check(self, answer: Answer, what: str) -> None:
        """Fail where an answer is a defect, or holds what could be run."""
        assert answer.status < 500, what
        assert answer.headers.items() >= HEADERS.items(), what
        assert not any("\n" in value or "\r" in value for value in answer.headers.values()), what
        if "text/html" in answer.headers.get("content-type", ""):
            if "attachment" not in answer.headers.get("content-disposition", ""):
                check_page(answer.body, what)
        else:
            assert answer.headers["x-content-type-options"] == "nosniff"


def check_page(body: bytes, what: str) -> None:
    """Fail where a page has an element, an attribute or a link that no page of ours has."""
    found = FORBIDDEN.search(body)
    assert not found, f"{what}: {found and found.group()!r}"
    for tag in TAG.findall(body):
        assert not EVENT.search(QUOTED.sub(b'""', tag)), f"{what}: {tag!r}"
        assert not ELSEWHERE.search(tag), f"{what}: {tag!r}"
        assert b"window.hit" not in QUOTED.sub(b'""', tag), f"{what}: {tag!r}"


def _other(value: Any) -> Any:
    """Return another value of the same kind, so that its name is written."""
    return ("x",) if isinstance(value, tuple) else value + 1 if isinstance(value, int) else "x"


def contents(folder: Path) -> dict[str, str]:
    """Take a hash of every file; not of what SQLite keeps beside a store while it is open."""
    kept = (
        one
        for one in folder.rglob("*")
        if one.is_file() and not one.name.endswith(("-wal", "-shm"))
    )
    return {
        one.relative_to(folder).as_posix(): hashlib.sha256(one.read_bytes()).hexdigest()
        for one in kept
    }


#: What somebody with a role may write, as patterns of the names of files in the folder.
MAY_WRITE: dict[str, str] = {
    "": r"(?!)",
    "reader": r"(?!)",
    "judge": r"judgments\.db",
    "editor": r"judgments\.db|idealist-ui\.json|evaluations/[\w.-]+\.json",
}


def fuzz(tmp: Path, seed: int, count: int) -> Iterator[tuple[str, Counter[int]]]:
    """Send so many requests as each in turn: half as a reader; look at the files after each."""
    client = prepared(tmp, FOLDERS[seed % len(FOLDERS)])
    shares = {"reader": 0.5, "": 0.1, "judge": 0.15, "editor": 0.25}
    fuzzer = Fuzzer(client, seed)
    for who, share in shares.items():
        before = contents(tmp)
        fuzzer.statuses = Counter()
        fuzzer.run(round(count * share), who)
        after = contents(tmp)
        changed = {
            name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
        }
        strange = [
            name for name in changed if not re.fullmatch(f"folder/(?:{MAY_WRITE[who]})", name)
        ]
        assert not strange, f"{who or 'nobody'} changed {strange}"
        yield who, fuzzer.statuses
    client.bench.workspace.close()
