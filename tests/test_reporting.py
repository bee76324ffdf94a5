"""The report: its data is that of the verbs, its page shows it, and nothing in it executes."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import random
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from effort import SLOW, tries
from hostile import as_id, strings
from idealist.cli.main import main
from idealist.rendering.wording import number, p_value, percent, seen, signed
from idealist.reporting import stages
from idealist.reporting.lists_html import marker
from idealist.reporting.report_page import embedded

ROOT = Path(__file__).parents[1]
QRELS, BM25, RERANKED = (f"examples/{name}" for name in ("qrels.txt", "bm25.run", "reranked.run"))
TEXTS = "examples/queries.tsv"
SECTIONS = ["verdict", "real", "queries", "lost", "trust", "how"]
#: The ids that there may be: numbers and our own words, whatever was read.
IDS = re.compile(
    r"verdict|real|queries|lost|trust|how|query-table|idealist-data|(row|query)-\d+|figure-[a-z-]+"
    r"|il-[0-9a-f]{8}(-[a-z0-9-]+)?"
)


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


class Page(HTMLParser):
    """A page taken apart: its elements, the cells of its tables, the content of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": [], "title": []}
        self.tables: list[tuple[str | None, list[list[tuple[bool, str]]]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        self.elements.append((tag, own))
        if tag not in ("meta", "br", "path"):
            self.open.append(tag)
        if tag in self.inside:
            self.inside[tag].append("")
        if tag == "table":
            self.tables.append((own.get("id"), []))
        if tag == "tr" and self.tables:
            self.tables[-1][1].append([])
        if tag in ("td", "th"):
            self.tables[-1][1][-1].append((own.get("class") == "num", ""))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        held = next((tag for tag in self.inside if tag in self.open), None)
        if held:
            self.inside[held][-1] += data
            return
        self.words.append(data)
        if {"td", "th"} & {*self.open}:
            is_number, text = self.tables[-1][1][-1].pop()
            self.tables[-1][1][-1].append((is_number, text + data))

    @property
    def data(self) -> Any:
        return json.loads(self.inside["script"][0])

    @property
    def ids(self) -> list[str]:
        return [str(own["id"]) for _, own in self.elements if "id" in own]

    @property
    def links(self) -> list[str]:
        return [str(own["href"]) for tag, own in self.elements if tag == "a"]

    @property
    def queries(self) -> list[list[str]]:
        rows = next(rows for name, rows in self.tables if name == "query-table")
        return [[text for _, text in row] for row in rows]


def page_of(tmp_path: Path, *arguments: str) -> tuple[Page, str]:
    target = tmp_path / "page.html"
    main(["report", *arguments, "-o", str(target)])
    text = target.read_text("utf-8")
    return Page(text), text


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    with suppress(SystemExit):  # of an audit that found errors
        main([*arguments, "-f", "json"])
    return json.loads(capsys.readouterr().out)


def many_runs(folder: Path, count: int) -> list[str]:
    """Write runs that reorder the example, each in its own way."""
    rows = [line.split() for line in Path(BM25).read_text().splitlines()]
    paths = []
    for i in range(count):
        draw = random.Random(i)
        scores = (
            (query, doc, float(score) + draw.gauss(0, i)) for query, _, doc, _, score, _ in rows
        )
        lines = [f"{query} Q0 {doc} 0 {score:.4f} r{i}\n" for query, doc, score in scores]
        path = folder / f"run{i:02}.run"
        path.write_text("".join(lines))
        paths.append(str(path))
    return paths


# --- the data is that of the verbs


CASES = {
    "one": ([BM25], []),
    "two": ([BM25, RERANKED], []),
    "measures": (
        [BM25, RERANKED],
        ["-m", "RR@10", "-m", "nDCG@5", "-c", "sklearn", "--set", "rel=2"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_data_is_that_of_the_verbs(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, rules = CASES[case]
    data = page_of(tmp_path, QRELS, *runs, *rules)[0].data
    check_data(data, capsys, QRELS, runs, rules, runs[-1])


def test_the_data_of_twelve_runs_is_that_of_the_verbs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, rules = many_runs(tmp_path, 12), ["-m", "nDCG@10"]
    data = page_of(tmp_path, QRELS, *runs, *rules, "--baseline", runs[3])[0].data
    best = max(data["eval"]["runs"], key=lambda one: one["values"]["nDCG@10"])["run"]
    assert data["report"]["diagnosed"] == best
    base = ["--baseline", runs[3]]
    check_data(data, capsys, QRELS, runs, rules, str(tmp_path / f"{best}.run"), base)


def check_data(
    data: Any, capsys: pytest.CaptureFixture[str], qrels: str, runs: list[str], rules: list[str],
    diagnosed: str, base: list[str] | tuple[()] = (),
) -> None:  # fmt: skip
    assert list(data) == ["eval", "compare", "audit", "diagnose", "report"]
    assert data["eval"] == printed(capsys, "eval", qrels, *runs, *rules)
    if len(runs) > 1:
        assert data["compare"] == printed(capsys, "compare", qrels, *runs, *rules, *base)
    else:
        assert data["compare"] is None
    assert data["audit"] == printed(capsys, "audit", qrels, *runs, *rules)
    assert data["diagnose"] == printed(capsys, "diagnose", qrels, diagnosed, *rules)


def test_its_commands_make_the_numbers_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = tmp_path / "queries.csv"
    texts = Path(TEXTS).read_text().splitlines()[:9]
    rows = [(*line.split("\t"), i % 2) for i, line in enumerate(texts)]
    queries.write_text("query,text,kind\n" + "".join(f'{q},"{t}",k{k}\n' for q, t, k in rows))
    docs = tmp_path / "docs.tsv"
    docs.write_text("python-list-sort\tsort() sorts\n")
    page, _ = page_of(
        tmp_path, QRELS, RERANKED, BM25, "--queries", str(queries), "--slice", "kind", "-b", "bm25",
        "--set", "ties=docid-asc", "--docs", str(docs),
    )  # fmt: skip
    data = page.data
    assert len(data["report"]["queries"]["query"]) == 9
    for verb, command in zip(
        ("eval", "compare", "audit", "diagnose"), data["report"]["commands"], strict=False
    ):
        words = shlex.split(command)
        assert words[:2] == ["idealist", verb]
        assert data[verb] == printed(capsys, *words[1:])
    main(shlex.split(data["report"]["commands"][-1])[1:])
    first = data["report"]["lists"][0]
    assert first["said"] in " ".join(capsys.readouterr().out.split())


@SLOW
def test_twelve_real_runs(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    covid = data / "trec-covid-r1"
    runs = sorted(map(str, (covid / "runs").iterdir()))
    page, text = page_of(tmp_path, str(covid / "qrels.txt"), *runs)
    check_data(
        page.data,
        capsys,
        str(covid / "qrels.txt"),
        runs,
        [],
        str(covid / "runs" / "sheikh_bm25_manual"),
    )
    check_numbers(page)
    assert len(text) < 2e6


# --- the page shows the data


def numbers_of(data: Any) -> Iterator[float]:
    if isinstance(data, dict):
        yield from (one for value in data.values() for one in numbers_of(value))
    elif isinstance(data, list):
        yield from (one for value in data for one in numbers_of(value))
    elif isinstance(data, (int, float)) and not isinstance(data, bool):
        yield float(data)


def written_numbers(data: Any) -> set[str]:
    """Write every number of the data in every way that a cell may have."""
    known = {*numbers_of(data)}
    for one in data["eval"]["runs"]:  # ± is the longer half
        for label, (low, high) in one["intervals"].items():
            value = one["values"][label]
            known.add(math.nan if low is None else max(high - value, value - low))
    found: set[str] = set()
    for value in known:
        ways = number(value), signed(value), number(value, 2), number(-value), p_value(value)
        found |= {*ways, percent(value), f"{value:.1%}", f"{value:.0f}", f"{value:g}"}
    return {word for way in found for word in re.findall(r"[-+]?[\d.]+", way)} | {"-"}


def check_numbers(page: Page) -> None:
    known = written_numbers(page.data)
    looked = 0
    for _, rows in page.tables:
        for row in rows[1:]:
            for is_number, text in row:
                if is_number and text not in ("unjudged", "n/a"):
                    words = re.findall(r"[-+]?[\d.]+", text.replace("<", ""))
                    assert {*words} <= known, (text, row)
                    looked += len(words)
    assert looked > 50


@pytest.mark.parametrize("runs", [[BM25], [BM25, RERANKED]])
def test_every_number_of_the_page_is_in_the_data(runs: list[str], tmp_path: Path) -> None:
    page, _ = page_of(tmp_path, QRELS, *runs)
    check_numbers(page)


def test_the_table_of_queries_holds_all_values(tmp_path: Path) -> None:
    page, _ = page_of(tmp_path, QRELS, BM25, RERANKED, "--queries", TEXTS)
    columns = page.data["report"]["queries"]
    head, *rows = page.queries
    assert head[:5] == ["query", "difference", "text", "bm25", "reranked"]
    for i, (query, apart, text, old, new, *_) in enumerate(rows):
        assert query == columns["query"][i]
        assert text
        values = columns["values"]["bm25"][i], columns["values"]["reranked"][i]
        assert (old, new) == tuple(map(number, values))
        assert apart == signed(columns["difference"][i])
        assert columns["difference"][i] == values[1] - values[0]
    sizes = [abs(one) for one in columns["difference"]]
    assert sizes == sorted(sizes, reverse=True)
    assert len(rows) == 12
    ids = page.ids
    assert len(ids) == len({*ids})
    assert all(link.removeprefix("#") in ids for link in page.links)
    assert [one for one in ids if one in SECTIONS] == SECTIONS


def test_lists_stand_side_by_side(tmp_path: Path) -> None:
    data = page_of(tmp_path, QRELS, BM25, RERANKED, "--top", "3")[0].data
    lists = data["report"]["lists"]
    assert [one["query"] for one in lists[:3]] == data["report"]["queries"]["query"][:3]
    assert len(lists) in (3, 4)  # a third as many of the worst
    runs = {name: il.read_run(f"examples/{name}.run") for name in ("bm25", "reranked")}
    for one in lists:
        old, new = one["lists"]
        assert (old["name"], new["name"]) == ("bm25", "reranked")
        for side in (old, new):
            found = il.listing(runs[side["name"]], il.Protocol(), [one["query"]], 10)
            assert [place["document"] for place in side["places"]] == list(
                found[one["query"]].documents
            )
            assert [place["rank"] for place in side["places"]] == list(range(1, 11))
            assert math.fsum(place["adds"] for place in side["places"]) == pytest.approx(
                side["value"]
            )
        before = {place["document"]: place["rank"] for place in old["places"]}
        for place in new["places"]:
            if place["document"] in before:
                moved = before[place["document"]] - place["rank"]
                arrow = f"↑{moved}" if moved > 0 else f"↓{-moved}" if moved else "="
                assert place["move"] == arrow


def test_a_single_run_stands_beside_the_ideal_list(tmp_path: Path) -> None:
    page, _ = page_of(tmp_path, QRELS, BM25, "--top", "4", "--queries", TEXTS)
    lists = page.data["report"]["lists"]
    assert len(lists) == 4
    mine, ideal = lists[0]["lists"]
    assert ideal["name"] == "the ideal list"
    assert mine["value"] < ideal["value"]
    grades = [place["grade"] for place in ideal["places"]]
    assert grades == sorted(grades, reverse=True)
    assert "why" in page.queries[0]


def test_top_and_full_choose_the_lists(tmp_path: Path) -> None:
    found = il.report(QRELS, [BM25, RERANKED], "nDCG@10", top=0)
    assert not found.lists
    found = il.report(QRELS, [BM25, RERANKED], "nDCG@10", full=True)
    assert len(found.lists) == 12
    with pytest.raises(il.UsageError, match="number of queries"):
        il.report(QRELS, [BM25], top=-1)


def test_runs_may_have_the_names_of_columns() -> None:
    names = "query", "text", "difference", "what changed", "doubts"
    found = il.report(QRELS, dict.fromkeys(names, BM25), "nDCG@10", top=0)
    assert found.table().headers[:7] == ["query", "difference", *names]


def test_words_of_the_query_are_marked() -> None:
    mark = marker("sort a list <b>")
    assert mark("a List to <SORT>") == "a <mark>List</mark> to &lt;<mark>SORT</mark>&gt;"
    assert marker("")("<i>") == marker("a (b")("<i>") == "&lt;i&gt;"


def test_texts_of_documents_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs = tmp_path / "docs.jsonl"
    docs.write_text(
        '{"_id": "python-list-sort", "title": "Sorting <lists>", "text": "sort() sorts"}\n'
    )
    for runs in ([BM25], [BM25, RERANKED]):
        page, text = page_of(
            tmp_path, QRELS, *runs, "--docs", str(docs), "--queries", TEXTS, "--full"
        )
        assert "Sorting &lt;lists&gt;" in text
        assert "<mark>sort</mark>()" in text
        assert "sort() sorts" not in json.dumps(page.data)
        assert re.search(r"\d+ of \d+ documents shown have no text in ", capsys.readouterr().err)
        assert "documents shown have no text in" in text
        assert "absent-documents" not in text  # they are there to be read, and need not be all
        assert "Do not trust" not in text


# --- what it is safe from


def test_the_page_asks_for_nothing_and_names_what_it_runs(tmp_path: Path) -> None:
    page, _ = page_of(tmp_path, QRELS, BM25, RERANKED)
    data, script = page.inside["script"]
    (style,) = page.inside["style"]
    policy = next(own["content"] or "" for _, own in page.elements if own.get("http-equiv"))
    for directive, content in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert data.startswith("{")
    check_safe(page)
    values = (value for _, own in page.elements for name, value in own.items() if name != "xmlns")
    assert not any("//" in (value or "") for value in values)


def check_safe(page: Page) -> None:
    """Nothing but our own elements, ids and attributes."""
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert [tag for tag, _ in page.elements].count("style") == 1
    assert not {"img", "iframe", "object", "embed", "form", "base", "link", "foreignobject"} & {
        tag for tag, _ in page.elements
    }
    for tag, own in page.elements:
        for name, value in own.items():
            assert not name.startswith("on")
            assert name not in ("style", "src", "srcdoc", "formaction", "xlink:href"), (tag, own)
            if name == "href":
                assert value
                assert value.startswith("#")
                assert IDS.fullmatch(value[1:])
            if name == "id":
                assert IDS.fullmatch(value or ""), value


def test_hostile_texts_are_only_shown() -> None:
    """Every hostile string as query, document, run, text, title, note and slice."""
    ids = [one for one in dict.fromkeys(map(as_id, strings())) if is_id(one)]
    assert len(ids) > 180
    qrels = {query: {query: 2, "plain": 1} for query in ids}
    first, second = '"><script>alert(1)</script>', "</title><svg onload=alert(1)>"
    runs = {first: {q: ["plain", q, "x"] for q in ids}, second: {q: [q, "plain"] for q in ids}}
    texts = dict(zip(ids, strings(), strict=False))
    docs = {query: {"title": text, "text": text} for query, text in texts.items()}
    found = il.report(
        qrels, runs, "nDCG@10", texts={q: t or "-" for q, t in texts.items()}, docs=docs,
        slices={query: query for query in ids[:20]}, title=first, notes="\n\n".join(strings()), top=40,
    )  # fmt: skip
    text = found.render("html").encode(errors="replace").decode()
    page = Page(text)
    check_safe(page)
    shown = " ".join(" ".join(page.words).split())
    for one in ids:
        assert " ".join(seen(one).split()) in shown
    assert page.data["report"]["title"] == first
    assert {*page.data["report"]["queries"]["query"]} == {*ids}
    assert not re.search(r"<(script|img|svg)", found.markdown().replace("\\<", ""))


def is_id(text: str) -> bool:
    try:
        il.read_qrels({text: {"d": 1}})
    except il.IdealistError:
        return False
    return True


def test_data_cannot_end_its_element() -> None:
    hostile = {"a": "</script><!--\u2028\ud800&"}
    assert not re.search("[<>&\u2028\ud800]", embedded(hostile))
    assert json.loads(embedded(hostile)) == hostile


# --- forms, notes and errors


def test_the_short_form_is_for_pull_requests(capsys: pytest.CaptureFixture[str]) -> None:
    main(["report", QRELS, BM25, RERANKED, "-f", "md", "--title", "Reranking | *new*"])
    out = capsys.readouterr().out
    assert out.startswith("### Reranking | \\*new\\*\n\n**reranked is better than bm25:")
    assert "| q06 |" in out
    assert "idealist compare" in out
    assert out.count("\n") < 90


def test_without_a_file_it_is_named_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = (str(ROOT / name) for name in (QRELS, BM25))
    monkeypatch.chdir(tmp_path)
    main(["report", qrels, run, "-m", "AP"])
    assert "report.html" in capsys.readouterr().err
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    main(["report", qrels, run, "-m", "AP", "-o", "x.json"])
    assert json.loads((tmp_path / "x.json").read_text())["report"]["run"] == "bm25"


def test_notes_are_headings_lists_and_paragraphs(tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text(
        "# Why <b>\n\nA *new*\nanalyser, see [x](javascript:alert(1)).\n- one\n- two\n\n1. first\n2. second\n"
    )
    page, text = page_of(tmp_path, QRELS, BM25, "--notes", str(notes))
    check_safe(page)
    assert "<h3>Why &lt;b&gt;</h3>" in text
    assert "<ul><li>one</li><li>two</li></ul>" in text
    assert "<ol><li>first</li><li>second</li></ol>" in text
    assert "[x](javascript:alert(1))" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--notes", "gone.md"], "gone.md cannot be read"),
        (["--docs", "gone.jsonl"], "gone.jsonl"),
        (["--queries", "gone.csv"], "gone.csv"),
        (["--slice", "kind"], "--slice needs the queries"),
        (["--slice", "kind", "--queries", TEXTS], "has no column 'kind'"),
        (["--baseline", "dense"], "there is no run 'dense'"),
        (["-o", "report.csv"], "cannot be written as .csv"),
        (["-o", "report.pdf"], "cannot be written as .pdf"),
        (["--notes", sys.executable], "is no text"),
        (["-o", "no/such/folder/report.html"], "cannot write"),
        (["-o", "/dev/full"], "cannot write /dev/full: No space left"),
        (["--top", "many"], "--top"),
    ],
)
def test_mistakes_are_named(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", QRELS, BM25, RERANKED, "-m", "nDCG@10", *arguments])
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert words in said.err
    assert not said.out


def test_an_older_page_stays_where_the_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "page.html"
    target.write_text("older")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(SystemExit):
        main(["report", QRELS, BM25, "-m", "AP", "-o", str(target)])
    assert "No space left on device" in capsys.readouterr().err
    assert target.read_text() == "older"
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_ids_that_do_not_meet_are_refused_as_by_eval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.run"
    other.write_text(re.sub(r" (\S+) \d+ ", r" X\1 0 ", Path(BM25).read_text()))
    target = tmp_path / "page.html"
    said = {}
    for verb, more in (("eval", []), ("report", ["-o", str(target)])):
        with pytest.raises(SystemExit) as ended:
            main([verb, QRELS, str(other), *more])
        assert ended.value.code == 2
        said[verb] = capsys.readouterr().err.splitlines()[0]
    assert said["eval"] == said["report"]
    assert "so nothing was measured" in said["report"]
    assert not target.exists()


def test_python_data_makes_a_report_too(tmp_path: Path) -> None:
    qrels = {f"q{i}": {"a": 1, "b": 2} for i in range(6)}
    runs = {"old": {q: ["x", "a"] for q in qrels}, "new": {q: ["b", "a"] for q in qrels}}
    found = il.report(qrels, runs, ["nDCG@10", "RR"], texts={"q0": "alpha"}, docs={"a": "an alpha"})
    assert found.data()["report"]["commands"][0].startswith("idealist.compare(")
    assert found.summary.startswith("new is better than old")
    assert "<table>" in found._repr_html_()
    found.save(tmp_path / "x.html")
    check_safe(Page((tmp_path / "x.html").read_text()))
    alone = il.report(qrels, runs["old"], "RR")
    assert alone.findings.comparison is None
    assert "where 1 is perfect" in alone.summary


def test_many_runs_fit_on_a_page() -> None:
    count, size = tries(14, 100), tries(6, 50)
    queries = [f"q{i}" for i in range(size)]
    draw = random.Random(1)
    qrels = {query: {f"d{j}": draw.choice([0, 0, 1, 2]) for j in range(6)} for query in queries}
    runs = {
        f"run{i:02}": {query: draw.sample([f"d{j}" for j in range(6)], 6) for query in queries}
        for i in range(count)
    }
    found = il.report(qrels, runs, "nDCG@10", top=1)
    page = Page(found.render("html"))
    assert len(page.queries[0]) <= 6
    assert len(page.data["report"]["queries"]["values"]) == count


FLAT = {f"q{i}": {"a": 1, "b": 2} for i in range(6)}


def listed(*documents: str) -> dict[str, list[str]]:
    return {query: list(documents) for query in FLAT}


@pytest.mark.parametrize(
    ("runs", "measures", "axes", "words"),
    [
        ([listed("a", "b")] * 2, None, {}, "have the same nDCG@10 for every query"),
        ([listed("a", "b"), listed("b", "a")], "DCG@10", {}, "2.6309, against 2.2619"),
        ([listed("a"), listed("b", "a")], "NumRet", {}, "is higher than"),
        ([listed("a"), listed("u", "a")], "AP", {"aggregate": "median"}, "is worse than"),
        ([listed("u"), listed("a")], "AP", {}, "so nothing was measured"),
        ([listed("u")], "AP", {}, "nothing was measured"),
        ([listed("a")], "NumRet", {}, "reaches NumRet 6.0000 over 6 queries."),
        ([listed("a"), {"q0": ["a"]}, listed("u")], "AP", {}, "not measured"),
    ],
)
def test_odd_runs_and_measures_have_reports(
    runs: list[Any], measures: Any, axes: dict[str, Any], words: str
) -> None:
    found = il.report(FLAT, {f"r{i}": run for i, run in enumerate(runs)}, measures, **axes)
    assert words in found.summary
    check_safe(Page(found.render("html")))
    assert words in found.markdown()
    if found.findings.diagnosed == "":
        assert found.data()["diagnose"] is None
        assert "That cannot be said" in found.render("html")


def test_an_error_in_the_data_comes_first(tmp_path: Path) -> None:
    lines = Path(BM25).read_text().splitlines()
    few = [
        re.sub(r" (\S+) (\d+) ", r" X\1 \2 ", line) if i % 40 else line
        for i, line in enumerate(lines)
    ]
    other = tmp_path / "few.run"
    other.write_text("\n".join(few))
    found = il.report(QRELS, [str(other), BM25], "nDCG@10")
    page = found.render("html")
    first = "Do not trust few yet: "
    assert page.index(first) < page.index('<p class="lead unsure">')
    assert found.markdown().startswith(f"### few and bm25\n\n**{first}")


# --- what is said of each query


SHOP = {f"q{i}": {"a": 2, "b": 1, "c": 0} for i in range(10)}


def test_the_lists_say_what_explain_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, _ = page_of(tmp_path, QRELS, BM25, RERANKED, "-m", "nDCG@10", "--top", "4")
    shown = " ".join(" ".join(page.words).split())
    query = page.data["report"]["lists"][0]["query"]
    found = il.explain_difference(QRELS, BM25, RERANKED, "nDCG@10", query=query)
    lines = [*found.lines()]
    assert any(line.startswith("together: ") for line in lines)
    assert all(line in shown for line in lines)


def test_doubts_about_a_query_are_those_of_the_values_shown() -> None:
    """Ties of other measures and of other runs are not; those of the first measure all are."""
    strict = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in SHOP}
    tied = {**strict, "q3": {"a": 3.0, "b": 1.0, "c": 1.0}}
    deep = {q: {**dict.fromkeys("xyzuvwrst", 9.0), "k": 8.0, "a": 1.0, "b": 1.0} for q in SHOP}
    found = il.report(SHOP, {"old": tied, "new": strict, "third": deep}, ["nDCG@10", "AP"])
    doubts = {row.query: row.doubts for row in found.rows.rows}
    assert doubts == {query: ("ties",) if query == "q3" else () for query in SHOP}
    alone = il.report(SHOP, {"old": strict, "new": tied}, ["AP", "nDCG@10"])
    assert [row.query for row in alone.rows.rows if "ties" in row.doubts] == ["q3"]
    short = {**strict, "q7": {f"x{i}": float(-i) for i in range(100)}}  # all others, for R@100
    usual = il.report(SHOP, {"old": short, "new": strict})
    assert not any("short-lists" in row.doubts for row in usual.rows.rows)
    assert "shorter" not in usual.rows.remark


def test_unjudged_documents_are_counted_by_query() -> None:
    old = {query: ["a", "b", "c"] for query in SHOP}
    new = {**old, "q3": ["u1", "u2", "u3", "a"], "q5": ["a", "u1"]}
    rows = il.report(SHOP, {"old": old, "new": new}, "nDCG@3").rows
    counts = {row.query: row.unjudged for row in rows.rows if any(row.unjudged)}
    assert counts == {"q3": (0, 3), "q5": (0, 1)}
    assert {row.query for row in rows.rows if row.doubts} == {"q3", "q5"}
    assert "0 → 3" in next(rows.table().written())
    everywhere = {query: ["u1", "a"] for query in SHOP}
    rows = il.report(SHOP, {"old": old, "new": everywhere}, "nDCG@3").rows
    assert not any(row.doubts for row in rows.rows)
    assert "(10 of 10)" in rows.remark


def test_a_query_that_did_not_change_has_nothing_to_say() -> None:
    old = {query: ["a", "b", "c"] for query in SHOP}
    found = il.report(SHOP, {"old": old, "new": {**old, "q3": ["b", "a"]}}, "nDCG@3")
    assert [row.query for row in found.rows.rows if row.changed] == ["q3"]


def test_every_command_on_the_page_counts_the_same_queries(tmp_path: Path) -> None:
    queries = tmp_path / "some.tsv"
    queries.write_text("".join(Path(TEXTS).read_text().splitlines(keepends=True)[:8]))
    rows = [line.split() for line in Path(BM25).read_text().splitlines()]
    tied = tmp_path / "tied.run"  # and without the first query
    kept = [row for row in rows if row[0] != rows[0][0]]
    tied.write_text("".join(f"{q} Q0 {d} {r} {int(r) // -3} t\n" for q, _, d, r, _, _ in kept))
    page, text = page_of(tmp_path, QRELS, BM25, str(tied), "--queries", str(queries))
    assert "--fragility" in text
    said = [line for line in " ".join(page.words).split("idealist ") if line.startswith(VERBS)]
    commands = [line for line in said if QRELS in line]
    assert len(commands) > 8
    assert all(f"--queries {queries}" in line for line in commands)


def test_the_verdict_says_that_judging_more_could_reverse_it() -> None:
    old = {query: ["b", "u1", "u2"] for query in SHOP}
    new = {query: ["a", "v1", "v2"] for query in SHOP}
    found = il.report(SHOP, {"old": old, "new": new}, "nDCG@3")
    effect = found.findings.comparison.pair("new").unjudged  # type: ignore[union-attr]
    assert effect.overturns
    words = f"but judging the {effect.together} unjudged documents in the first 3 could reverse it"
    assert found.summary.startswith("new is better than old")
    assert words in found.summary
    assert words in found.markdown()
    judged = {
        query: {**own, **dict.fromkeys(["u1", "u2", "v1", "v2"], 0)} for query, own in SHOP.items()
    }
    assert "could reverse" not in il.report(judged, {"old": old, "new": new}, "nDCG@3").summary


def test_the_verdict_says_that_queries_are_missing_or_runs_the_same(tmp_path: Path) -> None:
    found = il.report(SHOP, {"old": {"q1": ["a"]}, "new": {"q1": ["a"]}}, "nDCG@3")
    assert "In old and new, 9 judged queries are not in the run" in found.summary
    again = tmp_path / "again.run"
    again.write_bytes(Path(BM25).read_bytes())
    same = il.report(QRELS, [BM25, str(again)], "nDCG@10")
    assert "Both files have the same content." in same.summary
    assert "--fragility" not in same.render("html")
    assert "p-value" not in same.render("html").partition('id="queries"')[0]


def test_one_query_has_no_p_value() -> None:
    found = il.report({"q": {"a": 1}}, {"old": {"q": ["x", "a"]}, "new": {"q": ["a"]}}, "RR")
    assert '<dl class="cards">' not in found.render("html")


def test_the_values_beside_an_ideal_list_are_no_change() -> None:
    found = il.report(SHOP, {query: ["c", "a"] for query in SHOP}, "nDCG@3")
    text = found.render("html")
    assert ", ideal 1.0000</span>" in text
    assert "→ 1.0000" not in text


def test_slices_come_in_the_order_of_the_file() -> None:
    slices = {f"q{9 - i}": ("head", "torso", "tail")[i // 4] for i in range(10)}
    old, new = ({query: list(own) for query in SHOP} for own in ("cab", "abc"))
    found = il.report(SHOP, {"old": old, "new": new}, "nDCG@3", slices=slices)
    assert [one.slice for one in found.findings.comparison.slices] == ["head", "torso", "tail"]  # type: ignore[union-attr]
    assert "| torso |" in found.markdown()


def test_small_reports_have_a_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["report", QRELS, BM25, "-m", "AP", "-o", str(tmp_path / "x.md")])
    assert re.search(r"x\.md, [1-9]\d* kB", capsys.readouterr().err)


VERBS = ("eval ", "compare ", "audit ", "diagnose ", "explain ")


def test_what_queries_can_show_is_said_of_a_run() -> None:
    draw = random.Random(3)
    runs = {name: {q: draw.sample("abcu", 4) for q in SHOP} for name in ("old", "new", "third")}
    found = il.compare(SHOP, runs, "nDCG@3")
    said = found.render("table")
    small = [pair.run for pair in found.pairs if pair.missed]
    assert small
    assert re.search(rf"usually be found: {', '.join(small)}\.", " ".join(said.split()))
    assert found.figure("power", run="third").says.startswith("third: ")


def test_a_report_tells_which_part_it_is_at() -> None:
    told: list[str] = []
    with stages.listening(told.append):
        il.report({"q": {"a": 1}}, {"old": {"q": ["b", "a"]}, "new": {"q": ["a"]}}, "RR")
    il.report({"q": {"a": 1}}, {"q": ["a"]}, "RR")
    assert told == ["reading and measuring", "auditing", "comparing", "setting lists side by side"]
