"""Tables as people have them: read right, or refused with a hint that works when it is followed."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import idealist as il
from faulty import Case
from faulty_csv import CSV_CASES
from idealist.cli.options import columns_of
from idealist.formats.column_names import ALIASES, TIERS
from idealist.formats.reading import DescribedFile, ReadOptions
from idealist.protocol import Protocol
from idealist.ranking.ranked import listing
from test_bad_input import run_command
from workbooks import workbook

#: What all of these tables say.
GOLD = {"red shoes": {"A1": 3, "A2": 0}, "hat": {"A9": 1, "A1": 2}}
HALVES = {"red shoes": {"A1": 0.75, "A2": 0}, "hat": {"A9": 1, "A1": 0.5}}
FOUND = {"red shoes": ["A2", "A1"], "hat": ["A9", "A1"]}


@dataclass(frozen=True)
class Shape:
    """A file, what its user says about it, and what is read; `says` is part of the first error."""

    name: str
    content: str | bytes
    options: str = ""
    says: str = ""
    holds: Any = None  # GOLD, or FOUND for a run

    @property
    def is_run(self) -> bool:
        return self.name.startswith("run")


def gold(*rows: str, grades: str = "3012") -> str:
    """Fill rows of a table: Q, D and G stand for query, document and grade."""
    pairs = [(q, d) for q, judged in GOLD.items() for d in judged]
    cells = zip(pairs, grades.split() if " " in grades else grades, strict=True)
    pattern = rows[-1]
    made = [pattern.format(Q=q, D=d, G=g, n=n) for n, ((q, d), g) in enumerate(cells, 1)]
    return "\n".join([*rows[:-1], *made, ""])


def ranked(*rows: str, scores: str = "9.5 8.5 7.5 7.25") -> str:
    """Fill rows of a run: R stands for the rank and S for the score."""
    pairs = [(q, d, r) for q, found in FOUND.items() for r, d in enumerate(found, 1)]
    cells = zip(pairs, scores.split(), strict=True)
    made = [rows[-1].format(Q=q, D=d, R=r, S=s) for (q, d, r), s in cells]
    return "\n".join([*rows[:-1], *made, ""])


HALF = "0,75 0 1 0,5"
SHAPES = [
    Shape("esci.csv", gold("example_id,query,query_id,product_id,product_locale,esci_label",
                           "{n},some text,{Q},{D},us,{G}")),
    Shape("homedepot.csv", gold('"id","product_uid","product_title","search_term","relevance"',
                                '{n},{D},"Shoes, ""red""","{Q}",{G}')),
    Shape("wands.csv", gold("id\tquery_id\tproduct_id\tlabel", "{n}\t{Q}\t{D}\t{G}")),
    Shape("quepid.csv", gold("query,docid,rating", "{Q},{D},{G}")),
    Shape("coveo.csv", gold("Query;URI Hash;Judgement", "{Q};{D};{G}")),
    Shape("algolia.csv", gold("query,objectID,relevance", "{Q},{D},{G}")),
    Shape("lucidworks.tsv", gold("query_string\tdoc_id\tgain", "{Q}\t{D}\t{G}")),
    Shape("seo.csv", gold("Keyword,URL,Stars", "{Q},{D},{G}")),
    Shape("amazon.csv", gold("SEARCH TERM,ASIN,Star Rating", "{Q},{D},{G}")),
    Shape("shop.csv", gold("SearchTerm,SKU,title,Judgment", '{Q},{D},"a, b",{G}')),
    Shape("beir.tsv", gold("query-id\tcorpus-id\tscore", "{Q}\t{D}\t{G}")),
    Shape("pipes.txt", gold("topic|passage|label", "{Q}|{D}|{G}")),
    Shape("excel.csv", "\ufeffsep=;\r\n" + gold("Query;Document;Grade", "{Q};{D};{G}").replace("\n", "\r\n")),
    Shape("comments.csv", gold("# exported 2026-01-01", "", "# by shop", "query,sku,rel", "{Q},{D},{G}")),
    Shape("trailing.csv", gold("query,document,grade,,", "{Q},{D},{G},,")),
    Shape("ragged.csv", gold("query,document,grade", "{Q},{D},{G},,")),
    Shape("blank.csv", gold("query,document,grade", "{Q},{D},{G}\n\n , \t,\n,,")),
    Shape("notes.csv", gold("query,document,grade,", "{Q},{D},{G},my note")),
    Shape("pandas.csv", gold(",query,document,grade", "{n},{Q},{D},{G}")),
    Shape("spacers.csv", gold("query,,document,,grade", "{Q},,{D},,{G}")),
    Shape("two-lines.csv", gold('query,"star\n rating","doc\nid"', "{Q},{G},{D}")),
    Shape("odd-name.csv", gold('query,document,"Note\n(0-3)"', "{Q},{D},{G}"),
          '"grade=Note\n(0-3)"', "the judgments have no grades"),
    Shape("blanks.csv", gold("query, document, grade", "{Q}, {D}, {G}")),
    Shape("crlf.csv", gold("query,document,grade", "{Q},{D},{G}").replace("\n", "\r\n")),
    Shape("no-end.csv", gold("query,document,grade", "{Q},{D},{G}").rstrip("\n")),
    Shape("german.csv", gold("Suchbegriff;Artikel Nr;Bewertung", "{Q};{D};{G}"),
          "query=suchbegriff,document=ARTIKEL_NR,grade=Bewertung", "names neither"),
    Shape("french.csv", gold("Requête;Réf. produit;Pertinence (0-3)", "{Q};{D};{G}"),
          "query=Requête,document=Réf. produit,grade=Pertinence (0-3)", "names neither"),
    Shape("spanish.txt", gold("búsqueda\tartículo\tvaloración", "{Q}\t{D}\t{G}"),
          "query=búsqueda,document=artículo,grade=valoración", "names neither"),
    Shape("commas.csv", gold('search,"article, number",grade', "{Q},{D},{G}"),
          '"document=article, number"', "no document column"),
    Shape("half.txt", gold("query;Artikel;grade", "{Q};{D};{G}"), "document=Artikel", "no document"),
    Shape("grades.csv", gold("query,document,Note,date", "{Q},{D},{G},2026-01-01"), "grade=Note", "no grades"),
    Shape("two-ids.csv", gold("query,product_id,sku,grade", "{Q},{D},x{n},{G}"),
          "document=product_id", "product_id and sku could each be the document"),
    Shape("two-grades.csv", gold("query,document,label,rating", "{Q},{D},{G},7"),
          "grade=label", "label and rating could each be the grade"),
    Shape("headless.csv", gold("{Q},{D},{G}"), "query,document,grade", "names neither"),
    Shape("headless.txt", gold("{G};{Q};x;{D}"), "grade,query,-,document", "names neither"),
    Shape("headless.tsv", gold("{Q}\t{D}\t{G}").replace("red shoes", "shoes"),
          "query,document,grade", "3 columns, 4 expected"),
    Shape("spaces.txt", gold("{Q} {D} {G}").replace("red shoes", "shoes"),
          "query,document,grade", "3 columns, 4 expected"),
    Shape("trec.csv", gold("{Q},0,{D},{G}"), "query,-,document,grade", "names neither"),
    Shape("decimals.csv", gold("query;document;grade", "{Q};{D};{G}", grades=HALF), holds=HALVES),
    Shape("quoted.csv", gold("query,document,grade", '{Q},{D},"{G}"', grades=HALF), holds=HALVES),
    Shape("thousands.csv", gold("query;document;grade", "{Q};{D};{G}", grades="3,000 0 1,000 2,000"),
          "--decimal comma", "could be a decimal or a thousand"),
    Shape("run-rank.csv", ranked("search_term,sku,position", "{Q},{D},{R}")),
    Shape("run-console.csv", ranked("Query,Page,Clicks,Impressions,CTR,Position", "{Q},{D},9,99,9%,{R}")),
    Shape("run-pyterrier.tsv", ranked("qid\tdocid\tdocno\trank\tscore\tquery", "{Q}\t17\t{D}\t0\t{S}\tx")),
    Shape("run-comma.csv", ranked("query;document;score", "{Q};{D};{S}", scores="12,345 9,5 1,25 1,2")),
    Shape("run-thousands.csv", ranked("query;document;score", "{Q};{D};{S}", scores="2,000 1,500 1,200 12"),
          "--decimal point", "could be a decimal or a thousand"),
    Shape("run-wide.csv", "query,doc1,doc2,doc3\n" + "".join(f"{q},{','.join(d)},\n" for q, d in FOUND.items())),
    Shape("run-top.csv", "Search Term;#1;#2\n" + "".join(f"{q};{';'.join(d)}\n" for q, d in FOUND.items())),
    Shape("run-headless.csv", ranked("{Q},{D},{S}"), "query,document,score", "names neither"),
    Shape("titles.csv", gold("search query;Nr;Titel;Grad", "{Q};{D};a red one {n};{G}").replace("A", "10"),
          "document=Nr,grade=Grad", "no document column",
          {"red shoes": {"101": 3, "102": 0}, "hat": {"109": 1, "101": 2}}),
    Shape("run-numbers.csv", "query,1,2\n" + "".join(f"{q},{','.join(d)}\n" for q, d in FOUND.items())),
    Shape("run-ahrefs.csv", ranked("#,Keyword,Volume,URL,Position", "7,{Q},100,{D},{R}")),
    Shape("run-comma.txt", ranked("{Q};{D};{S}", scores="0,9 0,5 0,7 0,6"), "query,document,score", "names neither"),
    Shape("run-volumes.csv", ranked("{Q};100;{D};{R}"), "query,-,document,rank", "names neither"),
    Shape("run-headless.txt", ranked("{Q}|{D}|{R}"), "query,document,rank", "names neither"),
    Shape("run-pairs.csv", ranked("{Q},{D}"), "query,document", "names neither"),
    Shape("run-floats.tsv", ranked("{Q}\t{D}\t{S}").replace("red shoes", "shoes"),
          "query,document,score", "3 columns, 6 expected"),
    Shape("run-points.txt", ranked("Suche\tArtikel\tPunkte", "{Q}\t{D}\t{S}"),
          "query=Suche,document=Artikel,score=Punkte", "names neither"),
    Shape("run-scores.csv", ranked("query,document,score,similarity", "{Q},{D},{S},0"),
          "score=score", "score and similarity could each be the score"),
]  # fmt: skip


