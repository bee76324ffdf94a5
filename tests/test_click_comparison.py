"""What clicks on interleaved lists say: the tally by hand, formats, faults, doubts, the verbs."""

from __future__ import annotations

import csv
import json
import random
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy.stats import binomtest

import idealist as il
from idealist.cli.main import main
from test_compare import ROOT

#: One list a query: a's are x and z, b's are y and w.
LISTS = [
    {
        "query": query, "list": 1, "probability": 1.0, "method": "team-draft", "a": "old",
        "b": "new", "documents": ["x", "y", "z", "w"], "credits": [-1, 1, -1, 1],
        "rank_a": [1, 2, 3, None], "rank_b": [2, 1, None, 3],
    }
    for query in ("q1", "q2")
]  # fmt: skip
#: session, query, document, user: new wins s1 and s5, old s2; s3 and s4 are ties.
ROWS = [
    ("s1", "q1", "y", "ann"), ("s1", "q1", "w", "ann"), ("s1", "q1", "x", "ann"),
    ("s2", "q1", "x", "ben"), ("s3", "q2", "x", "ben"), ("s3", "q2", "w", "ben"),
    ("s4", "q2", "", "cem"), ("s5", "q2", "y", ""), ("s5", "q2", "y", ""),
]  # fmt: skip


def records(rows: Sequence[tuple[str, ...]] = ROWS, *names: str) -> list[dict[str, Any]]:
    names = names or ("session", "query", "document", "user")
    return [{name: cell or None for name, cell in zip(names, row, strict=True)} for row in rows]


def many(wins: int, losses: int, ties: int = 0) -> list[dict[str, Any]]:
    documents = ["y"] * wins + ["x"] * losses + [None] * ties
    return [{"session": i, "query": "q1", "document": one} for i, one in enumerate(documents)]


def test_wins_are_counted_as_by_hand() -> None:
    found = il.compare_by_clicks(LISTS, records())
    assert found.tally == (2, 2, 1)
    assert found.by_query == {"q1": (1, 0, 1), "q2": (1, 2, 0)}
    assert (found.difference, found.tally.delta) == (0.1, 0.1)
    assert (found.units, found.unit) == (4, "user")  # s5 has no user, and counts alone
    assert found.preferred is None
    data = found.data()
    assert data["ci"] == [None, None]
    assert {doubt["code"] for doubt in data["doubts"]} == {"no-user", "heavy-user", "few-users"}


def test_the_answer_is_the_sign_test() -> None:
    found = il.compare_by_clicks(LISTS, many(60, 30, 110))
    assert found.p == pytest.approx(binomtest(60, 90).pvalue)
    assert found.difference == pytest.approx((60 + 55) / 200 - 0.5)
    assert found.preferred == "new"
    assert 0 < found.low < found.difference < found.high
    assert found.summary.startswith(
        "new is preferred to old: new wins 60 of 200 impressions, old 30 (Δ +0.0750, 95 % interval"
    )
    turned = il.compare_by_clicks(LISTS, many(30, 60, 110))
    assert (turned.preferred, turned.p) == ("old", found.p)
    assert turned.summary.startswith("old is preferred to new: old wins 60")
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low), abs=0.003)


def test_what_shows_nothing_says_how_much_would() -> None:
    found = il.compare_by_clicks(LISTS, many(40, 32, 128))
    assert found.summary.startswith("no significant preference between old and new")
    report = str(found)
    assert "So many impressions find a Δ of" in report
    assert found.detectable == pytest.approx(2.8 * (72 / 200) ** 0.5 / 2 / 200**0.5, rel=0.05)
    sure = il.compare_by_clicks(LISTS, many(*(int(found.needed / 200 * n) for n in (40, 32, 128))))
    assert sure.detectable == pytest.approx(abs(found.difference), rel=0.1)
    none = il.compare_by_clicks(LISTS, many(20, 20))
    assert "would take" not in str(none)


