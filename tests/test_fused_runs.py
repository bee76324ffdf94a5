"""A fused run is a run: it is made of anything, measured, explained, written and read again."""

from __future__ import annotations

import gzip
import math
import random
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import idealist as il
import oracle_fusion as oracle
from effort import tries
from fusion_cases import Lists, some_judgments, some_method, some_runs
from generated import seeds
from idealist.fusing import ranked_runs
from idealist.fusing.fusing import Fusing
from idealist.fusing.methods import FUSIONS
from idealist.ranking.document_lists import decoded
from kernels import posix
from test_compare import ROOT
from test_fusion_laws import JUDGED, lists_of
from waiting import PATIENCE

QRELS, BM25, RERANKED = (
    ROOT / "examples" / name for name in ("qrels.txt", "bm25.run", "reranked.run")
)
BOTH = [BM25, RERANKED]
SUFFIXES = [".run", ".trec", ".txt", "", ".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow"]
#: Suffixes of compressed files, behind another.
PACKED = [".run.gz", ".run.xz", ".run.zst", ".jsonl.gz", ".GZ"]


def view(run: il.Run) -> list[tuple[str, list[tuple[str, str]]]]:
    """Give all that a run says, bit by bit; what has no documents is in few formats."""
    return [
        (q, [(d, s.hex()) for d, s in found.items()]) for q, found in lists_of(run).items() if found
    ]


def some_run(seed: int) -> il.Run:
    rng = random.Random(seed)
    runs = some_runs(rng, rng.choice([2, 3]), 4)
    method = some_method(rng, len(runs))
    return il.fuse(runs, method, qrels=JUDGED if method.learns else None, missing="empty")


# What is fused.


def shapes(folder: Path) -> dict[str, Any]:
    """Make the same run in many shapes."""
    import pandas as pd

    rows = [("q1", "a", 3.0), ("q1", "b", 2.0), ("q2", "b", 0.5)]
    columns = {
        name: [row[i] for row in rows] for i, name in enumerate(("query", "document", "score"))
    }
    (folder / "same.run").write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows))
    (folder / "same.csv").write_text(
        "query,document,score\n" + "".join(f"{q},{d},{s}\n" for q, d, s in rows)
    )
    (folder / "same.run.gz").write_bytes(gzip.compress((folder / "same.run").read_bytes()))
    held: dict[str, Any] = {
        "dict": {"q1": {"a": 3.0, "b": 2.0}, "q2": {"b": 0.5}},
        "pairs": {"q1": [("a", 3.0), ("b", 2.0)], "q2": [("b", 0.5)]},
        "rows": rows, "columns": columns, "frame": pd.DataFrame(columns),
        "arrays": {key: np.array(column) for key, column in columns.items()},
    }  # fmt: skip
    held |= {name: folder / name for name in ("same.run", "same.csv", "same.run.gz")}
    return held | {"read": il.read_run(held["dict"]), "text path": str(folder / "same.run")}


def test_runs_of_every_shape_are_fused_alike(tmp_path: Path) -> None:
    other = {"q1": {"b": 9.0}, "q2": {"c": 1.0}}
    found = {
        name: lists_of(il.fuse([run, other], "wsum")) for name, run in shapes(tmp_path).items()
    }
    assert list(found.values()) == [found["dict"]] * len(found)
    assert found["dict"] == {"q1": {"a": 1.0, "b": 0.0}, "q2": {"c": 0.0, "b": 0.0}}


def test_runs_may_be_named_or_come_one_by_one() -> None:
    a, b = {"q": {"x": 2.0, "y": 1.0}}, {"q": {"y": 1.0}}
    wanted = lists_of(il.fuse([a, b], "wsum", weights=[3, 1], norm="none"))
    named = {"b": b, "a": a}
    assert lists_of(il.fuse(iter([a, b]), "wsum", weights=(3, 1), norm="none")) == wanted
    assert lists_of(il.fuse(named, "wsum", weights={"a": 3, "b": 1}, norm="none")) == wanted
    assert str(il.fuse(named, "wsum", weights={"a": 3, "b": 1})) == "<Run WSUM(weights=(1,3))>"