def said(path: Path, words: list[str]) -> DescribedFile:
    """Say about a file what was written on the command line."""
    lists = [
        word for flag, word in zip(words[::2], words[1::2], strict=True) if flag == "--columns"
    ]
    decimal: Any = words[words.index("--decimal") + 1] if "--decimal" in words else None
    names, layouts = columns_of(lists)
    return ReadOptions(names, tuple(layouts), decimal).of(path)


def held(data: Any, shape: Shape) -> Any:
    """Give what is read: grades, or rankings."""
    if not shape.is_run:
        qrels = il.read_qrels(data)
        return {
            q: dict(zip(qrels.documents[a:b], qrels.grades[a:b], strict=True))
            for q, a, b in qrels.spans()
        }
    run = il.read_run(data)
    queries = [query.replace("red shoes", "shoes") for query in FOUND] + list(FOUND)
    return {q: found.documents for q, found in listing(run, Protocol(), queries).items()}


def expected(shape: Shape) -> Any:
    whole = shape.holds or (FOUND if shape.is_run else GOLD)
    short = isinstance(shape.content, str) and "red shoes" not in shape.content
    return {q.replace("red shoes", "shoes") if short else q: found for q, found in whole.items()}


def proposed(error: il.InputError) -> list[list[str]]:
    """Find the options that a hint proposes."""
    found = re.findall(r"--(?:columns|decimal) .*?(?=; |,? or |\Z)", error.hint, re.DOTALL)
    return [shlex.split(words) for words in found]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_table_is_read_or_its_hint_works(shape: Shape, tmp_path: Path) -> None:
    path = tmp_path / shape.name
    content = shape.content if isinstance(shape.content, bytes) else shape.content.encode()
    path.write_bytes(content)
    if not shape.says:
        assert held(path, shape) == expected(shape)
        return
    with pytest.raises(il.InputError) as refused:
        held(path, shape)
    assert shape.says in refused.value.faults[0].message
    words = (
        shape.options
        if shape.options.startswith("--")
        else f"--columns {shlex.quote(shape.options)}"
    )
    assert held(said(path, shlex.split(words)), shape) == expected(shape)
    readings = [held(said(path, option), shape) for option in proposed(refused.value)]
    assert expected(shape) in readings