def test_users_count_once() -> None:
    alone = many(60, 30, 110)
    owned = [{**row, "user": i % 9} for i, row in enumerate(alone)]
    found = il.compare_by_clicks(LISTS, owned)
    assert found.units == 9
    assert found.p != il.compare_by_clicks(LISTS, alone).p
    assert "randomisation test over 9 users" in str(found)
    same = [{**row, "user": 1} for row in alone]
    assert il.compare_by_clicks(LISTS, same).p == 1.0
    session = [{**row, "session": 1, "query": row["query"]} for row in alone[:1]]
    session += [{"session": 1, "query": "q2", "document": "y"}]
    both = il.compare_by_clicks(LISTS, session)
    assert (both.units, both.tally.all) == (1, 2)


@pytest.mark.parametrize("users", [7, 60])
def test_the_order_of_rows_changes_no_bit(users: int) -> None:
    made = il.interleave({"q": list("abcdef")}, {"q": list("bdfghi")}, "optimised", depth=6)
    source = random.Random(2)
    log = [
        {"session": i, "query": "q", "list": source.randint(1, len(made.lists)),
         "position": source.choice([None, 1, 2, 3]), "user": source.randint(1, users)}
        for i in range(300)
    ]  # fmt: skip
    first = il.compare_by_clicks(made, log).to_json()
    source.shuffle(log)
    assert il.compare_by_clicks(made, log).to_json() == first


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "json", "parquet", "frame", "columns"])
def test_a_log_reads_alike_in_every_form(form: str, tmp_path: Path) -> None:
    log, path = records(), tmp_path / f"clicks.{form}"
    data: Any = path
    columns = {name: [row[name] for row in log] for name in log[0]}
    if form in ("csv", "tsv"):
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, log[0], delimiter="," if form == "csv" else "\t")
            writer.writeheader()
            writer.writerows(log)
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in log))
    elif form == "json":
        path.write_text(json.dumps(log))
    elif form == "parquet":
        pd.DataFrame(log).to_parquet(path)
    else:
        data = pd.DataFrame(log) if form == "frame" else columns
    found = il.compare_by_clicks(LISTS, data)
    assert found.data() == il.compare_by_clicks(LISTS, log).data()


@pytest.mark.parametrize(
    "rows",
    [
        records([("s1", "q1", "2"), ("s2", "q1", "1")], "session_id", "qid", "position"),
        records([("s1", "q1", "y"), ("s2", "q1", "x")], "Session", "topic", "doc_id"),
        [
            {"session": s, "query": "q1", "document": d, "clicked": d == own}
            for s, own in (("s1", "y"), ("s2", "x"))
            for d in "xyzw"
        ],
        [{"session": 1, "query": "q1", "list": "1", "position": 2.0, "clicked": "yes"},
         {"session": 2, "query": "q1", "list": None, "position": 1, "clicked": 3},
         {"session": 2, "query": "q1", "list": 1, "position": 2, "clicked": None}],
    ],
)  # fmt: skip
def test_columns_have_several_names_and_words(rows: list[dict[str, Any]]) -> None:
    assert il.compare_by_clicks(LISTS, rows).tally == (1, 0, 1)


def test_our_own_name_is_taken_first() -> None:
    """The rank is the engine's, and the text of a query stands beside its id."""
    names = "session", "query", "list", "document", "position", "rank", "query_text", "doc_id"
    rows = [("s1", "q1", "1", "y", "2", "40", "red", "9"), ("s2", "q1", "1", "x", "1", "7", "", "")]
    found = il.compare_by_clicks(LISTS, records(rows, *names))
    assert (found.tally, found.read_as) == ((1, 0, 1), "")


