"""Writing judgments and runs, and saying what a format cannot hold."""

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

EVERYTHING = frozenset({"columns", "subtopics", "empty", "score", "rank", "tokens"})


@dataclass(frozen=True)
class Format:
    """A way to write a table: its suffixes, which tables it is for, and what it can hold.

    `needs` names columns that it requires; missing ones are made from the order.
    """

    encode: Callable[[encode.Columns, str, Faults], bytes]
    suffixes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("qrels", "run")
    holds: frozenset[str] = EVERYTHING
    needs: tuple[str, ...] = ()


#: Every format that can be written, by name.
FORMATS: dict[str, Format] = {
    "trec": Format(
        encode.trec, ("", ".txt", ".trec", ".run", ".qrels"),
        holds=frozenset({"subtopics", "iteration", "score", "rank", "tag"}),
        needs=("rank", "score"),
    ),
    "json": Format(encode.nested, (".json",)),
    "jsonl": Format(encode.lines, (".jsonl", ".ndjson")),
    "csv": Format(encode.delimited(","), (".csv",)),
    "tsv": Format(encode.delimited("\t"), (".tsv",)),
    "parquet": Format(encode.parquet, (".parquet",)),
    "arrow": Format(encode.arrow_file, (".arrow", ".feather")),
    "msmarco": Format(encode.msmarco, kinds=("run",), holds=frozenset({"rank"}), needs=("rank",)),
    "beir": Format(
        encode.delimited("\t", query="query-id", document="corpus-id", grade="score"),
        kinds=("qrels",), holds=frozenset(),
    ),
    "quepid": Format(
        encode.delimited(",", query="query", document="docid", grade="rating"),
        kinds=("qrels",), holds=frozenset(),
    ),
    "quepid-snapshot": Format(
        encode.delimited(",", query="Query Text", document="Doc ID", rank="Doc Position"),
        kinds=("run",), holds=frozenset({"rank"}), needs=("rank",),
    ),
    "rank-eval": Format(encode.rank_eval, kinds=("qrels",), holds=frozenset({"empty"})),
    "hits": Format(encode.hits, kinds=("run",), holds=frozenset({"score", "empty"})),
}  # fmt: skip
#: The format of each suffix.
WRITTEN = {one: form for form in FORMATS.values() for one in form.suffixes}


def write_qrels(qrels: Any, path: str | Path, *, to: str = "") -> list[str]:
    """Write judgments in the format of the suffix, or in the one named `to`; say what is lost.

    >>> write_qrels({"q1": {"d1": 2}, "q2": {}}, "/dev/null", to="trec")
    ['1 query judged to have no relevant document left out']
    """
    judged, form = read_qrels(qrels), _format(path, to, "qrels")
    columns = build.of_qrels(judged)
    if judged.subtopics is not None and not _keeps_subtopics(form, columns):
        columns = build.of_qrels(judged, by_subtopic=False)
    lost = _lost_judgments(judged, form, columns)
    if form.encode is encode.rank_eval:
        lost.append("_index and request are unknown: add them before you send it")
    _write(path, form, columns, judged.name)
    return lost


def write_run(run: Any, path: str | Path, *, to: str = "") -> list[str]:
    """Write a run in the format of the suffix, or in the one named `to`; say what is lost.

    Rows keep their order, except that hits of a search engine are sorted by score: their order is
    the ranking. If a format needs ranks and there are none, they follow the scores, ties
    by document id descending; if it needs scores, they fall by one from rank to rank.

    >>> write_run({"q1": ["d3", "d1"]}, "/dev/null", to="trec")
    ['there are no scores: made up, falling from rank to rank']
    """
    found, form = read_run(run).loaded(), _format(path, to, "run")
    rows = found.rows()
    columns = build.of_rows(rows)
    lost = _lost_rows(rows, form, columns)
    if rows.tag not in ("", run_name(path)) and "tag" not in form.holds:
        lost.append(f"tag {rows.tag} left out")
    lost += [one.message for one in rows.remarks if one.code == "failed-queries"]
    lost += _add_needs(form, columns, found)
    if "rank" not in form.holds and "score" not in columns and "rank" in columns:
        lost.append("rows are sorted by rank")
        columns = _in_order(columns, found)
    if form.encode is encode.hits and "score" in columns:  # readers go by the order of hits
        sorted_columns = _by_score(columns)
        lost += [] if sorted_columns == columns else ["rows are sorted by score"]
        columns = sorted_columns
    _write(path, form, columns, rows.tag or found.name)
    return lost


def _lost_judgments(qrels: Qrels, form: Format, columns: build.Flat) -> list[str]:
    kept = qrels.columns if "columns" in form.holds else form.holds
    gone = [*(key for key in qrels.columns if key not in kept), *qrels.ignored]
    divided = qrels.subtopics is not None and "subtopic" not in columns
    return _said(
        left_out(_empty(form, columns), "query", "judged to have no relevant document"),
        gone and f"columns left out: {', '.join(gone)}",
        divided and "subtopics left out; each document has its highest grade",
        qrels.preferences and "preferences left out; each document has its highest level",
        qrels.judged_by and "what each judge said left out; the grade is made of it",
        qrels.scale and "declared scale left out",
        qrels.cover and "that these are spans is left to their ids: read them with --offsets",
        left_out(qrels.ungraded, "row", "without a grade"),
    )