def test_there_are_many_shapes_and_faults() -> None:
    assert len(SHAPES) >= 50
    assert len({(case.content, case.options) for case in CSV_CASES}) == len(CSV_CASES) >= 100


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=f"{c.fault}-{n}") for n, c in enumerate(CSV_CASES)]
)
def test_a_malformed_table_is_refused(case: Case, tmp_path: Path) -> None:
    path = case.path(tmp_path)
    assert isinstance(case.content, bytes)
    path.write_bytes(case.content)
    data = said(path, [word for one in case.options for word in ("--columns", one)])
    with pytest.raises(il.InputError) as refused:
        il.read_run(data).rows() if case.side == "run" else il.read_qrels(data)
    error = refused.value
    assert (error.code, error.line) == (case.code, case.line)
    assert case.says in error.faults[0].message
    assert error.hint or case.code == "empty"


JUDGED = "Suche;Artikel Nr;Note\nhut;A1;1\nhut;A2;0\n"
RETRIEVED = "query,produit,score\nhut,A2,2\nhut,A1,1\n"
NAMES = ["--columns", "query=suche,document=artikel nr,grade=NOTE", "--columns", "document=produit"]


def test_names_are_given_for_all_files_at_once(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.csv", tmp_path / "run.csv"
    qrels.write_text(JUDGED)
    run.write_text(RETRIEVED)
    files, first = [str(qrels), str(run)], ["-m", "RR", "-f", "tsv", "-q"]
    verbs = [
        ["compare", *files, str(run)], ["audit", *files], ["diagnose", *files],
        ["gate", *files, str(run)], ["explain", *files, "--query", "hut"],
        ["reconcile", *files, "-m", "RR", "--value", "0.5"],
        ["convert", str(run), str(tmp_path / "out.json"), "--kind", "run"],
        ["power", *files, str(run), "-m", "RR", "--difference", "0.1"],
    ]  # fmt: skip
    for words in verbs:
        outcome = run_command([*words, *NAMES])
        assert "column" not in outcome.err + outcome.out
    assert run_command(["eval", *files, *first, *NAMES]).out.splitlines()[1].endswith("\t0.5")
    lacking = run_command(["eval", *files, *NAMES[:3], "document=produkt"])
    assert lacking.code == 2
    assert "no file has a column 'produkt' to be the document" in lacking.err
    assert "did you mean produit? " in lacking.err
    assert f"{qrels} has Suche, Artikel Nr, Note; {run} has query, produit, score" in lacking.err


def test_hints_followed_one_by_one_lead_to_a_number(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.csv", tmp_path / "run.txt"
    qrels.write_text("A1;hut;1\nA2;hut;0\nA1;cap;2\n")
    run.write_text("hut|x|A2|0.5\nhut|x|A1|0.25\ncap|x|A1|1\n")
    words: list[str] = []
    for _ in range(2):
        outcome = run_command(["eval", str(qrels), str(run), *words])
        assert outcome.code == 2
        words = shlex.split(outcome.err[outcome.err.index("--columns") :])
    assert words == ["--columns", "document,query,grade", "--columns", "query,-,document,score"]
    outcome = run_command(["eval", str(qrels), str(run), *words, "-m", "RR", "-f", "tsv", "-q"])
    assert outcome.out.splitlines()[1].endswith("\t0.75")


@pytest.mark.parametrize(("words", "says"), [
    ("document", "cannot be read"), ("document=", "cannot be read"), ("=sku", "cannot be read"),
    ("query,document,grade=x", "cannot be read"), ("dokument=sku", "no column 'dokument'"),
    ("query,document,grad", "no column 'grad'"), ("query,grade", "lacks the query or the document"),
    ("query,document,grade,qid", "names query twice"), ("", "cannot be read"),
])  # fmt: skip
def test_names_that_cannot_be_meant_are_refused(words: str, says: str) -> None:
    outcome = run_command(["eval", "a.csv", "b.csv", "--columns", words])
    assert outcome.code == 2
    assert says in outcome.err
    assert "hint: " in outcome.err


def test_two_lists_for_one_kind_of_file_are_refused() -> None:
    lists = ("query", "document", "score"), ("query", "document", "rank")
    with pytest.raises(il.UsageError, match="could each be the columns of one file"):
        ReadOptions(layouts=lists)


def test_what_was_taken_for_what_is_said(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.csv", tmp_path / "run.csv"
    qrels.write_text("search_term,product_id,stars\nhut,A1,1\nhut,A2,0\n")
    run.write_text("query,document,punkte\nhut,A2,5\nhut,A1,9\n")
    said_so = [
        doubt.message for doubt in il.evaluate(qrels, run, "RR").doubts if doubt.code == "read-as"
    ]
    assert said_so == [
        f"{qrels}: query = search_term, document = product_id, grade = stars",
        f"{run}: ranked in the order of its rows; if punkte is the score: --columns score=punkte",
    ]
    plain = tmp_path / "plain.csv"
    plain.write_text("qid,docno,label\nhut,A1,1\n")
    assert not il.read_qrels(plain).remarks


SHEETS: dict[str, list[list[Any]]] = {
    "Gold": [[None] * 4, ["Search Term", None, "Product ID", "Rating"], ["hut", None, 17, 2], [],
             ["hut", None, "A2", 0.5], ["hut", None, 18.0, None]],
    "My run": [["query", "document", "score"], ["hut", "A2", 2], ["hut", 17, 1.5]],
}  # fmt: skip


def test_a_sheet_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "shop.xlsx"
    path.write_bytes(workbook({"Gold": SHEETS["Gold"]}))
    qrels = il.read_qrels(path)
    assert qrels.hash == il.read_qrels({"hut": {"17": 2, "A2": 0.5}}).hash
    path.write_bytes(workbook(SHEETS))
    with pytest.raises(il.InputError, match="this file has 2 sheets: Gold, My run") as refused:
        il.read_qrels(path)
    assert shlex.split(refused.value.hint)[-1] == f"{path}#Gold"
    with pytest.raises(il.InputError, match=r"there is no sheet 'gold'(.|\n)*did you mean Gold"):
        il.read_qrels(f"{path}#gold")
    outcome = run_command(
        ["eval", f"{path}#Gold", f"{path}#My run", "-m", "RR(rel=2)", "-f", "tsv", "-q"]
    )
    assert outcome.out.splitlines()[1].split("\t") == ["My run", "all", "RR(rel=2)", "0.5"]


@pytest.mark.parametrize(("rows", "code", "says", "line"), [
    ([["query", "document", "grade"], ["q", 10**16, 1]], "bad-id", "document 1e+16", 2),
    ([["query", "document", "grade"], ["q", "d", "x"]], "bad-grade", "grade 'x'", 2),
    ([["a", "b", "c"], ["q", "d", 1]], "missing-column", "no query column", None),
    ([["query", "query", "grade"]], "columns", "two columns are called 'query'", 1),
    ([], "empty", "the sheet is empty", None),
])  # fmt: skip
def test_a_bad_sheet_is_refused(
    rows: list[list[Any]], code: str, says: str, line: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook({"Sheet1": rows}))
    with pytest.raises(il.InputError) as refused:
        il.read_qrels(path)
    assert (refused.value.code, refused.value.line) == (code, line)
    assert says in refused.value.faults[0].message


def test_a_damaged_workbook_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, whole = tmp_path / "a.xlsx", workbook(SHEETS)
    for cut in (40, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(il.InputError) as refused:
            il.read_qrels(f"{path}#Gold")
        assert refused.value.code in ("binary", "damaged")
    path.write_bytes(whole.replace(b"<row", b"<roe"))
    monkeypatch.setattr("idealist.formats.spreadsheets.MOST", 100)
    path.write_bytes(whole)
    with pytest.raises(il.InputError, match="larger than 1 GiB"):
        il.read_qrels(path)


def test_without_its_package_a_workbook_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook(SHEETS))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(il.UsageError, match=r"pip install 'idealist\[xlsx\]'"):
        il.read_qrels(path)


KEYS = ("query", "document", "grade")
SPELT = st.sampled_from([str.upper, str.title, lambda name: name.replace("_", " "), str])
drawing = settings(
    max_examples=60, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip


def written(path: Path, names: list[str], order: list[int], sign: str) -> Path:
    """Write the gold with these names, its columns in some order, beside a column of notes."""
    rows = [[q, d, str(g), "note"] for q, judged in GOLD.items() for d, g in judged.items()]
    lines = [sign.join(row[i] for i in order) for row in [[*names, "remarks"], *rows]]
    path.write_text("\n".join(lines))
    return path


@drawing
@given(
    names=st.tuples(*(st.sampled_from(ALIASES[key]) for key in KEYS)), spell=SPELT,
    order=st.permutations(range(4)), sign=st.sampled_from("\t,;|"), suffix=st.sampled_from(["csv", "txt"]),
)  # fmt: skip
def test_usual_names_are_known_in_any_order_and_spelling(
    names: tuple[str, ...], spell: Any, order: list[int], sign: str, suffix: str, tmp_path: Path
) -> None:
    path = written(tmp_path / f"a.{suffix}", [spell(name) for name in names], order, sign)
    assert il.read_qrels(path).hash == il.read_qrels(GOLD).hash


@drawing
@given(
    column=st.sampled_from(KEYS), name=st.text("abxyzäé -", min_size=1, max_size=6),
    order=st.permutations(range(4)), sign=st.sampled_from("\t,;|"), said_so=st.booleans(),
)  # fmt: skip
def test_a_renamed_column_is_never_guessed(
    column: str, name: str, order: list[int], sign: str, said_so: bool, tmp_path: Path
) -> None:
    name = f"x{name}x"
    names = [name if key == column else key for key in KEYS]
    path = written(tmp_path / "a.csv", names, order, sign)
    if said_so:
        assert il.read_qrels(path, columns={column: name.upper()}).hash == il.read_qrels(GOLD).hash
        return
    with pytest.raises(il.InputError) as refused:
        il.read_qrels(path)
    assert refused.value.code == "missing-column"
    (option,) = proposed(refused.value)
    assert il.read_qrels(said(path, option)).hash == il.read_qrels(GOLD).hash


@drawing
@given(column=st.sampled_from(KEYS), data=st.data(), order=st.permutations(range(4)))
def test_two_names_of_equal_rank_are_never_guessed(
    column: str, data: st.DataObject, order: list[int], tmp_path: Path
) -> None:
    tier = data.draw(st.sampled_from([tier for tier in TIERS[column] if len(tier) > 1]))
    one, other = data.draw(st.permutations(tier))[:2]
    path = written(tmp_path / "a.csv", [one if key == column else key for key in KEYS], order, ",")
    path.write_text(path.read_text().replace("remarks", other))
    with pytest.raises(il.InputError, match=f"could each be the {column}"):
        il.read_qrels(path)
    assert il.read_qrels(path, columns={column: one}).hash == il.read_qrels(GOLD).hash


@drawing
@given(column=st.sampled_from(KEYS), order=st.permutations(range(4)), sign=st.sampled_from("\t,;|"))
def test_a_column_that_is_not_there_is_missed(
    column: str, order: list[int], sign: str, tmp_path: Path
) -> None:
    kept = [i for i in order if i != KEYS.index(column)]
    path = written(tmp_path / "a.csv", list(KEYS), kept, sign)
    with pytest.raises(il.InputError) as refused:
        il.read_qrels(path)
    assert refused.value.code == "missing-column"


def test_queries_may_be_words_that_columns_are_called(tmp_path: Path) -> None:
    found = {"search": ["d1", "d2"], "product": ["d3", "d1"]}
    assert set(il.read_run(found).rows().spans()) == {"search", "product"}
    judged = {"search": {"d1": 1}, "product": {"d3": 1}}
    assert il.evaluate(judged, found, "RR")["RR"] == 1
    path = tmp_path / "qrels.txt"
    path.write_text("search;product;1\nphone;item;0\n")
    with pytest.raises(il.InputError, match="--columns query,document,grade"):
        il.read_qrels(path)
    columns = {"search": ["a", "a"], "product": ["d3", "d1"], "stars": [1, 0]}
    assert il.read_qrels(columns).queries == ("a",)


def test_python_says_what_a_comma_is(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("query;document;grade\nq;a;1,234\nq;b;2\n")
    grades = [il.read_qrels(path, decimal=sign).grades[0] for sign in ("comma", "point")]
    assert grades == [1.234, 1234]


#: Scores that count the rows of three lists.
COUNTED = [(f"q{query}", f"d{place}", place) for query in range(3) for place in (1, 2, 3)]


def doubts_of_order(path: Path, *words: str) -> tuple[str, float]:
    """Evaluate a run; return what is said about its order, and the value of a query."""
    evaluated = il.evaluate({"q0": {"d1": 1}}, ReadOptions(columns_of(words)[0]).of(path), "RR")
    said = [one.message for one in evaluated.doubts if "rank" in one.message]
    return "; ".join(said), evaluated["RR"]


@pytest.mark.parametrize("kernel", ["native", "python"])
@pytest.mark.parametrize(
    "pattern", ["{},{},{},{}", '{{"query":"{}","doc":"{}","score":{},"rank":{}}}']
)
def test_ranks_and_scores_that_disagree_are_named(
    tmp_path: Path, kernel: str, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", kernel)
    head = [] if pattern.startswith("{{") else ["query,doc,score,rank"]
    path = tmp_path / ("run.csv" if head else "run.jsonl")
    path.write_text("\n".join([*head, *(pattern.format(*row, row[2]) for row in COUNTED), ""]))
    said, value = doubts_of_order(path)
    assert "score and rank order documents differently, such as those of query 'q0'" in said
    assert value == pytest.approx(1 / 3)
    said, value = doubts_of_order(path, "rank=rank")
    assert "ranked by rank, which you named; score is not used" in said
    assert value == 1
    path.write_text("\n".join([*head, *(pattern.format(*row, 4 - row[2]) for row in COUNTED), ""]))
    assert doubts_of_order(path)[0] == ""


@pytest.mark.parametrize("kernel", ["native", "python"])
def test_scores_that_count_may_be_ranks(
    tmp_path: Path, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", kernel)
    path, nested = tmp_path / "run.csv", tmp_path / "run.json"
    path.write_text("\n".join(["query,doc,Score", *(f"{q},{d},{n}" for q, d, n in COUNTED), ""]))
    said, value = doubts_of_order(path)
    assert said.endswith("are they ranks? if they are: --columns rank=Score")
    assert value == pytest.approx(1 / 3)
    assert doubts_of_order(path, "rank=Score") == ("", 1)
    lists: dict[str, dict[str, int]] = {}
    for query, document, place in COUNTED:
        lists.setdefault(query, {})[document] = place
    nested.write_text(json.dumps(lists))
    assert "give each query a list of documents" in doubts_of_order(nested)[0]
    del lists["q2"]
    nested.write_text(json.dumps(lists))
    assert doubts_of_order(nested)[0] == ""


@pytest.mark.parametrize(
    ("table", "option"),
    [
        (gold("query,sku,price,rating,Relevanz", "{Q},{D},9.99,{n}.7,{G}"), "grade=Relevanz"),
        (gold("query,sku,score,Urteil,x", "{Q},{D},1{n}.5,{G},a"), "grade=Urteil"),
        (gold("query,sku,rating,note", "{Q},{D},{n}.5,{G}", grades="Exact Bad Bad Good"), "grade=note"),
        (gold("query,sku,rating,price", "{Q},{D},{G},1{n}.5"), ""),
        (gold("query,sku,grade,stock", "{Q},{D},{G},{n}"), ""),
    ],
)  # fmt: skip
def test_a_rating_beside_grades_is_doubted(tmp_path: Path, table: str, option: str) -> None:
    path = tmp_path / "gold.csv"
    path.write_text(table)
    warned = [one.message for one in il.read_qrels(path).remarks if one.severity == "warning"]
    assert [words.split("--columns ")[-1] for words in warned] == ([option] if option else [])


@pytest.mark.parametrize("kernel", ["native", "python"])
def test_a_table_of_several_systems_is_refused(
    tmp_path: Path, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", kernel)
    path = tmp_path / "run.csv"
    path.write_text("System,query,sku,rank\nold,q,a,1\nold,q,b,2\nnew,q,a,1\nnew,q,c,2\n")
    says = "this holds the lists of 2 systems: System is old, new"
    with pytest.raises(il.InputError, match=says):
        il.evaluate({"q": {"a": 1}}, path, "RR")
    path.write_text("system,query,sku,rank\nold,q,a,1\nold,q,b,2\nnew,p,a,1\n")
    assert il.evaluate({"q": {"a": 1}}, path, "RR")["RR"] == 1