def test_a_search_comes_before_a_visit_which_counts_together() -> None:
    """One visit sees two lists of a query; its searches are alike."""
    lists = [LISTS[0], {**LISTS[0], "list": 2}]
    names = "session_id", "search_id", "qid", "list", "document"
    rows = [("v1", "s1", "q1", "1", "y"), ("v1", "s2", "q1", "2", "x"), ("v2", "s3", "q1", "1", "")]
    found = il.compare_by_clicks(lists, records(rows, *names))
    assert (found.tally, found.units) == ((1, 1, 1), 2)
    read = "clicks: session = search_id, query = qid, user = session_id"
    assert found.read_as == read
    assert f"read: {read}" in str(found)
    owned = [{**row, "user_id": "ann"} for row in records(rows, *names)]
    assert il.compare_by_clicks(lists, owned).units == 1
    given = {"session": "session_id"}
    with pytest.raises(il.InputError, match="saw list 1 of query 'q1' before"):
        il.compare_by_clicks(lists, records(rows, *names), columns=given)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("session", "query", "rank", "slot"), "rank and slot could each be the position"),
        (("visit_id", "session_id", "query", "doc"), "visit_id and session_id could each be the s"),
        (("session", "query", "doc", "list_id", "variant"), "list_id and variant could each be"),
        (("session", "query", "doc", "user_id", "visitor_id"), "could each be the user"),
    ],
)
def test_columns_that_could_each_be_meant_are_refused(names: tuple[str, ...], says: str) -> None:
    with pytest.raises(il.InputError, match=says) as told:
        il.compare_by_clicks(LISTS, [dict.fromkeys(names, "1")])
    assert "choose one: --columns" in told.value.hint


@pytest.mark.parametrize("blank", [None, "", " ", float("nan")])
def test_blank_cells_say_nothing(blank: Any) -> None:
    """Else all sessions without a user would be of one, and searches without a click have one."""
    clean = many(20, 18, 10)
    rows = [{**row, "user": blank, "list": blank, "position": blank} for row in clean]
    rows = [{**row, "document": row["document"] or blank} for row in rows]
    assert il.compare_by_clicks(LISTS, rows).data() == il.compare_by_clicks(LISTS, clean).data()
    unclicked = [{**row, "document": "x", "clicked": blank} for row in clean]
    assert il.compare_by_clicks(LISTS, unclicked).tally == (0, 48, 0)
    for name in ("session", "query"):
        with pytest.raises(il.InputError, match=f"the {name} is"):
            il.compare_by_clicks(LISTS, [{**clean[0], name: blank}])


def test_clicks_have_the_words_of_other_logs() -> None:
    rows = [{"session": word, "query": "q1", "document": "y", "clicked": word} for word in "tyfn01"]
    assert il.compare_by_clicks(LISTS, rows).tally == (3, 3, 0)


def test_columns_can_be_named() -> None:
    rows = records([("s1", "q1", "y"), ("s2", "q1", "x")], "who", "what", "hit")
    names = {"session": "who", "query": "what", "document": "hit"}
    assert il.compare_by_clicks(LISTS, rows, columns=names).tally == (1, 0, 1)
    with pytest.raises(il.InputError, match="there is no column 'nobody' to be the user"):
        il.compare_by_clicks(LISTS, rows, columns={**names, "user": "nobody"})
    with pytest.raises(il.UsageError, match="no column 'grade' of ours"):
        il.compare_by_clicks(LISTS, rows, columns={"grade": "hit"})


