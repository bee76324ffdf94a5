"""Clean data sets and the faults that are put into them, each with what an audit must say of it."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import unicodedata
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from click.testing import CliRunner

import idealist as il
from idealist.auditing import Audit
from idealist.cli.main import cli
from idealist.formats.id_mapping import MappingFile

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
    "sections": lambda rng, i: f"sec.{i // 10}.{i % 10}",
    "uuids": lambda rng, i: str(uuid.UUID(int=rng.getrandbits(128))),
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
    "chunk -p": lambda name, rng: f"{name}-p{rng.randint(0, 40)}",
    "chunk #page=": lambda name, rng: f"{name}#page={rng.randint(0, 40)}",
    "chunk :a-b": lambda name, rng: f"{name}:{(at := 512 * rng.randint(0, 40))}-{at + 512}",
    "numbered prefix": lambda name, rng: f"corpus_{rng.randint(0, 69):02d}_{name}",
    "plus for blank": lambda name, rng: name.replace(" ", "+"),
    "backslashes": lambda name, rng: name.replace("/", "\\"),
    "dashes lost": lambda name, rng: name.replace("-", "") if len(name) == 36 else name,
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
    mends: Callable[[Data, Data, il.Doubt], bool]
    options: Callable[[Data], dict[str, Any]] = lambda data: {}

    def found(self, data: Data, broken: Data, audit: Audit) -> bool:
        """Whether the audit names the fault, with the right remedy."""
        named = [one for one in audit.findings if one.code == self.code]
        return any(self.mends(data, broken, one) for one in named)


def _documents(names: Iterable[Iterable[str]]) -> list[str]:
    return sorted({name for own in names for name in own})


def change_documents(
    qrels: Qrels, run: Run, rng: random.Random, rename: Rename, share: float, side: str,
    chunks: bool = False,
) -> Data | None:  # fmt: skip
    """Write documents otherwise, on all rows of one side or on a share of them.

    Of a document, there may be further `chunks` with lower scores.
    """
    new = renamed(_documents([*qrels.values(), *run.values()]), rename, rng)
    if new is None:
        return None
    changed: Any = {
        query: {(new[d] if rng.random() < share else d): value for d, value in own.items()}
        for query, own in (run if side == "run" else qrels).items()
    }
    for query, own in run.items() if chunks else ():
        more = {rename(d, rng): score - 1e-3 for d, score in own.items() if rng.random() < 0.5}
        changed[query] = more | changed[query]
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


@contextmanager
def files(data: Data) -> Iterator[tuple[str, str]]:
    """Write judgments and run to files, in a folder of their own where commands are run."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, own in zip(("qrels.json", "run.json"), data, strict=True):
                Path(name).write_text(json.dumps(own))
            yield "qrels.json", "run.json"
        finally:
            os.chdir(before)


def restored(data: Data, broken: Data, finding: il.Doubt) -> bool:
    """Whether the command gives the numbers of the clean data, query by query, bit by bit."""
    was: dict[str, str] = {}
    for i in (0, 1):
        was |= dict(zip(broken[i], data[i], strict=True))
    after = mended(finding.command)
    return after is not None and values(*data) == {
        label: {was.get(query, query): value for query, value in own.items()}
        for label, own in after.items()
    }


def mended(command: str) -> dict[str, dict[str, float]] | None:
    """Run what an audit of the files here proposes, and evaluate what comes of it."""
    data = {"qrels": "qrels.json", "run": "run.json"}
    axes: dict[str, Any] = {}
    for words in map(shlex.split, command.split(" && ") if command else ()):
        done = CliRunner().invoke(cli, words[1:])
        if done.exit_code:
            return None
        if words[1] == "convert":
            data[Path(words[2]).stem] = words[3]
        elif words[1] == "eval":
            assert words[2:4] == [*data.values()]
        if "--set" in words:
            axes = {"collapse": words[words.index("--set") + 1].removeprefix("collapse=")}
    if Path(axes.get("collapse", "")).is_file():
        axes["collapse"] = MappingFile(axes["collapse"])
    return values(*data.values(), **axes) if command else None


def values(qrels: Any, run: Any, **axes: Any) -> dict[str, dict[str, float]]:
    found = il.evaluate(qrels, run, MEASURES, **axes)
    return {
        label: dict(zip(found.queries, own.tolist(), strict=True))
        for label, own in found.values.items()
    }


def says_collision(data: Data, broken: Data, finding: il.Doubt) -> bool:
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
                    change = partial(
                        change_documents, rename=rename, share=share, side=side,
                        chunks="chunk" in name,
                    )  # fmt: skip
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


def injected(mutation: Mutation, rng: random.Random) -> tuple[Data, Data] | None:
    """Put a fault into the first clean data that takes it; all but ids need all to be judged."""
    shares = (1.0, 0.5) if mutation in MUTATIONS else (1.0,)
    for style in rng.sample(list(STYLES), len(STYLES)):
        data = clean(rng, rng.choice(shares), style)
        broken = mutation.inject(*data, rng)
        if broken is not None:
            return data, broken
    return None


def tried(mutation: Mutation, seed: int) -> bool | None:
    """Say whether a fault is found with the remedy that mends it, None where no data takes it."""
    case = injected(mutation, random.Random(f"{seed} {mutation.name}"))
    if case is None:
        return None
    data, broken = case
    options = {"measures": MEASURES, **mutation.options(data)}
    if mutation not in MUTATIONS:
        return mutation.found(data, broken, il.audit(*broken, **options))
    with files(broken) as names:
        audit = il.audit(*names, **options)
        audit.save_mappings("mappings")
        return mutation.found(data, broken, audit)
