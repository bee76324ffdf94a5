"""Malformed tables as text, each with the error it must lead to; `test_table_shapes` reads them."""

from __future__ import annotations

from collections.abc import Iterator

from faulty import Case

#: Code, content, words of the message, and line.
Fault = tuple[str, str, str, int | None]
NEITHER = "names neither the query column nor the document column"
SIGNS = {",": "csv", "\t": "tsv", ";": "csv", "|": "txt"}


def cells() -> Iterator[Case]:
    """Give rows that are wrong whatever separates them."""
    head = "query,document,grade\n"
    faults: list[Fault] = [
        ("columns", head + "q1,d1,1\nq1,d2\n", "2 cells, the header has 3", 3),
        ("columns", head + "q1\n", "1 cells, the header has 3", 2),
        ("columns", head + "q1,d1,1,9\n", "4 cells, the header has 3", 2),
        ("columns", head + "q1,d1,1,,9\n", "5 cells, the header has 3", 2),
        ("columns", "query,document,,grade\nq1,d1,\n", "3 cells, the header has 4", 2),
        ("columns", head + "\n\nq1,d1,1\n# the end\n", "1 cells, the header has 3", 5),
        ("columns", head + 'q1,"d1"x,1\n', "expected after '\"'", 2),
        ("columns", head + 'q1,"d1,1\nq2,d2,2\n', "unexpected end of data", 3),
        ("columns", head + 'q1,d1,"1\n', "unexpected end of data", 2),
        ("columns", head + f"q1,{'d' * 140_000},1\n", "longer than 131,072 characters", 2),
        ("columns", "query,document,grade,grade\nq1,d1,1,2\n", "two columns are called 'grade'", 1),
        ("columns", "query,document,grade,x,x\nq1,d1,1,2,3\n", "two columns are called 'x'", 1),
        ("columns", "# a\n\nquery,document,grade,grade\nq1,d1,1,2\n", "two columns are called", 3),
        ("bad-grade", head + "q1,d1,1\nq1,d2,high\n", "document 'd2': grade 'high'", 3),
        ("bad-grade", head + "q1,d1,nan\n", "grade 'nan'", 2),
        ("bad-grade", head + "q1,d1,inf\n", "grade 'inf'", 2),
        ("bad-grade", head + "q1,d1,1_0\n", "grade '1_0'", 2),
        ("bad-grade", head + "q1,d1,1.2.3\n", "grade '1.2.3'", 2),
        ("bad-grade", head + "q1,d1,²\n", "grade '²'", 2),
        ("bad-grade", head + "q1,d1, \n", "grade ' '", 2),
        ("bad-grade", head + "# c,d,e\n", "words, not numbers: 'e'", 2),
        ("bad-id", head + "q1,d1,1\n,d2,1\n", "query None", 3),
        ("bad-id", head + "q1,d1,1\nq1,,1\n", "document None", 3),
        ("contradiction", head + "q1,d1,1\nq1,d1,2\n", "grade 2 contradicts 1 (line 2)", 3),
        ("empty", head, "there are no judgments", None),
        ("empty", head + "\n\n,,\n", "there are no judgments", None),
        ("empty", head + "q1,d1,\n", "there are no judgments", None),
    ]  # fmt: skip
    for number, (code, content, says, line) in enumerate(faults):
        sign = list(SIGNS)[number % 4]
        for one in dict.fromkeys([",", sign]):
            made = content.replace(",", one)
            if one == "," or "²" not in made:
                yield Case("cells", code, made.encode(), says, line, name=f"a.{SIGNS[one]}")