@pytest.mark.parametrize(
    ("text", "code", "line", "words"),
    [
        ("session,query,document\ns1,q9,x\n", "unknown-list", 2, "no list for query 'q9'"),
        ("session,query,list,document\ns1,q1,2,x\n", "unknown-list", 2, "has no list '2'"),
        ("session,query,list,document\ns1,q1,one,x\n", "unknown-list", 2, "has no list 'one'"),
        ("session,query,document\n,q1,x\n", "bad-id", 2, "the session is None"),
        ("session,query,document\ns1,,x\n", "bad-id", 2, "the query is None"),
        (
            "session,query,document,user\ns1,q1,x,ann\ns1,q2,x,ben\n", "bad-click", 3,
            "session 's1' is of user 'ben' here, and of 'ann' before",
        ),
        ("session,query,position\ns1,q1,0\n", "bad-click", 2, "position '0' is no place"),
        ("session,query,position\ns1,q1,1.5\n", "bad-click", 2, "position '1.5' is no place"),
        (
            "session,query,document,position\ns1,q1,y,1\n", "bad-click", 2,
            "has 'y' at 2, not at '1'",
        ),
        ("session,query,document,clicked\ns1,q1,y,maybe\n", "bad-click", 2, "clicked is 'maybe'"),
        ("session,query,document,clicked\ns1,q1,y,-1\n", "bad-click", 2, "clicked is '-1'"),
        ("session,query,document,clicked\ns1,q1,,1\n", "bad-click", 2, "a click names no doc"),
        ("session,query,user\ns1,q1,ann\n", "missing-column", None, "the document or its pos"),
        ("query,document\nq1,x\n", "missing-column", None, "no column is the session"),
        ("session,document\ns1,x\n", "missing-column", None, "no column is the query"),
        ("session,query,document\n", "empty", None, "the log has no rows"),
        ("s1\n", "columns", None, "no table with a header"),
        ("session,query,document\ns1,q1,x,y\n", "columns", 2, "4 cells, the header has 3"),
        ("", "empty", None, "the file is empty"),
        ('{"session": 1}\n[2]\n', "bad-shape", None, "cannot read [2]"),
    ],
)  # fmt: skip
def test_faults_name_the_line(
    text: str, code: str, line: int | None, words: str, tmp_path: Path
) -> None:
    path = tmp_path / ("log.jsonl" if text.startswith("{") else "log.csv")
    path.write_text(text)
    with pytest.raises(il.InputError) as told:
        il.compare_by_clicks(LISTS, path)
    assert (told.value.code, told.value.line) == (code, line)
    assert words in str(told.value)
    assert str(path) in str(told.value)
    assert told.value.hint


def test_columns_may_be_arrays() -> None:
    frame = pd.DataFrame(records())
    columns = {name: frame[name].to_numpy() for name in frame}
    assert il.compare_by_clicks(LISTS, columns).tally == (2, 2, 1)


def test_columns_must_be_of_one_length() -> None:
    columns = {"session": [1, 2], "query": ["q1", "q1"], "document": ["x"]}
    with pytest.raises(il.InputError, match="not of one length"):
        il.compare_by_clicks(LISTS, columns)
    for none in (5, "", [[1]]):
        with pytest.raises(il.InputError):
            il.compare_by_clicks(LISTS, none)