def test_lists_without_scores_are_fused_by_rank() -> None:
    lists, scored = {"q": ["a", "b"]}, {"q": {"b": 1.0, "c": 0.5}}
    assert lists_of(il.fuse([lists, scored])) == {
        "q": {"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62}
    }
    for method in ("wsum(norm=rank)", "sum(norm=borda)", "condorcet", "isr"):
        assert next(iter(lists_of(il.fuse([lists, scored], method))["q"])) == "b"
    with pytest.raises(il.InputError, match=r"lists: the run has no scores .missing-column"):
        il.fuse({"scored": scored, "lists": lists}, "wsum")
    [b, *_] = il.explain_fusion([lists, scored], query="q").documents
    assert [(part.rank, part.score, part.normalised) for part in b.parts] == [
        (2, None, None),
        (1, 1.0, None),
    ]
    ranked = {"q": [{"document": "a", "rank": 2}, {"document": "b", "rank": 1}]}
    assert list(lists_of(il.fuse([ranked, ranked]))["q"]) == ["b", "a"]


def test_fused_runs_are_fused_again() -> None:
    inner = il.fuse(BOTH, "sum")
    assert view(il.fuse([inner, BM25])) == view(il.fuse([lists_of(inner), BM25]))


# What is done with it.


def test_a_fused_run_is_measured_like_what_was_written_of_it(tmp_path: Path) -> None:
    made = il.fuse(BOTH, "wsum", name="mine")
    il.write_run(made, tmp_path / "mine.run")
    again = il.read_run(tmp_path / "mine.run")
    assert (made.name, again.name) == ("mine", "mine")
    found, wanted = (il.evaluate(QRELS, run, ["nDCG@10", "AP", "R@5"]) for run in (made, again))
    assert found.per_query == wanted.per_query
    for ties in ("docid-asc", "input", "random(7)", "worst", "expected"):
        values = [il.evaluate(QRELS, run, "AP", ties=ties)["AP"] for run in (made, again)]
        assert values[0] == values[1]
    compared = il.compare(
        QRELS, {"bm25": BM25, "made": made, "again": again}, "nDCG@10", all_pairs=True
    )
    same = {frozenset((one.baseline, one.run)) for one in compared.pairs if not one.difference}
    assert same == {frozenset(("made", "again"))}
    assert (
        il.explain(QRELS, made, "AP", query="q01").data()
        == il.explain(QRELS, again, "AP", query="q01").data()
    )


def test_every_verb_takes_a_fused_run() -> None:
    made = il.fuse(BOTH)
    assert "RRF" in str(il.evaluate(QRELS, made, "nDCG@10"))
    assert il.compare(QRELS, [BM25, made], "nDCG@10").pairs[0].run == "RRF"
    assert il.audit(QRELS, [BM25, made]).data()
    assert "RRF" in il.report(QRELS, [BM25, made]).render("html")
    assert il.diagnose(QRELS, made).data()
    assert il.bounds(QRELS, made, "P@5").data()
    assert il.rbo_by_query(made, BM25).keys() == lists_of(made).keys()
    assert len(il.listing(made, il.Protocol(), ["q01"], 3)["q01"].documents) == 3
    assert made.held() is not None
    assert lists_of(made.renamed("other").loaded()) == lists_of(made)


def test_the_fused_order_is_ranked_as_the_rows_are() -> None:
    """Through the kernel, from packed ids, or row by row."""
    for seed in range(tries(20, 200)):
        made = some_run(seed)
        qrels = il.read_qrels(some_judgments(random.Random(seed), 3))
        protocols = [il.Protocol(ties=ties, collapse=rule, depth=depth) for ties, rule, depth in (
            ("docid-desc", "none", "none"), ("random(3)", "#.*", 2), ("input", "none", "chunks(2)"),
        )]  # fmt: skip
        packed, rows = (il.rank(qrels, run, protocols) for run in (made, made.loaded()))
        for protocol in protocols:
            for column in ("rank", "score", "judgment", "retrieved", "in_run", "first", "last"):
                assert np.array_equal(
                    getattr(packed[protocol], column), getattr(rows[protocol], column)
                )
            assert packed[protocol].unknown == rows[protocol].unknown


@pytest.mark.parametrize("suffix", [*SUFFIXES, *PACKED])
def test_what_is_written_reads_back_the_same(suffix: str, tmp_path: Path) -> None:
    for seed in range(4):
        made, path = some_run(seed), tmp_path / f"fused{suffix}"
        il.write_run(made, path)
        again = il.read_run(path)
        assert sorted(view(again)) == sorted(view(made))


# Written block by block.


@pytest.fixture
def tiny_blocks(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    return lambda size: monkeypatch.setattr(ranked_runs, "BLOCK", size)


@pytest.mark.parametrize("size", [1, 4, 9, 1000])
def test_blocks_are_as_large_as_they_may_be(size: int, tiny_blocks: Callable[[int], None]) -> None:
    tiny_blocks(size)
    runs = [il.read_run(run) for run in some_runs(random.Random(size), 3, 30)]
    ranked = ranked_runs.RankedRuns.of(runs, missing="empty")
    blocks, entries = list(ranked.blocks()), ranked.entries
    assert [i for first, last in blocks for i in range(first, last)] == list(range(30))
    assert all(last - first == 1 or entries[first:last].sum() <= size for first, last in blocks)
    together = [(first, last) for (first, _), (_, last) in pairwise(blocks)]
    assert all(entries[first:last].sum() > size for first, last in together)


@pytest.mark.parametrize("threads", ["1", "2", "7"])
@pytest.mark.parametrize("block", [1, 5, 1 << 20])
def test_blocks_and_threads_change_no_byte(
    threads: str, block: int, tiny_blocks: Callable[[int], None], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for seed in range(tries(6, 60)):
        rng = random.Random(seed)
        runs = some_runs(rng, 3, 6)
        method = some_method(rng, 3)
        options: dict[str, Any] = {"missing": "empty", "keep": rng.choice([None, 3])}
        options["qrels"] = JUDGED if method.learns else None
        monkeypatch.setenv("IDEALIST_THREADS", "1")
        tiny_blocks(1 << 20)
        wanted = il.fuse(runs, method, **options)
        lost = il.write_run(wanted, tmp_path / "wanted.run")
        monkeypatch.setenv("IDEALIST_THREADS", threads)
        tiny_blocks(block)
        fusing = Fusing.of(runs, method, **options)
        assert view(fusing.run()) == view(wanted)
        assert fusing.write(tmp_path / "found.run") == lost
        assert (tmp_path / "found.run").read_bytes() == (tmp_path / "wanted.run").read_bytes()


@pytest.mark.parametrize("suffix", [*SUFFIXES, *PACKED])
def test_every_format_is_written_as_write_run_does(suffix: str, tmp_path: Path) -> None:
    one, other = tmp_path / f"one{suffix}", tmp_path / f"other{suffix}"
    fusing = Fusing.of(BOTH, "wsum")
    assert fusing.write(one, name="a b") == il.write_run(fusing.run("a b"), other)
    assert one.read_bytes() == other.read_bytes()
    assert fusing.write(one, name="\udcff", to="msmarco") == il.write_run(
        fusing.run(), other, to="msmarco"
    )
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(("name", "tag"), [
    ("", "WSUM"), ("a  b\tc", "a-b-c"), (" ", "run"), ("\udcff", "?"), ("日本", "日本"), ("\u3000", "run"),
])  # fmt: skip
def test_the_tag_is_one_word(name: str, tag: str, tmp_path: Path) -> None:
    fusing = Fusing.of(BOTH, "wsum")
    fusing.write(tmp_path / "a.run", name=name)
    il.write_run(fusing.run(name), tmp_path / "b.run")
    text = (tmp_path / "a.run").read_text()
    assert text == (tmp_path / "b.run").read_text()
    assert {line.split(" ")[5] for line in text.splitlines()} == {tag}


#: Ids that TREC text cannot hold, as (query, document).
UNWRITABLE = [
    ("q", "a b"),
    ("q", "\t"),
    ("q", "a\x0bb"),
    ("q", "nul\0here"),
    ("#q", "a"),
    ("q 1", "a"),
    ("q", "\r"),
]


@pytest.mark.parametrize(("query", "document"), UNWRITABLE)
@pytest.mark.parametrize("target", ["x.run", "x.run.gz", "-"])
def test_ids_that_trec_cannot_hold_are_refused_before_anything_is_written(
    query: str, document: str, target: str, tmp_path: Path, tiny_blocks: Callable[[int], None],
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:  # fmt: skip
    tiny_blocks(1)
    run: Lists = {"!": {"fine": 1.0}, query: {document: 1.0, "c": 0.5}}
    fusing = Fusing.of([run, run], "rrf")
    with pytest.raises(il.InputError) as caught:
        fusing.write(target if target == "-" else tmp_path / target)
    assert caught.value.code == "bad-id"
    assert repr(document if query == "q" else query) in str(caught.value)
    assert "write .csv or .jsonl instead" in caught.value.hint
    assert not list(tmp_path.iterdir())
    assert capfdbinary.readouterr().out == b""
    assert fusing.write(tmp_path / "x.jsonl") == []
    assert view(il.read_run(tmp_path / "x.jsonl")) == view(fusing.run())


def test_a_first_line_that_reads_as_a_header_is_refused(
    tmp_path: Path, tiny_blocks: Callable[[int], None]
) -> None:
    tiny_blocks(1)
    for first in ({}, {"fine": 1.0}):
        run: Lists = {"!": first, "{q": {"a": 1.0}}
        fusing = Fusing.of([run, run], "rrf")
        if first:
            assert fusing.write(tmp_path / "x.run") == []
        else:
            with pytest.raises(il.InputError, match="cannot be the first line"):
                fusing.write(tmp_path / "y.run")
            assert not (tmp_path / "y.run").exists()


@pytest.mark.parametrize("empty", ["a", "a b", "#", "z"])
def test_queries_without_documents_are_counted(
    empty: str, tmp_path: Path, tiny_blocks: Callable[[int], None]
) -> None:
    """Whatever their ids are: no line has to hold them."""
    tiny_blocks(1)
    run: Lists = {"q": {"x": 1.0}, empty: {}}
    fusing = Fusing.of([run, run], "rrf")
    words = ["1 query without any document left out"]
    assert (
        fusing.write(tmp_path / "a.run") == words == il.write_run(fusing.run(), tmp_path / "b.run")
    )
    assert (tmp_path / "a.run").read_text() == f"q Q0 x 1 {2 / 61} RRF\n"


@posix
def test_a_pipe_gets_all_or_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; from idealist.fusing import ranked_runs; from idealist.fusing.fusing import Fusing\n"
        "ranked_runs.BLOCK = 1\n"
        "run = {'a': {'x': 1.0}, 'b': {sys.argv[1]: 1.0}}\n"
        "Fusing.of([run, run], 'rrf').write('/dev/stdout')"
    )
    for name, lines in (("y", 2), ("y z", 0)):
        done = subprocess.run(
            [sys.executable, "-c", program, name],
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert len(done.stdout.splitlines()) == lines
        assert (b"cannot be written" in done.stderr) == (not lines)


# Explained.


@given(seeds)
@settings(max_examples=tries(25, 400), deadline=None)
def test_what_runs_gave_adds_up(seed: int) -> None:
    rng = random.Random(seed)
    runs = some_runs(rng, rng.choice([2, 3]), 2)
    runs[0]["q0"]["a"] = 1.5
    method = some_method(rng, len(runs))
    options: dict[str, Any] = {"missing": "empty", "qrels": JUDGED if method.learns else None}
    found = il.explain_fusion(runs, method, query="q0", top=100, **options)
    lists = [run.get("q0", {}) for run in runs]
    entries, normalised = (
        [oracle.found(one) for one in lists],
        oracle.normalised(method.norm, lists),
    )
    fused = lists_of(il.fuse(runs, method, **options))["q0"]
    assert {one.document: one.score for one in found.documents} == fused
    assert [one.rank for one in found.documents] == list(range(1, found.candidates + 1))
    for one in found.documents:
        assert one.found_by == sum(one.document in scores for scores in lists)
        for part, own, scaled in zip(one.parts, entries, normalised, strict=True):
            rank, score = own.get(one.document, (None, None))
            assert (part.rank, part.score) == (rank, score)
            shown = rank and method.uses == "scores"  # ranks know no scores
            wanted = scaled[one.document].score if shown else None
            assert part.normalised == (
                wanted if wanted is None else pytest.approx(wanted, rel=1e-12, abs=1e-12)
            )
        if method.adds_up:
            assert math.fsum(part.gives or 0.0 for part in one.parts) == pytest.approx(
                one.score, rel=1e-12, abs=1e-12
            )
        alone = il.explain_fusion(runs, method, query="q0", document=one.document, **options)
        assert alone.documents == (one,)


@pytest.mark.parametrize("name", FUSIONS)
def test_every_method_is_explained_in_every_form(name: str) -> None:
    qrels = {"q1": {"a": 1}} if FUSIONS[name].learns else None
    runs = {"bm25": {"q1": {"a": 2.0, "b": 1.0}}, "dense": {"q1": {"b": 0.5, "<c>": 0.1}}}
    found = il.explain_fusion(runs, name, query="q1", qrels=qrels)
    assert [len(one.parts) for one in found.documents] == [2, 2, 2]
    assert "of 3 for q1: found by" in found.summary
    says = (
        "the score is the sum of what the runs give" if found.adds_up else FUSIONS[name].formula()
    )
    assert f"{name}: {says}" in " ".join(str(found).split())
    for form in ("table", "md", "latex", "html", "csv", "tsv", "json"):
        assert "bm25" in found.render(form)
    assert "<c>" not in found.render("html")
    assert [row["run"] for row in found.to_pandas().to_dict("records")] == ["bm25", "dense"] * 3
    assert found.data()["documents"][0]["parts"][0]["run"] == "bm25"


def test_the_first_documents_are_explained_and_one_that_was_not_kept() -> None:
    runs = [{"q": {f"d{i:02}": -float(i) for i in range(30)}}] * 2
    found = il.explain_fusion(runs, query="q")
    assert ([one.document for one in found.documents], found.candidates) == (
        [f"d{i:02}" for i in range(10)],
        30,
    )
    last = il.explain_fusion(runs, query="q", document="d29", keep=3)
    assert (last.documents[0].rank, last.documents[0].parts[1].rank) == (30, 30)
    assert len(il.explain_fusion(runs, query="q", window=5).documents) == 5


def test_of_many_runs_those_that_gave_most_are_named() -> None:
    lists = [{"d": 3.0, "e": 2.0}, {"e": 1.0}, {"d": 1.0, "e": 0.5}, {"f": 1.0}, {"e": 9.0}]
    runs = {name: {"q": one} for name, one in zip("vwxyz", lists, strict=True)}
    shown = il.explain_fusion(runs, query="q").render("md")
    assert "| 1 | e | 4 | w (rank 1: 0.0164), z (rank 1: 0.0164) and 2 more |" in shown
    few = {name: runs[name] for name in "vwxy"}
    assert "not found" in il.explain_fusion(few, query="q").render("md")


def test_where_nothing_adds_up_the_best_ranks_are_named_first() -> None:
    """Condorcet's runs give ranks, and OpenSearch's harmonic mean what is lowest for the best."""
    runs = {"low": {"q": {"a": 2.0, "b": 1.0}}, "high": {"q": {"b": 2.0, "a": 1.0, "c": 0.0}}}
    for method in ("condorcet", "harmonic_mean", "min"):
        found = il.explain_fusion(runs, method, query="q", document="b")
        assert found.summary.endswith("found by 2 of 2 runs, high (rank 1), low (rank 2)")


def test_decoded_names_are_text() -> None:
    assert decoded("\ud800é".encode("utf-8", "surrogatepass")) == "\ud800é"
