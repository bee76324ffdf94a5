"""What a format cannot hold of a table, in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealist import files
from idealist.data import Qrels, Rows, Run
from idealist.data.judgments import subtopics_in
from idealist.errors import Faults, UsageError, nearest
from idealist.formats import build, encode, read_qrels, read_run
from idealist.formats.source import plain_suffix, run_name
from idealist.notation import many
from idealist.protocol import Protocol
from idealist.ranking.ranked import listing

Held = frozenset[str]


def of_qrels(qrels: Qrels, holds: Held, columns: build.Flat) -> list[str]:
    """Say what judgments lose in a format that holds so much."""
    lost = []
    if (empty := columns["document"].count(None)) and "empty" not in holds:
        verb = "is" if empty == 1 else "are"
        words = many(empty, "query", "queries")
        lost.append(f"{words} judged to have no relevant document {verb} left out")
    kept = qrels.columns if "columns" in holds else holds
    if gone := [*(key for key in qrels.columns if key not in kept), *qrels.ignored]:
        lost.append(f"columns are left out: {', '.join(gone)}")
    if qrels.subtopics is not None and "subtopic" not in columns:
        lost.append("subtopics are left out; a document has the highest of its grades")
    if qrels.preferences is not None:
        lost.append("preferences are left out; a document has the highest of its levels")
    if qrels.scale is not None:
        lost.append("the declared scale is left out")
    if qrels.ungraded:
        lost.append(f"{many(qrels.ungraded, 'row', 'rows')} without a grade left out")
    return lost


def keeps_subtopics(holds: Held, columns: build.Flat) -> bool:
    """Whether subtopics can be read again: TREC's second column shows them by repeats alone."""
    if "columns" in holds or "subtopics" not in holds:
        return "columns" in holds
    return bool(subtopics_in(columns["query"], columns["document"], columns["subtopic"]))


def of_run(rows: Rows, holds: Held, columns: build.Flat) -> list[str]:
    """Say what a run loses in a format that holds so much."""
    lost = [f"columns are left out: {', '.join(rows.ignored)}"] if rows.ignored else []
    if rows.unscored:
        lost.append(f"{many(rows.unscored, 'row', 'rows')} without a score left out")
    if (empty := columns["document"].count(None)) and "empty" not in holds:
        verb = "is" if empty == 1 else "are"
        lost.append(f"{many(empty, 'query', 'queries')} without any document {verb} left out")
    named = {"score": "scores", "rank": "ranks", "tokens": "lengths"}
    gone = [words for key, words in named.items() if key in columns and key not in holds]
    if gone:
        lost.append(f"{' and '.join(gone)} are left out")
    return lost


EVERYTHING = frozenset({"columns", "subtopics", "empty", "score", "rank", "tokens"})


@dataclass(frozen=True)
class Format:
    """A way to write a table: the suffixes that mean it, for what, and what it can hold.

    `needs` names columns that it cannot do without, which are then made from the order.
    """

    encode: Callable[[encode.Columns, str, Faults], bytes]
    suffixes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("qrels", "run")
    holds: frozenset[str] = EVERYTHING
    needs: tuple[str, ...] = ()