def test_a_session_sees_one_list_of_a_query() -> None:
    lists = [LISTS[0], {**LISTS[0], "list": 2, "documents": ["y", "x", "w", "z"]}]
    rows = [("s1", "q1", "1", "x"), ("s2", "q1", "2", "x"), ("s1", "q1", "2", "x")]
    with pytest.raises(il.InputError, match="saw list 1 of query 'q1' before, and list 2 here"):
        il.compare_by_clicks(lists, records(rows, "session", "query", "list", "document"))
    with pytest.raises(il.InputError, match="query 'q1' has 2 lists"):
        il.compare_by_clicks(lists, records(rows[:1], "session", "query", "", "document"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"credits": [1]}, "no interleaved list"),
        ({"documents": ["x", "x", "z", "w"]}, "no interleaved list"),
        ({"rank_a": [None, 2, 3, None], "rank_b": [None, 1, 2, 3]}, "no interleaved list"),
        ({"rank_a": ["1", 2, 3, None]}, "no interleaved list"),
        ({"list": "1"}, "no interleaved list"),
        ({"probability": 0}, "no interleaved list"),
        ({"method": "mixed"}, "no interleaved list"),
        ({"documents": None}, "no interleaved list"),
        ({"b": "other"}, "team-draft of old and new and team-draft of old and other"),
        ({"query": "q1"}, "query 'q1' has a second list 1"),
    ],
)
def test_lists_that_are_none_are_refused(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    lists, path = [LISTS[0], {**LISTS[1], **change}], tmp_path / "lists.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lists))
    for data in (lists, path):
        with pytest.raises(il.InputError, match=words) as told:
            il.compare_by_clicks(data, records())
        assert told.value.line == 2
    path.write_text("session,query\n")
    for none in ([], [5], ["x"], path):
        with pytest.raises(il.InputError, match=r"interleaved list|no lists"):
            il.compare_by_clicks(none, records())


def codes(lists: Any, rows: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    found = il.compare_by_clicks(lists, rows)
    assert all(doubt.message in str(found) for doubt in found.doubts)
    return {doubt.code: (doubt.count, doubt.total) for doubt in found.doubts}


def test_doubts_are_counted() -> None:
    clean = many(20, 18, 10)
    assert codes(LISTS, clean) == {}
    assert codes(LISTS, many(20, 18)) == {"only-clicked": (38, 38)}
    advert = {"session": 99, "query": "q1", "document": "advert"}
    below = {"session": 98, "query": "q1", "document": None, "position": 5}
    assert codes(LISTS, [*clean, advert, below]) == {"not-shown": (2, 40)}
    owned = [{**row, "user": i if i % 2 else None} for i, row in enumerate(clean)]
    assert codes(LISTS, owned) == {"no-user": (24, 48)}
    heavy = [{**row, "user": max(i, 12)} for i, row in enumerate(clean)]
    assert codes(LISTS, heavy) == {"heavy-user": (13, 48)}


@pytest.mark.parametrize("method", ["team-draft", "balanced", "optimised"])
def test_lists_that_are_not_drawn_as_they_should_be_are_found(method: str) -> None:
    """A service that shows the first list to everybody, beside one that draws."""
    made = il.interleave({"q1": list("abcdef")}, {"q1": list("bdfghi")}, method, depth=6)
    source, chances = random.Random(4), [one.probability for one in made.lists]

    def log(numbers: list[int]) -> list[dict[str, Any]]:
        return [
            {"session": i, "query": "q1", "list": number, "position": source.choice([None, 1, 2])}
            for i, number in enumerate(numbers)
        ]

    drawn = source.choices(range(1, len(chances) + 1), chances, k=300)
    assert "uneven-lists" not in codes(made, log(drawn))
    assert codes(made, log([1] * 300))["uneven-lists"] == (300, 300)


@pytest.mark.parametrize("method", ["team-draft", "balanced", "optimised"])
def test_clicks_on_what_is_better_find_it(method: str) -> None:
    """Two runs, one with the relevant documents first; visitors click on these."""
    good = [f"d{i}" for i in range(10)]
    made = il.interleave({"q": good[::-1]}, {"q": good}, method)
    source, rows = random.Random(1), []
    for session in range(400):
        (one,) = source.choices(made.lists, [own.probability for own in made.lists])
        for place, document in enumerate(one.documents):
            chance = 0.7**place * (0.5 if int(document[1:]) < 3 else 0.05)
            rows.append({
                "session": session, "query": "q", "list": one.number, "document": document,
                "clicked": int(source.random() < chance),
            })  # fmt: skip
    found = il.compare_by_clicks(made, rows)
    assert found.preferred == "b"
    assert found.low > 0
    assert not found.doubts


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    main(["interleave", *arguments])
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs, and a log of clicks on their lists."""
    monkeypatch.chdir(tmp_path)
    for name, example in (("bm25.run", "bm25.run"), ("dense.run", "reranked.run")):
        (tmp_path / name).write_text((ROOT / "examples" / example).read_text())
    main(["interleave", "draw", "bm25.run", "dense.run", "-q", "-o", "lists.jsonl"])
    lists = [json.loads(line) for line in (tmp_path / "lists.jsonl").read_text().splitlines()]
    source = random.Random(1)
    with (tmp_path / "clicks.csv").open("w") as file:
        file.write("session,query,list,document,customer\n")
        for session in range(300):
            one = source.choice(lists)
            document = source.choice([*one["documents"], ""])
            file.write(f"{session},{one['query']},{one['list']},{document},{session % 40}\n")
    pd.read_csv(tmp_path / "clicks.csv").to_parquet(tmp_path / "clicks.parquet")
    return tmp_path


def test_the_examples_of_the_help_run(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    for verb, count in (("draw", 3), ("analyse", 2)):
        lines = [line.strip() for line in run(capsys, verb, "--help")[0].splitlines()]
        examples = [line for line in lines if line.startswith("idealist interleave ")]
        assert len(examples) == count
        for example in examples:
            if verb == "analyse":
                main(["interleave", "draw", "bm25.run", "dense.run", "-q", "-o", "lists.jsonl"])
            main(shlex.split(example)[1:])
            assert capsys.readouterr().err


def test_draw_writes_lists(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    out, told = run(capsys, "draw", "bm25.run", "dense.run", "-k", "4", "--lists", "3")
    lists = [json.loads(line) for line in out.splitlines()]
    expected = il.interleave("bm25.run", "dense.run", depth=4, lists=3)
    assert lists == expected.data()
    assert told.startswith("team-draft of bm25 and dense: 36 lists for 12 queries")
    run(capsys, "draw", "bm25.run", "dense.run", "-k", "4", "--lists", "3", "-o", "l.jsonl.gz")
    log = [{"session": 1, "query": "q01", "list": 2, "position": 1}]
    assert il.compare_by_clicks("l.jsonl.gz", log).tally.all == 1


def test_draw_overwrites_no_input(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    with pytest.raises(SystemExit) as told:
        run(capsys, "draw", "bm25.run", "dense.run", "-o", "dense.run")
    assert told.value.code == 2
    assert "dense.run is an input" in capsys.readouterr().err


def test_analyse_answers_first(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    out, told = run(capsys, "analyse", "lists.jsonl", "clicks.csv", "--columns", "user=customer")
    found = il.compare_by_clicks("lists.jsonl", "clicks.csv", columns={"user": "customer"})
    assert " ".join(out.split()).startswith(found.summary)
    assert "over 40 users" in told
    data = json.loads(run(capsys, "analyse", "lists.jsonl", "clicks.parquet", "-f", "json")[0])
    assert data["unit"] == "session"
    assert {"a", "b", "preferred", "wins", "ties", "losses", "delta", "ci", "p"} <= data.keys()
    rows = run(capsys, "analyse", "lists.jsonl", "clicks.csv", "-f", "csv")[0].splitlines()
    assert rows[0] == "preferred,impressions,share"
    assert "q01" in run(capsys, "analyse", "lists.jsonl", "clicks.csv", "--details")[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ("draw", "bm25.run"),
        ("draw", "bm25.run", "absent.run"),
        ("draw", "bm25.run", "dense.run", "--set", "gain=exp2"),
        ("draw", "bm25.run", "dense.run", "--set", "depth=3"),
        ("draw", "bm25.run", "dense.run", "-k", "0"),
        ("analyse", "lists.jsonl", "absent.csv"),
        ("analyse", "clicks.csv", "lists.jsonl"),
        ("analyse", "lists.jsonl", "clicks.csv", "--alpha", "2"),
        ("analyse", "lists.jsonl", "clicks.csv", "--columns", "session,query"),
        ("analyse", "-", "-"),
    ],
)
def test_mistakes_are_told(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], files: Path
) -> None:
    with pytest.raises(SystemExit) as told:
        run(capsys, *arguments)
    assert told.value.code == 2
    assert "hint: " in capsys.readouterr().err