def _lost_rows(rows: Rows, form: Format, columns: build.Flat) -> list[str]:
    named = {"score": "scores", "rank": "ranks", "tokens": "lengths"}
    gone = [words for key, words in named.items() if key in columns and key not in form.holds]
    return _said(
        rows.ignored and f"columns left out: {', '.join(rows.ignored)}",
        left_out(rows.unscored, "row", "without a score"),
        left_out(_empty(form, columns), "query", "without any document"),
        gone and f"{' and '.join(gone)} left out",
    )


def _said(*losses: Any) -> list[str]:
    return [words for words in losses if words]


def left_out(count: int, noun: str, what: str) -> str:
    """Say how many rows or queries a format cannot hold; nothing if there are none."""
    several = {"query": "queries", "row": "rows"}[noun]
    return f"{many(count, noun, several)} {what} left out" if count else ""


def _empty(form: Format, columns: build.Flat) -> int:
    """Count the queries without documents that the format cannot hold."""
    return 0 if "empty" in form.holds else columns["document"].count(None)


def _keeps_subtopics(form: Format, columns: build.Flat) -> bool:
    """Whether subtopics can be read back: TREC's second column shows them by repeats alone."""
    if "columns" in form.holds or "subtopics" not in form.holds:
        return "columns" in form.holds
    return bool(subtopics_in(columns["query"], columns["document"], columns["subtopic"]))


def _format(path: str | Path, to: str, kind: str) -> Format:
    if to and to not in FORMATS:
        raise UsageError(f"unknown format {to!r}", nearest(to, FORMATS))
    form = FORMATS[to] if to else _by_suffix(path)
    if kind not in form.kinds:
        others = ", ".join(name for name, one in FORMATS.items() if kind in one.kinds)
        noun = "a run" if kind == "run" else kind
        raise UsageError(f"the format {to} cannot hold {noun}", f"formats that can: {others}")
    return form


def is_trec_file(path: str | Path) -> bool:
    """Whether a file of this name is written as TREC text."""
    return WRITTEN.get(plain_suffix(path)) is FORMATS["trec"]


def _by_suffix(path: str | Path) -> Format:
    suffix = plain_suffix(path)
    if suffix not in WRITTEN:
        hint = f"use {', '.join(filter(None, WRITTEN))}, or name the format"
        raise UsageError(f"no format has the suffix {suffix}", hint)
    return WRITTEN[suffix]


def _write(path: str | Path, form: Format, columns: build.Flat, name: str) -> None:
    if "empty" not in form.holds:
        kept = [i for i, document in enumerate(columns["document"]) if document is not None]
        columns = {key: [cells[i] for i in kept] for key, cells in columns.items()}
    if "columns" not in form.holds:
        held = {"query", "document", "grade", "subtopic", *form.holds}
        columns = {key: cells for key, cells in columns.items() if key in held}
    where = "standard output" if str(path) == "-" else str(path)
    content = form.encode(columns, tag_of(name), Faults(where))
    files.write(path, files.compressed(path, content))


def tag_of(name: str) -> str:
    """Make the last column of TREC text, which is one word, of the name of a run.

    >>> tag_of("a b"), tag_of(" ")
    ('a-b', 'run')
    """
    return "-".join(name.encode(errors="replace").decode().split()) or "run"


def _usable(columns: build.Flat, form: Format) -> bool:
    """Whether every document has a rank, and ranks begin where MS MARCO's do."""
    pairs = zip(columns["document"], columns["rank"], strict=True)
    ranks = [rank for document, rank in pairs if document is not None]
    least = min((rank for rank in ranks if rank is not None), default=1)
    return None not in ranks and (least <= 1 or form.encode is not encode.msmarco)


def _add_needs(form: Format, columns: build.Flat, run: Run) -> list[str]:
    """Make the ranks or scores that a format requires, and say so.

    If ranks are all that is kept of the scores, they must follow the scores.
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
        said.append("ranks are computed again" + (", from the scores" if alone else ""))
    if "score" in form.needs and "score" not in columns:
        said.append("there are no scores: made up, falling from rank to rank")
        most = max((rank or 0 for rank in ranks), default=0)
        columns["score"] = [None if rank is None else most + 1 - rank for rank in ranks]
    return said


def _in_order(columns: build.Flat, run: Run) -> build.Flat:
    """Sort rows by rank, for a format that has nothing but an order."""
    place = _places(run)
    pairs = zip(columns["query"], columns["document"], strict=True)
    ranks = [place.get(pair, math.inf) for pair in pairs]
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    return {key: [cells[i] for i in order] for key, cells in columns.items()}


def _by_score(columns: build.Flat) -> build.Flat:
    """Sort the rows of each query by score, from the largest; rows without one come last."""
    query = {query: place for place, query in enumerate(dict.fromkeys(columns["query"]))}
    lost = {i for i, score in enumerate(columns["score"]) if score is None or math.isnan(score)}
    keys = [
        (query[name], math.inf if i in lost else -columns["score"][i])
        for i, name in enumerate(columns["query"])
    ]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return {key: [cells[i] for i in order] for key, cells in columns.items()}


def _places(run: Run) -> dict[tuple[str, str], float]:
    """Return the rank of each document, ties by document id descending; NaN scores come last."""
    ranked = listing(run, Protocol(duplicates="first", nonfinite="last"), run.rows().queries)
    return {
        (query, document): float(rank)
        for query, ranking in ranked.items()
        for rank, document in enumerate(ranking.documents, 1)
    }