def _held(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Every format that can be written, by name.
FORMATS: dict[str, Format] = {
    "trec": Format(
        encode.trec, ("", ".txt", ".trec", ".run", ".qrels"),
        holds=_held("subtopics iteration score rank tag"), needs=("rank", "score"),
    ),
    "json": Format(encode.nested, (".json",)),
    "jsonl": Format(encode.lines, (".jsonl", ".ndjson")),
    "csv": Format(encode.delimited(","), (".csv",)),
    "tsv": Format(encode.delimited("\t"), (".tsv",)),
    "parquet": Format(encode.parquet, (".parquet",)),
    "arrow": Format(encode.arrow_file, (".arrow", ".feather")),
    "msmarco": Format(encode.msmarco, kinds=("run",), holds=_held("rank"), needs=("rank",)),
    "beir": Format(
        encode.delimited("\t", query="query-id", document="corpus-id", grade="score"),
        kinds=("qrels",), holds=_held(""),
    ),
    "quepid": Format(
        encode.delimited(",", query="query", document="docid", grade="rating"),
        kinds=("qrels",), holds=_held(""),
    ),
    "quepid-snapshot": Format(
        encode.delimited(",", query="Query Text", document="Doc ID", rank="Doc Position"),
        kinds=("run",), holds=_held("rank"), needs=("rank",),
    ),
    "rank-eval": Format(encode.rank_eval, kinds=("qrels",), holds=_held("empty")),
    "hits": Format(encode.hits, kinds=("run",), holds=_held("score empty")),
}  # fmt: skip


def write_qrels(qrels: Any, path: str | Path, *, to: str = "") -> list[str]:
    """Write judgments; the suffix says how, or `to` names the format. Gives what is lost, in words.

    >>> write_qrels({"q1": {"d1": 2}, "q2": {}}, "/dev/null", to="trec")
    ['1 query judged to have no relevant document is left out']
    """
    judged = read_qrels(qrels)
    form = _format(path, to, "qrels")
    divided = judged.subtopics is not None
    kept = divided and keeps_subtopics(form.holds, build.of_qrels(judged))
    columns = build.of_qrels(judged, by_subtopic=kept)
    lost = of_qrels(judged, form.holds, columns)
    if form.encode is encode.rank_eval:
        lost.append("_index and request are not known: add them before you send it")
    _write(path, form, columns, judged.name)
    return lost


def write_run(run: Any, path: str | Path, *, to: str = "") -> list[str]:
    """Write a run; the suffix says how, or `to` names the format. Gives what is lost, in words.

    Rows keep their order. Where a format needs ranks and there are none, they follow the scores,
    ties by document id descending; where it needs scores, they fall by one from rank to rank.

    >>> write_run({"q1": ["d3", "d1"]}, "/dev/null", to="trec")
    ['there are no scores: some that fall from rank to rank are made up']
    """
    found = read_run(run).loaded()
    form = _format(path, to, "run")
    columns = build.of_rows(found.rows())
    lost = of_run(found.rows(), form.holds, columns)
    if found.rows().tag not in ("", run_name(path)) and "tag" not in form.holds:
        lost.append(f"the tag {found.rows().tag} is left out")
    lost += _add_needs(form, columns, found)
    if "rank" not in form.holds and "score" not in columns and "rank" in columns:
        lost.append("rows are put in the order of their ranks")
        columns = _in_order(columns, found)
    _write(path, form, columns, found.rows().tag or found.name)
    return lost


def _format(path: str | Path, to: str, kind: str) -> Format:
    if to and to not in FORMATS:
        raise UsageError(f"there is no format {to!r}", nearest(to, FORMATS))
    form = FORMATS[to] if to else _by_suffix(path)
    if kind not in form.kinds:
        others = ", ".join(name for name, one in FORMATS.items() if kind in one.kinds)
        raise UsageError(f"the format {to} is not for a {kind}", f"those that are: {others}")
    return form


def _by_suffix(path: str | Path) -> Format:
    suffix = plain_suffix(path)
    known = {one: form for form in FORMATS.values() for one in form.suffixes}
    if suffix not in known:
        hint = f"write to {', '.join(filter(None, known))}, or name the format"
        raise UsageError(f"the suffix {suffix} means no format", hint)
    return known[suffix]


def _write(path: str | Path, form: Format, columns: build.Flat, name: str) -> None:
    if "empty" not in form.holds:
        kept = [i for i, document in enumerate(columns["document"]) if document is not None]
        columns = {key: [cells[i] for i in kept] for key, cells in columns.items()}
    if "columns" not in form.holds:
        held = {"query", "document", "grade", "subtopic", *form.holds}
        columns = {key: cells for key, cells in columns.items() if key in held}
    tag = "-".join(name.encode(errors="replace").decode().split()) or "run"
    content = form.encode(columns, tag, Faults(str(path)))
    files.write(path, files.compressed(path, content))


def _usable(columns: build.Flat, form: Format) -> bool:
    """Whether every document has a rank, and they begin where MS MARCO's begin."""
    pairs = zip(columns["document"], columns["rank"], strict=True)
    ranks = [rank for document, rank in pairs if document is not None]
    least = min((rank for rank in ranks if rank is not None), default=1)
    return None not in ranks and (least <= 1 or form.encode is not encode.msmarco)


def _add_needs(form: Format, columns: build.Flat, run: Run) -> list[str]:
    """Make up the ranks or scores that a format cannot do without, and say so.

    Where the ranks are all that is kept of the scores, they have to follow these.
    """
    alone, said = "score" in columns and "score" not in form.holds, []
    old = columns.get("rank")
    if old is not None and "rank" in form.needs and (alone or not _usable(columns, form)):
        del columns["rank"]
    if not form.needs or {*form.needs} <= columns.keys():
        return []
    place = _places(run)
    pairs = list(zip(columns["query"], columns["document"], strict=True))
    ranks = columns.setdefault("rank", [place.get(pair) for pair in pairs])
    if old not in (None, ranks):
        said.append("all ranks are made anew" + (", after the scores" if alone else ""))
    if "score" in form.needs and "score" not in columns:
        said.append("there are no scores: some that fall from rank to rank are made up")
        most = max((rank or 0 for rank in ranks), default=0)
        columns["score"] = [None if rank is None else most + 1 - rank for rank in ranks]
    return said


def _in_order(columns: build.Flat, run: Run) -> build.Flat:
    """Put rows in the order of their ranks, for a format that has nothing but an order."""
    place = _places(run)
    pairs = zip(columns["query"], columns["document"], strict=True)
    ranks = [place.get(pair, math.inf) for pair in pairs]
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    return {key: [cells[i] for i in order] for key, cells in columns.items()}


def _places(run: Run) -> dict[tuple[str, str], float]:
    """Give the rank of each document, ties by document id descending; NaN scores come last."""
    ranked = listing(run, Protocol(duplicates="first", nonfinite="last"), run.rows().queries)
    return {
        (query, document): float(rank)
        for query, ranking in ranked.items()
        for rank, document in enumerate(ranking.documents, 1)
    }