def names() -> Iterator[Case]:
    """Give headers that do not say what the columns are."""
    faults: list[Fault] = [
        ("columns", "a,b,c\nq1,d1,1\n", f"'a,b,c' {NEITHER}", 1),
        ("columns", "q1,d1,1\nq1,d2,0\n", f"'q1,d1,1' {NEITHER}", 1),
        ("columns", "where;place;much\nq1;d1;1\n", f"'where;place;much' {NEITHER}", 1),
        ("columns", "grade,note\n1,x\n", NEITHER, 1),
        ("columns", "a\nq1\n", f"'a' {NEITHER}", 1),
        ("columns", "q1 0 d1 1\n", f"'q1 0 d1 1' {NEITHER}", 1),
        ("columns", "# only\n# comments\nx,y\n", f"'x,y' {NEITHER}", 3),
        ("columns", '"query,document,grade\nq1,d1,1\n', NEITHER, 1),
        ("missing-column", "query,place,grade\nq1,d1,1\n", "no document column; query is the", 1),
        ("missing-column", "where,sku,grade\nq1,d1,1\n", "no query column; sku is the document", 1),
        ("missing-column", "sep=;\nquery;place;grade\nq1;d1;1\n", "there is no document column", 2),
        ("missing-column", "query,document\nq1,d1\n", "the judgments have no grades", None),
        ("missing-column", "query,document,note\nq1,d1,ok\n", "the judgments have no grades", None),
        ("missing-column", "query,doc1,doc2\nq1,d1,d2\n", "doc1 … doc2 are a ranking", None),
        ("bad-column", "query,doc_id,sku,grade\nq1,d1,s,1\n", "doc_id and sku could each be", None),
        ("bad-column", "qid,topic_id,doc,grade\nq1,1,d,1\n", "qid and topic_id could each", None),
        ("bad-column", "keyword,phrase,doc,rel\na,b,d,1\n", "keyword and phrase could each", None),
        ("bad-column", "query,url,link,rel\na,b,d,1\n", "url and link could each be the", None),
        ("bad-column", "query,doc,stars,label\na,d,1,2\n", "label and stars could each be", None),
        ("bad-column", "query,doc,rel,Relevance\na,d,1,2\n", "Relevance and rel could each", None),
        ("bad-column", "query,doc,score,rank\na,d,1,2\n", "score and rank are columns of a run", None),
    ]  # fmt: skip
    for code, content, says, line in faults:
        yield Case("names", code, content.encode(), says, line, name="a.csv")
    for content in ("a;b;c\nq1;d1;1\n", "a|b|c\n", "q1,d1,1\n", "q1;d1\n", "where\tplace\tmuch\n"):
        yield Case("names", "columns", content.encode(), NEITHER, 1, name="a.txt")


def runs() -> Iterator[Case]:
    head = "query,document,score\n"
    faults: list[Fault] = [
        ("bad-score", head + "q1,d1,high\n", "score 'high'", 2),
        ("bad-score", head + "q1,d1,1\nq1,d2,1..2\n", "score '1..2'", 3),
        ("bad-score", head + "q1,d1,9%\n", "score '9%'", 2),
        ("bad-score", "query;document;score\nq1;d1;1,234\n", "a decimal or a thousand", 2),
        ("bad-score", "query;document;score\nq1;d1;5\nq1;d2;1,234\n", "a decimal or a thousand", 3),
        ("bad-score", "query;document;score\nq1;d1;0,5\nq1;d2;0.25\n", "'0.25' has a point", 3),
        ("bad-score", "query;document;score\nq1;d1;0,5\nq1;d2;1.234,5\n", "'1.234,5' has a", 3),
        ("bad-score", "query;document;score\nq1;d1;1,2,3\n", "score '1,2,3'", 2),
        ("bad-score", "query;document;score\nq1;d1;0,5\nq1;d2;1,2,3\n", "score '1,2,3'", 3),
        ("bad-score", "query;document;score\nq1;d1;a,b\n", "score 'a,b'", 2),
        ("bad-score", "query;document;score\nq1;d1;,\n", "score ','", 2),
        ("bad-score", "query;document;score\nq1;d1;0,5 €\n", "score '0,5 €'", 2),
        ("bad-score", "query;document;score\nq1;d1;1'234\n", "score \"1'234\"", 2),
        ("bad-column", head[:-1] + ",sim\nq1,d1,1,2\n", "score and sim could each be the", None),
        ("bad-column", "query,document,rank,position\nq1,d1,1,2\n", "rank and position", None),
        ("bad-column", "query,document,relevance\nq1,d1,1\n", "these are judgments", None),
        ("bad-column", "query,document,rank\nq1,d1,first\n", "column 'rank' holds 'first'", 2),
        ("bad-column", head[:-1] + ",tokens\nq1,d1,1,many\n", "column 'tokens' holds 'many'", 2),
        ("bad-rank", "query;document;rank\nq1;d1;1,000\n", "a decimal or a thousand", 2),
        ("columns", head + "q1,d1\n", "2 cells, the header has 3", 2),
        ("columns", "query,doc1,doc2\nq1,d1\n", "2 cells, the header has 3", 2),
        ("missing-column", "query,doc1,doc3\nq1,d1,d2\n", "there is no document column", 1),
        ("bad-id", head + ",d1,1\n", "query None", 2),
        ("empty", head, "no rows", None),
    ]  # fmt: skip
    for code, content, says, line in faults:
        yield Case("runs", code, content.encode(), says, line, "run", "a.csv")


