"""Search engines' answers: read right, or refused with a hint that works."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il
from engine_shapes import (
    EMPTY,
    REFUSED,
    SHAPES,
    TWO,
    Refused,
    Shape,
    at_path,
    changed,
    es,
    paths,
    without,
)  # fmt: skip
from idealist.cli.main import main
from idealist.errors import Faults
from idealist.formats.engines import lists
from idealist.formats.engines.responses import BODIES, ERROR_KEYS
from idealist.formats.engines.table import ENGINES, is_of
from idealist.formats.reading import Reading


def order(run: il.Run) -> dict[str, list[str]]:
    """List the documents of each query, best first."""
    rows = run.rows()
    found = {}
    for query, span in rows.spans().items():
        documents = list(rows.documents[span])
        if rows.scores is not None:
            pairs = zip(rows.scores[span].tolist(), documents, strict=True)
            documents = [d for _, d in sorted(pairs, key=lambda pair: -pair[0])]
        found[query] = documents
    return found


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_shape_is_read_as_the_run_that_it_is(shape: Shape, tmp_path: Path) -> None:
    path = shape.write(tmp_path)
    run = il.read_run(str(path), **shape.options(tmp_path))
    assert order(run) == shape.expected()
    assert shape.says in "; ".join(remark.message for remark in run.rows().remarks)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.says[:40])
def test_a_faulty_answer_is_refused_with_code_place_and_hint(case: Refused, tmp_path: Path) -> None:
    shape = case.shape()
    path = shape.write(tmp_path)
    with pytest.raises(il.InputError) as caught:
        il.read_run(str(path), **shape.options(tmp_path)).rows()
    error = caught.value
    assert error.code == case.code
    assert case.says in error.message
    assert error.message.startswith(str(tmp_path / (case.place or path.name)))
    assert case.hint in error.hint
    assert error.hint


@pytest.mark.parametrize("name", EMPTY)
def test_finding_nothing_is_no_failure(name: str, tmp_path: Path) -> None:
    answered = {"q1.json": EMPTY[name], "q2.json": EMPTY[name]}
    path = Shape("", answered, file="r/").write(tmp_path)
    rows = il.read_run(str(path)).rows()
    assert (list(rows.queries), len(rows.documents)) == (["q1", "q2"], 0)


HINTED = [case for case in REFUSED if "--columns" in case.hint or "--queries FILE" in case.hint]


@pytest.mark.parametrize("case", HINTED, ids=lambda case: case.says[:40])
def test_a_hint_that_is_followed_works(case: Refused, tmp_path: Path) -> None:
    shape = case.shape()
    path, options = str(shape.write(tmp_path)), shape.options(tmp_path)
    with pytest.raises(il.InputError) as caught:
        il.read_run(path, **options).rows()
    if named := re.search(r"--columns (\w+)=([^;\s]+)", caught.value.hint):
        options["columns"] = {named[1]: named[2]}
    elif "give the file itself" in caught.value.hint:
        path, options["queries"] = f"{path}/q1.json", {"a": "", "b": ""}
    else:
        count = 1 if "this is" in caught.value.message else 2
        options["queries"] = {f"q{n}": "" for n in range(count)}
    if "does not name" in caught.value.message:  # one is named, the other is not: name both
        path = str(replace(shape, content=[es(), es()]).write(tmp_path))
    assert order(il.read_run(path, **options))


def test_the_command_line_says_what_was_taken_for_what(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shape = Shape("", {"red_shoes.json": es(), "blue.json": es()}, file="r/", named=TWO)
    folder, queries = str(shape.write(tmp_path)), shape.options(tmp_path)["queries"]
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 s-d1 1\nq2 0 s-d2 1\n")
    words = ["--queries", queries, "--columns", "document=sku"]
    main(["eval", str(qrels), folder, "-m", "RR", *words])
    out, err = capfd.readouterr()
    assert "0.7500" in out
    assert "OpenSearch: the queries are those of" in err
    assert "the document is _source.sku, the score is _score" in err
    main(["convert", folder, str(tmp_path / "out.run"), *words])
    assert (tmp_path / "out.run").read_text().startswith("q2 Q0 s-d2 1 3.5 ")
    for verb in (["audit", "--fail-on", "never"], ["diagnose"], ["explain", "--query", "q1"]):
        main([verb[0], str(qrels), folder, "-m", "RR", *verb[1:], *words])
    main(["compare", str(qrels), folder, folder, "-m", "RR", *words])


@pytest.mark.parametrize("columns", [{"document": ["ean", "sku"]}, {"score": ["rank", "_score"]}])
def test_of_several_names_the_first_that_hits_have_counts(columns: dict[str, Any]) -> None:
    found = il.read_run({"q1": es()}, columns=columns).rows()
    one = {column: names[1] for column, names in columns.items()}
    expected = il.read_run({"q1": es()}, columns=one).rows()
    assert found.documents == expected.documents
    assert np.array_equal(np.asarray(found.scores), np.asarray(expected.scores))


def test_queries_that_only_count_rename_nothing(tmp_path: Path) -> None:
    responses = {"q1": es(), "q2": es(), "q3": es()}
    rows = il.read_run(responses, queries={"q1": "tea", "q2": "Tea"}).rows()
    assert (list(rows.queries), rows.remarks) == (["q1", "q2", "q3"], ())
    folder = Shape("", {"Tea.json": es(), "coffee.json": es()}, file="r/").write(tmp_path)
    rows = il.read_run(folder, queries={"a": "Tea", "b": "tea"}).rows()
    assert list(rows.queries) == ["a", "coffee"]
    assert "queries lacks the queries of 1 responses: 'coffee'" in str(rows.remarks)


def test_every_engine_is_in_the_documentation() -> None:
    page = Path("docs/how-to/read-other-tools.md").read_text()
    assert all(f"| {engine.name} " in page for engine in ENGINES)


def test_there_are_many_of_both() -> None:
    assert len(SHAPES) >= 25
    assert len(REFUSED) >= 60
    assert len({case.says for case in REFUSED}) >= 40


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_shape_is_of_one_engine_only(shape: Shape) -> None:
    content = shape.content
    for response in content.values() if isinstance(content, dict) else content:
        each = response if isinstance(response, dict) else {}
        known = [engine.name for engine in ENGINES if is_of(each, engine)]
        assert len(known) < 2, known


def test_names_of_queries_are_no_marks_of_engines() -> None:
    marks = {
        part
        for engine in ENGINES
        for path in (*engine.hits, *engine.shown_by, *engine.hit_by, *engine.ids, *engine.total)
        for part in path.replace("+", "/").split("/")
    }
    names = sorted({*marks, *BODIES, *ERROR_KEYS, "responses", "results", "score"} - {"requests"})
    draw = random.Random(7)
    for _ in range(300):
        queries, documents = draw.sample(names, 3), draw.sample(names, 4)
        for run in (
            {query: dict.fromkeys(documents, 1.5) for query in queries},
            dict.fromkeys(queries, documents),
            {query: [[document, 2.5] for document in documents] for query in queries},
        ):
            assert lists(run, Reading("score", Faults())) is None, run
            assert lists(run, Reading("grade", Faults())) is None, run


#: Where something can be taken away from a shape.
PLACES = [
    (shape, path) for shape in SHAPES if not shape.file.endswith("/") for path in paths(shape.content)
]  # fmt: skip


def test_a_field_that_is_dropped_or_renamed_never_yields_another_run() -> None:
    draw = random.Random(16)
    refused = 0
    for shape, path in draw.sample(PLACES, 600):
        kept, content = at_path(shape.content, path), without(shape.content, *path)
        if isinstance(path[-1], str) and draw.random() < 0.5:
            content = changed(content, kept, *path[:-1], f"x{path[-1]}")
        named = dict(line.split("\t") for line in shape.named.split("\n") if line) or None
        try:
            run = il.read_run(content, columns=shape.columns or None, queries=named)
        except il.InputError:
            refused += 1
            continue
        left = content.get("q1") if isinstance(content, dict) else None
        if left not in (
            {"response": {}},
            {"data": {}},
            {"code": 0, "cost": 0},
        ):  # could be documents
            check_same(order(run), shape, path)
    assert refused > 100


def check_same(found: dict[str, list[str]], shape: Shape, path: tuple[Any, ...]) -> None:
    """Check that what is left is the same run, named otherwise at most, or without a dropped hit."""
    whole = next(iter(shape.expected().values()))
    known = {*shape.expected(), "red shoes", "blue", "xq1", "q1", "x", "red"}
    assert found.keys() <= known, (shape.name, path)
    for documents in found.values():
        assert documents == [d for d in whole if d in documents], (shape.name, path)


def test_order_of_hits_counts_where_scores_contradict_it(tmp_path: Path) -> None:
    pinned = [{"_id": "b", "_score": 1.0}, {"_id": "a", "_score": 9.0}, {"_id": "c", "_score": 0.5}]
    run = il.read_run({"q1": {"hits": {"hits": pinned}}})
    assert order(run) == {"q1": ["b", "a", "c"]}
    assert any("does not follow" in remark.message for remark in run.rows().remarks)


def test_written_hits_keep_the_ranking_of_rows_in_any_order(tmp_path: Path) -> None:
    run = il.read_run({"q1": {"a": 1.0, "b": 3.0, "c": 2.0}})
    path = tmp_path / "hits.json"
    il.write_run(run, path, to="hits")
    assert order(il.read_run(path)) == {"q1": ["b", "c", "a"]}
