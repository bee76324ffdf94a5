"""Documents: every block in every form, typed cells, hostile text, and what all results share."""

from __future__ import annotations

import csv
import io
import json
import math
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealist as il
from idealist.evaluating.evaluations import Evaluations
from idealist.rendering import html, latex, markdown, plain_data, terminal
from idealist.rendering.document import (
    COUNT,
    P_VALUE,
    PERCENT,
    SIGNED,
    TEXT,
    VALUE,
    Column,
    Command,
    Details,
    Document,
    Doubts,
    Estimate,
    Heading,
    Interval,
    Items,
    Marked,
    Signatures,
    Table,
    Text,
)
from idealist.rendering.doubt import Doubt
from idealist.rendering.result import FORMS, Listing, Result, form_of

TABLE = Table(
    (Column("run", TEXT), Column("AP"), Column("change", SIGNED), Column("p", P_VALUE, spare=1)),
    (("a|b", Marked(0.25, "bc"), Interval(-0.5, 0.25), 0.04), ("ü<&", None, 0.125, 1e-9)),
)
DOUBT = Doubt("ties", "3 queries have ties", 3, ("q1",), severity="note", command="idealist eval")
DOCUMENT = Document(
    (
        Text("The answer.", strong=True), Heading("Evidence"), TABLE, Items(("one", "  below it")),
        Doubts((DOUBT,), full=True), Command("idealist eval qrels.txt bm25.run"),
        Details("More", (Text("only if asked"),)),
    ),
    (Text("how it was made"), Doubts((DOUBT,)), Signatures(("AP|trec_eval",))),
    title="Title",
)  # fmt: skip


@pytest.mark.parametrize(
    "render",
    [terminal.render, markdown.render, html.fragment, latex.render],
    ids=lambda render: render.__module__,
)
def test_every_block_is_written_in_every_form(render: Any) -> None:
    written = render(DOCUMENT)
    for words in (
        "The answer.",
        "Evidence",
        "0.2500",
        "below it",
        "3 queries have ties",
        "qrels.txt",
    ):
        assert words in written


def test_names_that_differ_do_so_when_they_are_shortened() -> None:
    names = [f"model-{i}-of-the-family/graded@1" for i in range(3)]
    columns = (Column("judge", TEXT, shortens=True), *(Column(f"column {i}") for i in range(8)))
    table = Table(columns, tuple((name, *[0.5] * 8) for name in names))
    shown = terminal.render(Document((table,))).splitlines()[-3:]
    firsts = {line.split()[0] for line in shown}
    assert len(firsts) == 3
    assert all("…" in one for one in firsts)


def test_notes_go_apart_on_a_terminal_and_travel_with_a_page() -> None:
    assert "how it was made" not in terminal.render(DOCUMENT)
    said = terminal.notes(DOCUMENT)
    assert said == ["how it was made", "doubt: 3 queries have ties", "signature: AP|trec_eval"]
    for page in (markdown.render(DOCUMENT), html.fragment(DOCUMENT), latex.render(DOCUMENT)):
        assert "how it was made" in page
        assert "AP|trec_eval" in page


def test_details_are_shown_where_asked_for_and_folded_on_pages() -> None:
    assert "only if asked" not in terminal.render(DOCUMENT)
    assert "only if asked" in terminal.render(DOCUMENT, details=True)
    assert "<details><summary>More</summary>" in markdown.render(DOCUMENT)
    assert "<details open>" in markdown.render(DOCUMENT, details=True)
    assert "<details><summary>More</summary>" in html.fragment(DOCUMENT)


def test_marks_are_set_high() -> None:
    assert "0.2500ᵇᶜ" in terminal.draw(TABLE)
    assert r"0.2500\rlap{\textsuperscript{bc}}" in latex.draw(TABLE)
    assert "0.2500<sup>bc</sup>" in html.Writer().table(TABLE)


def test_programs_get_every_digit() -> None:
    table = Table((Column("x"), Column("y")), ((1 / 3, Estimate(2 / 3, 0.1)), (math.nan, None)))
    rows = list(csv.reader(io.StringIO(plain_data.separated(table, ","))))
    assert rows == [["x", "y", "y ±"], [repr(1 / 3), repr(2 / 3), "0.1"], ["", "", ""]]


@pytest.mark.parametrize(
    ("write", "cell", "shown"),
    [
        (VALUE, 0.43125, "0.4313"), (VALUE, math.nan, "-"), (VALUE, None, "-"), (COUNT, 30.0, "30"),
        (COUNT, None, "-"), (SIGNED, -0.0000001, "0.0000"), (PERCENT, 0.125, "+12.5 %"),
        (P_VALUE, 1e-9, "<0.0001"), (TEXT, None, ""), (VALUE, Estimate(0.5, math.nan), "0.5000"),
        (SIGNED, Interval(math.nan, 1.0), "-"),
    ],
)  # fmt: skip
def test_a_format_writes_a_cell(write: Any, cell: Any, shown: str) -> None:
    assert write(cell) == shown


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_hostile_cells_break_no_form(names: list[str]) -> None:
    table = Table.of(["run"], ["AP"], [[name, 0.5] for name in names])
    assert len(terminal.draw(table).splitlines()) == len(names) + 2
    read = list(csv.reader(io.StringIO(plain_data.separated(table, ","), newline="")))
    assert [row[0] for row in read[1:]] == names
    drawn = html.Writer().table(table)
    parser = _Tags()
    parser.feed(drawn)
    assert set(parser.seen) <= {"table", "thead", "tbody", "tr", "th", "td"}


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)


def test_a_wide_table_loses_spare_columns_and_shortens_names() -> None:
    wide = Table(
        (Column("document", TEXT, shortens=True), Column("AP"), Column("p", P_VALUE, spare=1)),
        (("a-very-long-document-id" * 3, 0.5, 0.04),),
    )
    fitted = terminal.fitted(wide, 60)
    assert fitted.headers == ["document", "AP", "p"]
    assert "…" in fitted.rows[0][0]
    assert terminal.fitted(wide, 20).headers == ["document", "AP"]


def test_a_result_is_saved_in_the_form_of_its_suffix(tmp_path: Path) -> None:
    one = il.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR")
    several = Evaluations((one,))
    starts = {
        ".md": "| run |", ".tex": "\\begin{tabular}", ".html": "<!doctype html>", ".csv": "run,query",
        ".tsv": "run\tquery", ".txt": " run",
    }  # fmt: skip
    for suffix, start in starts.items():
        path = tmp_path / f"result{suffix}"
        several.save(path)
        assert path.read_text().startswith(start)
        assert form_of(path) in FORMS
    several.save(tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text()) == several.data()


def test_a_listing_without_a_table_says_so() -> None:
    with pytest.raises(il.UsageError, match="has no table"):
        Listing("nothing", (Text("nothing"),), None).table()


def test_what_verbs_return_is_a_result() -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": ["b", "a"]}
    found = il.evaluate(qrels, run, "RR")
    assert isinstance(found, Result)
    assert json.loads(found.to_json()) == found.data()
    assert repr(found) == f"<Evaluation {found.summary}>"
    assert "RR" in html.render(found.report())
    assert list(found.to_pandas().columns) == ["RR"]


def test_a_suffix_that_is_no_form_is_refused() -> None:
    for name in ("x.pdf", "x.docx", "results.v2"):
        with pytest.raises(il.UsageError, match="no form"):
            form_of(name)
    assert form_of("x.TXT") == form_of("x") == "table"
