"""Clean data sets and the faults that are put into them, each with what an audit must say of it."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any
from urllib.parse import quote

import idealist as il
from idealist.auditing import Audit, Finding
from idealist.auditing.mapping import mapped_qrels, mapped_run

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
Data = tuple[Qrels, Run]
Rename = Callable[[str, random.Random], str]

MEASURES = ("nDCG@10", "AP", "RR")
WORDS = [
    "sort",
    "list",
    "file",
    "join",
    "commit",
    "error",
    "index",
    "query",
    "cache",
    "token",
    "stream",
    "graph",
    "node",
    "lock",
]
TITLES = [
    "Café",
    "Zürich",
    "Łódź",
    "Ångström",
    "Señor",
    "Crème",
    "Tōkyō",
    "Besançon",
    "Malmö",
    "Århus",
    "Potsdam",
    "Köln",
]


# --- clean data sets


def _slug(rng: random.Random, i: int) -> str:
    return "-".join([*rng.sample(WORDS, 2), f"n{i}"])


def _hex(rng: random.Random, i: int) -> str:
    return f"{rng.getrandbits(48):012x}"


#: How collections name their documents, and queries.
STYLES: dict[str, Callable[[random.Random, int], str]] = {
    "numbers": lambda rng, i: str(1000 + 7 * i),
    "numbered": lambda rng, i: f"d{i}",
    "padded": lambda rng, i: f"{i + 1:07d}",
    "TREC": lambda rng, i: f"FT{rng.randint(911, 944)}-{i}",
    "MARCO": lambda rng, i: f"MARCO_D{i * 13 + 5}",
    "slugs": _slug,
    "hashes": _hex,
    "files": lambda rng, i: f"{rng.choice(WORDS)}/{rng.choice(WORDS)}{i}.html",
    "addresses": lambda rng, i: f"example.org/{rng.choice(WORDS)}/{i}",
    "titles": lambda rng, i: f"{rng.choice(TITLES)} {rng.choice(TITLES)} {i}",
    "passages": lambda rng, i: f"{rng.choice(WORDS)}{i // 3}_{i % 3}",
}
QUERY_STYLES = ("numbers", "numbered", "padded", "hashes", "slugs")


def clean(rng: random.Random, judged: float = 1.0, style: str = "") -> Data:
    """Make judgments and a run without faults; of what is retrieved, a share is judged."""
    name = STYLES[style or rng.choice(list(STYLES))]
    documents = list(dict.fromkeys(name(rng, i) for i in range(rng.randint(150, 600))))
    query = STYLES[rng.choice(QUERY_STYLES)]
    length = rng.choice([20, 50, 100])
    qrels: Qrels = {}
    run: Run = {}
    for i in range(rng.randint(8, 25)):
        some = rng.sample(documents, length + 10)
        retrieved, others = some[:length], some[length:]
        wanted = [d for d in retrieved if rng.random() < judged] + others
        key = query(rng, i + 1)
        qrels[key] = {d: rng.choice([0, 0, 1, 2]) for d in wanted}
        qrels[key][wanted[0]], qrels[key][wanted[-1]] = 2, 1  # something is relevant, at any rate
        run[key] = dict(zip(retrieved, _scores(rng, length), strict=True))
    return qrels, run


def _scores(rng: random.Random, count: int) -> list[float]:
    return [score / 7 for score in sorted(rng.sample(range(1, 100_000), count), reverse=True)]


# --- what happens to ids


def _padded(name: str, rng: random.Random) -> str:
    return re.sub(r"\d+", lambda found: found[0].zfill(9), name, count=1)


def _float(name: str, rng: random.Random) -> str:
    return f"{name}.0" if name.isdigit() else name


def _bare(name: str, rng: random.Random) -> str:
    return re.sub(r"\.html$", "", name)


#: Every transformation of ids, as it is done to them.
RENAMES: dict[str, Rename] = {
    "upper case": lambda name, rng: name.upper(),
    "lower case": lambda name, rng: name.lower(),
    "white space": lambda name, rng: rng.choice([f" {name}", f"{name} ", f"\t{name}\u00a0"]),
    "zeros added": _padded,
    "zeros lost": lambda name, rng: name.lstrip("0") or "0",
    "float for int": _float,
    "prefix": lambda name, rng: f"doc-{name}",
    "suffix": lambda name, rng: f"{name}-v2",
    "URL": lambda name, rng: f"https://www.{name}/" if name.startswith("example") else name,
    "URL with host": lambda name, rng: f"http://docs.example.com/{name}",
    "escaping": lambda name, rng: quote(name, safe=""),
    "extension": lambda name, rng: f"{name}.txt",
    "extension lost": _bare,
    "chunk #": lambda name, rng: f"{name}#{rng.randint(0, 12)}",
    "chunk _": lambda name, rng: f"{name}_{rng.randint(0, 12):04d}",
    "path": lambda name, rng: f"/srv/corpus/{name}",
    "path lost": lambda name, rng: name.rpartition("/")[2] if ".html" in name else name,
    "Unicode": lambda name, rng: unicodedata.normalize("NFD", name),
    "hash": lambda name, rng: f"8c1f07ab:{name}",
}  # fmt: skip


def renamed(names: Iterable[str], rename: Rename, rng: random.Random) -> dict[str, str] | None:
    """Rename ids; None where few are changed, or two become one."""
    new = {name: rename(name, rng) for name in names}
    changed = sum(name != other for name, other in new.items())
    return new if len(set(new.values())) == len(new) and changed > 0.7 * len(new) else None


@dataclass(frozen=True)
class Mutation:
    """A fault: how it is put into clean data, and what an audit must say.

    `inject` gives None where the fault cannot be put into this data. `mends` says whether the
    remedy is the right one, given the clean data and the data with the fault. `options` are what
    the audit is given beside, such as texts.
    """

    name: str
    code: str
    inject: Callable[[Qrels, Run, random.Random], Data | None]
    mends: Callable[[Data, Data, Finding], bool]
    options: Callable[[Data], dict[str, Any]] = lambda data: {}

    def found(self, data: Data, broken: Data, audit: Audit) -> bool:
        """Whether the audit names the fault, with the right remedy."""
        named = [one for one in audit.findings if one.code == self.code]
        return any(self.mends(data, broken, one) for one in named)


def _documents(names: Iterable[Iterable[str]]) -> list[str]:
    return sorted({name for own in names for name in own})


def change_documents(
    qrels: Qrels, run: Run, rng: random.Random, rename: Rename, share: float, side: str
) -> Data | None:
    """Write documents otherwise, on all rows of one side or on a share of them."""
    new = renamed(_documents([*qrels.values(), *run.values()]), rename, rng)
    if new is None:
        return None
    changed: Any = {
        query: {(new[d] if rng.random() < share else d): value for d, value in own.items()}
        for query, own in (run if side == "run" else qrels).items()
    }
    return (qrels, changed) if side == "run" else (changed, run)


def change_queries(
    qrels: Qrels, run: Run, rng: random.Random, rename: Rename, share: float, side: str
) -> Data | None:
    """Write queries otherwise, on one side."""
    new = renamed(qrels, rename, rng)
    if new is None:
        return None
    chosen = {query for query in qrels if rng.random() < share} or set(qrels)
    changed: Any = {
        new[query] if query in chosen else query: own
        for query, own in (run if side == "run" else qrels).items()
    }
    return (qrels, changed) if side == "run" else (changed, run)


def collide(qrels: Qrels, run: Run, rng: random.Random, rename: Rename) -> Data | None:
    """Write the documents of the run otherwise; a few lists hold another one with the old id."""
    changed = change_documents(qrels, run, rng, rename, 1.0, "run")
    if changed is None:
        return None
    new = renamed(_documents(run.values()), rename, rng)
    if new is None:
        return None
    strange: Run = {}
    for query, own in run.items():
        listed = {new[d]: score for d, score in own.items()}
        taken = rng.choice(list(own)[:10])
        strange[query] = listed | {taken: 1e-6}
    return qrels, strange


def restored(data: Data, broken: Data, finding: Finding) -> bool:
    """Whether the proposed mapping, or axis, gives the numbers of the clean data, bit by bit."""
    after = applied(broken, finding)
    return after is not None and after == values(*data)


def applied(broken: Data, finding: Finding) -> dict[str, list[float]] | None:
    qrels, run = il.read_qrels(broken[0]), il.read_run(broken[1])
    rename = {
        what: lambda name, mapping=mapping: mapping.get(name, name)
        for what, mapping in finding.mappings.items()
    }
    if "of the qrels" in finding.remedy:
        qrels = mapped_qrels(qrels, **rename)
    else:
        run = mapped_run(run, **rename)
    pattern = re.search(r"collapse=(\S+?)'?$", finding.command)
    return values(qrels, run, **({"collapse": pattern[1]} if pattern else {}))


def values(qrels: Any, run: Any, **axes: str) -> dict[str, list[float]]:
    found = il.evaluate(qrels, run, MEASURES, **axes)
    return {label: sorted(own.tolist()) for label, own in found.values.items()}


def says_collision(data: Data, broken: Data, finding: Finding) -> bool:
    """Whether ids that would become one are named and left alone."""
    mapping = finding.mappings.get("documents", {})
    apart = all(len({mapping.get(d, d) for d in own}) == len(own) for own in broken[1].values())
    return apart and "stay as they are" in finding.message


def _both(first: Rename, second: Rename, name: str, rng: random.Random) -> str:
    once = first(name, rng)
    twice = second(once, rng)
    return name if name == once or once == twice else twice  # only pairs of which both do something


def id_mutations() -> Iterator[Mutation]:
    """List the faults of ids: single, in pairs, on all rows or some, on either side, colliding."""
    pairs = {
        f"{a}, {b}": partial(_both, RENAMES[a], RENAMES[b])
        for a, b in permutations(RENAMES, 2)
        if not (a.startswith("chunk") and b.startswith("chunk"))
    }
    for kind, renames in (("one", RENAMES), ("two", pairs)):
        for name, rename in renames.items():
            sides = ("run",) if "chunk" in name else ("run", "qrels")
            for share, rows in ((1.0, "all rows"), (0.3, "30 % of rows")):
                for side in sides:
                    change = partial(change_documents, rename=rename, share=share, side=side)
                    label = f"documents, {kind}: {name}, {rows} of the {side}"
                    yield Mutation(label, "document-ids", change, restored)
                    if "chunk" not in name:
                        change = partial(change_queries, rename=rename, share=share, side=side)
                        label = f"queries, {kind}: {name}, {rows} of the {side}"
                        yield Mutation(label, "query-ids", change, restored)
    for name, rename in RENAMES.items():
        if "chunk" not in name:
            label = f"documents, colliding: {name}"
            yield Mutation(label, "document-ids", partial(collide, rename=rename), says_collision)


MUTATIONS: list[Mutation] = [*id_mutations()]