def told() -> Iterator[Case]:
    """Give tables about which their user says something wrong."""
    plain, three = "Suche,Artikel,Note\nq1,d1,1\nq1,d2,0\n", "q1,d1,1\nq1,d2,0\n"
    faults: list[tuple[str, str, str, int | None, str]] = [
        ("missing-column", plain, "no column 'Artikl' to be the document", None, "document=Artikl"),
        ("missing-column", plain, "no query column; Artikel is the document", 1, "document=Artikel"),
        ("missing-column", "Query,SKU,s_k_u,rel\n", "SKU and s_k_u could each be 'sk u'", None,
         "document=sk u"),
        ("bad-grade", plain.replace("1", "x"), "grade 'x'", 2, "query=Suche,document=Artikel,grade=Note"),
        ("columns", three, "3 columns, but query,document,grade,- names 4", 1, "query,document,grade,-"),
        ("columns", three, "3 columns, but query,document names 2", 1, "query,document"),
        ("columns", plain, "'Suche,Artikel,Note' looks like a header", 1, "query,document,grade"),
        ("columns", "query,document,grade\nq1,d1,1\n", "does not say document,query,grade", 1,
         "document,query,grade"),
        ("columns", "q1,d1,1\nq1,d2\n", "2 cells, the header has 3", 2, "query,document,grade"),
        ("bad-grade", "q1,d1,x\nq1,d2,y\n", "words, not numbers: 'x', 'y'", 1, "query,document,grade"),
        ("bad-grade", "q1 d1 1\nq1 d2 y\n", "grade 'y'", 2, "query,document,grade"),
        ("columns", "q1 d1 1\nq1 d2\n", "2 cells, the header has 3", 2, "query,document,grade"),
        ("missing-column", three[:6], "the judgments have no grades", None, "query,document,-"),
    ]  # fmt: skip
    for code, content, says, line, columns in faults:
        yield Case("told", code, content.encode(), says, line, name="a.csv", options=(columns,))


def texts() -> Iterator[Case]:
    """Give tables that are not text, or not UTF-8."""
    good = "query,document,grade\nq1,größe,1\n"
    yield Case(
        "texts", "encoding", good.encode("latin-1"), "byte 0xf6 is not UTF-8", 2, name="a.csv"
    )
    yield Case("texts", "encoding", good.encode("utf-16"), "UTF-16", None, name="a.csv")
    yield Case("texts", "encoding", good.replace("\n", "\r").encode(), "bare CR", 1, name="a.csv")
    yield Case("texts", "binary", good.replace("q1", "\0").encode(), "binary", 2, name="a.csv")
    yield Case("texts", "empty", b"\xef\xbb\xbf \n\n", "the file is empty", None, name="a.csv")
    yield Case("texts", "empty", b"", "the file is empty", None, name="a.csv")


CSV_CASES = (*cells(), *names(), *runs(), *told(), *texts())
