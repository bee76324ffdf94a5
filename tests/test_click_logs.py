"""Logs of clicks: every form reads alike, in any order; what is left out is counted; bad rows are told."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
import oracle_clicks as oracle
from effort import tries
from idealist.clicks.click_log import ClickLog
from idealist.clicks.click_tally import Tally
from idealist.errors import InputError, UsageError
from idealist.formats import click_files
from idealist.formats.click_files import ClickFile

PAGES: list[oracle.Page] = [
    ("red shoes", [("sku1", 1, True), ("sku2", 2, False), ("sku3", 3, True)]),
    ("red shoes", [("sku2", 1, False), ("sku1", 2, False)]),
    ("hat", [("sku9", 1, False), ("sku1", 2, True)]),
]
ROWS = oracle.rows_of(PAGES)


def lists(log: ClickLog) -> dict[tuple[str, tuple[tuple[str, int], ...]], tuple[Any, ...]]:
    """Give the lists of a log: pages without a click, then clicks and last clicks of each place."""
    counts, found = log.counts, {}
    for i in range(len(counts.query)):
        own = slice(counts.starts[i], counts.starts[i + 1])
        places = zip(counts.document[own], counts.position[own], strict=True)
        key = (
            counts.queries[counts.query[i]],
            tuple((counts.documents[d], int(p)) for d, p in places),
        )
        found[key] = (
            int(counts.unclicked[i]),
            counts.clicks[own].tolist(),
            counts.lasts[own].tolist(),
        )
    return found


def expected(pages: list[oracle.Page]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for query, places in pages:
        key = query, tuple((document, position) for document, position, _ in places)
        last = oracle.last_click(places)
        unclicked, clicks, lasts = found.get(key, (0, [0] * len(places), [0] * len(places)))
        found[key] = (
            unclicked + (last is None),
            [x + one[2] for x, one in zip(clicks, places, strict=True)],
            [x + (i == last) for i, x in enumerate(lasts)],
        )
    return found


def codes(log: ClickLog) -> dict[str, int]:
    return {one.code: one.count for one in log.doubts}


def test_every_form_reads_alike(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS)
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_csv(tmp_path / "log.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "log.parquet")
    frame.astype({"query": "category", "clicked": int}).to_parquet(tmp_path / "coded.parquet")
    pa.feather.write_feather(pa.Table.from_pandas(frame), str(tmp_path / "log.feather"))
    lines = "".join(f"{json.dumps(row)}\n" for row in ROWS)
    (tmp_path / "log.jsonl").write_text(lines)
    (tmp_path / "log.json").write_text(json.dumps(ROWS))
    (tmp_path / "log.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    bare = frame.to_csv(index=False, header=False, sep=";")
    (tmp_path / "bare.csv").write_text(bare)
    read = [il.read_clicks(path) for path in tmp_path.iterdir() if path.name != "bare.csv"]
    read += [
        il.read_clicks(data)
        for data in (frame, pl.DataFrame(ROWS), pa.table(frame), ROWS, frame.to_dict("list"))
    ]
    read.append(
        il.read_clicks(
            tmp_path / "bare.csv", layout=["session", "query", "document", "position", "clicked"]
        )
    )
    assert len(read) == 14
    for log in read:
        assert lists(log) == expected(PAGES)
        assert log.doubts == ()
        assert (log.rows, log.pages, log.clicks) == (len(ROWS), 3, 3)
    assert repr(read[-2]) == "<ClickLog log: 3 pages of 2 queries with 5 documents, 3 clicks>"


def test_several_files_are_one_log(tmp_path: Path) -> None:
    """A page may begin in one and end in another."""
    paths = [tmp_path / "monday.csv", tmp_path / "tuesday.csv"]
    pd.DataFrame(ROWS[:2]).to_csv(paths[0], index=False)
    pd.DataFrame(ROWS[2:]).to_csv(paths[1], index=False)
    assert lists(il.read_clicks(paths)) == expected(PAGES)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (
            ["visit_id", "search_term", "sku", "slot", "is_click"],
            "session = visit_id, query = search_term",
        ),
        (
            ["Session ID", "Query", "Product ID", "Rank", "Clicked"],
            "document = Product ID, position = Rank",
        ),
        (
            ["query_id", "user_query", "object_id", "position", "click"],
            "session = query_id, query = user_query",
        ),
        (["session", "query_id", "doc_id", "pos", "clicks"], "session = session, query = query_id"),
    ],
)
def test_usual_names_of_columns(names: list[str], said: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS)
    frame.columns = names
    frame["timestamp"] = "2026-01-01T00:00:00Z"
    frame.to_csv(tmp_path / "log.csv", index=False)
    log = il.read_clicks(tmp_path / "log.csv")
    assert lists(log) == expected(PAGES)
    assert said in log.read_as


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"position": "position", "rank": "position"}, "position = position"),
        ({"rank": "position", "Position": "position"}, "position = Position"),
        ({"query_text": "query", "query": "query"}, "query = query"),
        ({"sku": "document", "document": "document"}, "document = document"),
        ({"clicks": "clicked", "clicked": "clicked"}, "clicked = clicked"),
        ({"clicks": "clicked", "is_click": "clicked"}, "clicked = is_click"),
        ({"search_id": "session", "session": "session"}, "session = session"),
        ({"visit_id": "document", "search_id": "session"}, "session = search_id"),
        ({"query_id": "document", "query_text": "query"}, "session = session, query = query_text"),
        ({"session_id": "session", "query_id": "document"}, "session = session_id, query = query"),
        (
            {"session_id": "document", "query_id": "session", "user_query": "query"},
            "session = query_id, query = user_query",
        ),
    ],
)
def test_our_own_name_is_taken_first_and_a_search_before_a_visit(
    names: dict[str, str], said: str
) -> None:
    gone = {*names.values()} - {"document"}
    rows = [
        {
            **{ours: cell for ours, cell in row.items() if ours not in gone},
            **{name: row[ours] for name, ours in names.items()},
        }
        for row in ROWS
    ]
    log = il.read_clicks(rows)
    assert said in log.read_as
    assert lists(log) == expected(PAGES)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("session,query,document,rank,slot,clicked", "rank and slot could each be the position"),
        ("session_id,request_id,query,sku,rank,clicked", "session_id and request_id could each"),
        ("search_id,serp_id,query,sku,rank,clicked", "search_id and serp_id could each be the se"),
        ("session,query,sku,asin,position,clicked", "sku and asin could each be the document"),
        ("session,search_term,keyword,sku,rank,clicked", "search_term and keyword could each be"),
        ("session,query,sku,rank,click,is_click", "click and is_click could each be the clicked"),
        ("session,query,sku,position,position,clicked", "two columns are called 'position'"),
    ],
)
def test_columns_that_could_each_be_meant_are_refused(
    names: str, says: str, tmp_path: Path
) -> None:
    table = pa.table([pa.array(["1"])] * 6, names=names.split(","))
    pa.parquet.write_table(table, tmp_path / "log.parquet")
    (tmp_path / "log.csv").write_text(f"{names}\n1,1,1,1,1,1\n")
    for path in tmp_path.iterdir():
        with pytest.raises(InputError, match=says):
            il.read_clicks(path)
    if "could each" in says:
        choice = says.split(" and ", maxsplit=1)[0]
        ours = {"rank": "position", "click": "clicked", "sku": "document", "search_term": "query"}
        read = il.read_clicks(tmp_path / "log.csv", columns={ours.get(choice, "session"): choice})
        assert f"= {choice}" in read.read_as


def test_a_list_of_columns_names_each_once() -> None:
    layout = ["session", "query", "document", "position", "position", "clicked", "-", "-"]
    with pytest.raises(UsageError, match="names position twice"):
        il.read_clicks("log.csv", layout=layout)


def test_searches_of_one_visit_are_pages_of_their_own() -> None:
    rows = [
        {"session_id": visit, "search_id": f"{visit}-{search}", **dict(zip(
            ("query", "document", "position", "clicked"), ("q", thing, place, 0), strict=True
        ))}
        for visit in range(5) for search in range(3) for place, thing in enumerate("ab", 1)
    ]  # fmt: skip
    log = il.read_clicks(rows)
    assert (log.pages, log.doubts) == (15, ())
    assert il.read_clicks(rows, columns={"session": "session_id"}).pages == 5


def test_names_that_are_given() -> None:
    rows = [
        {
            "wer": r["session"],
            "was": r["query"],
            "ware": r["document"],
            "platz": r["position"],
            "auf": r["clicked"],
        }
        for r in ROWS
    ]
    given = {
        "session": "wer",
        "query": "was",
        "document": "ware",
        "position": "platz",
        "clicked": "auf",
    }
    assert lists(il.read_clicks(rows, columns=given)) == expected(PAGES)
    with pytest.raises(InputError, match="there is no column 'wo' to be the position"):
        il.read_clicks(rows, columns=given | {"position": "wo"})
    with pytest.raises(InputError, match="no column is the session or the query"):
        il.read_clicks(rows)
    with pytest.raises(UsageError, match="no column 'time' of ours"):
        il.read_clicks(rows, columns={"time": "wann"})


row = st.fixed_dictionaries({
    "session": st.sampled_from(["s1", "s2", "s3"]), "query": st.sampled_from(["q", "r"]),
    "document": st.sampled_from("abcd"), "position": st.integers(1, 4), "clicked": st.booleans(),
})  # fmt: skip


@settings(max_examples=tries(60, 3000), deadline=None)
@given(st.lists(row, min_size=1, max_size=40), st.integers(0, 2**32))
def test_pages_as_loops_make_them_whatever_the_order(rows: list[dict[str, Any]], seed: int) -> None:
    """With repeated rows, documents at several positions, and positions with several documents."""
    mixed = random.Random(seed).sample(rows, len(rows))
    first, second = il.read_clicks(rows), il.read_clicks(mixed)
    assert lists(first) == lists(second) == expected(oracle.pages_of(rows))
    assert codes(first) == codes(second)


@settings(max_examples=tries(15, 300), deadline=None)
@given(st.lists(row, min_size=1, max_size=60), st.integers(1, 7))
def test_blocks_and_spilled_rows_change_nothing(rows: list[dict[str, Any]], size: int) -> None:
    """Blocks may end inside a page; parts that are written to files are read again."""
    whole = il.read_clicks(rows)
    with Tally(most_held=0) as tally:
        for start in range(0, len(rows), size):
            for block in ClickFile(rows[start : start + size]).blocks():
                tally.add(block)
        log = ClickLog.of([tally.counts()], tally.dropped, tally.rows, "log", "")
    assert lists(log) == lists(whole)
    for name in ("query", "starts", "document", "position", "clicks", "lasts", "unclicked"):
        for one, other in ((log.learnt, whole.learnt), (log.held_out, whole.held_out)):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


def test_small_blocks_of_text_are_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = oracle.users("dbn", 1, pages=400)
    pd.DataFrame(users.log).to_csv(tmp_path / "log.csv", index=False)
    whole = il.read_clicks(tmp_path / "log.csv")
    monkeypatch.setattr(click_files, "BLOCK", 7)
    monkeypatch.setattr("idealist.formats.source.BLOCK", 100)
    assert (
        lists(il.read_clicks(tmp_path / "log.csv"))
        == lists(whole)
        == lists(il.read_clicks(users.log))
    )


def test_a_fifth_is_held_out_by_name_alone() -> None:
    users = oracle.users("pbm", 0, pages=5000)
    log = il.read_clicks(users.log)
    held = int(log.held_out.pages.sum())
    assert 850 < held < 1150
    assert held + int(log.learnt.pages.sum()) == log.pages
    frame = pd.DataFrame(users.log)
    half = il.read_clicks(frame[frame["session"] < 2500])
    sizes = [
        int(one.held_out.pages.sum())
        for one in (half, il.read_clicks(frame[frame["session"] >= 2500]))
    ]
    assert sum(sizes) == held


def event(
    search: str, action: str, thing: Any = "a", place: Any = 1, **more: Any
) -> dict[str, Any]:
    attributes = {
        "object": {"object_id": thing, "object_id_field": "sku"},
        "position": {"ordinal": place},
    }
    found = {
        "action_name": action,
        "query_id": search,
        "timestamp": "2026-01-01T00:00:00Z",
        "client_id": "c1",
    }
    return {**found, "event_attributes": attributes, **more}


#: What UBI collects of two searches: of the second, no impressions are logged.
QUERIES = [
    {"query_id": "s1", "user_query": "tv", "client_id": "c1", "query_response_id": "r1", "object_id_field": "sku",
     "timestamp": "2026-01-01T00:00:00Z", "query_response_hit_ids": ["a", "b", "c"]},
    {"query_id": "s2", "user_query": "tv", "query_response_hit_ids": ["b", "a"]},
]  # fmt: skip
EVENTS = [
    event("s1", "impression", "a", 1), event("s1", "impression", "b", 2), event("s1", "click", "b", 2),
    event("s1", "product_hover", "a"), event("s2", "click", "a", None), event("s1", "add_to_cart", "b"),
    {"action_name": "page_exit", "timestamp": "2026-01-01T00:00:00Z", "event_attributes": {"position": {}}},
]  # fmt: skip
SEEN: list[oracle.Page] = [
    ("tv", [("a", 1, False), ("b", 2, True)]),
    ("tv", [("b", 1, False), ("a", 2, True)]),
]


@pytest.mark.parametrize("wrapped", [False, True])
def test_ubi_in_two_files(wrapped: bool, tmp_path: Path) -> None:
    paths = [tmp_path / "ubi_queries.jsonl", tmp_path / "ubi_events.jsonl"]
    for path, records in zip(paths, (QUERIES, EVENTS), strict=True):
        lines = [{"_index": path.stem, "_source": one} if wrapped else one for one in records]
        path.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    for order in (paths, paths[::-1]):
        log = il.read_clicks(order)
        assert lists(log) == expected(SEEN)
        assert codes(log) == {"clicks-returned": 1}
        assert log.read_as == "events of UBI"


def test_ubi_in_memory_and_positions_from_zero() -> None:
    assert lists(il.read_clicks([*EVENTS, *QUERIES])) == expected(SEEN)
    zero = [
        event("s1", "impression", "a", 0),
        event("s1", "impression", "b", 1),
        event("s1", "click_through", "b"),
    ]
    log = il.read_clicks([*zero, EVENTS[4], *QUERIES])
    assert lists(log) == expected(SEEN)
    assert codes(log) == {"clicks-returned": 1, "clicks-from-zero": 0}
    own = [event("s9", "impression", "a", 1, user_query="tv"), event("s9", "click", "a", 1)]
    assert lists(il.read_clicks(own)) == expected([("tv", [("a", 1, True)])])


def test_ubi_that_does_not_add_up_is_counted() -> None:
    more = [
        event("s1", "click", "z"),
        event("s7", "click", "a"),
        event("s1", "impression", "c", None),
    ]
    log = il.read_clicks([*QUERIES, *EVENTS, *more])
    assert lists(log) == expected(SEEN)
    assert codes(log) == {"clicks-returned": 1, "clicks-unseen": 1, "clicks-left-out": 2}
    with pytest.raises(InputError, match=r"no row of .* says what was shown where"):
        il.read_clicks(EVENTS)
    with pytest.raises(UsageError, match="fields of UBI have their own names"):
        il.read_clicks(EVENTS, columns={"session": "query_id"})
    with pytest.raises(InputError, match="_source is 3"):
        il.read_clicks([*QUERIES, {"_source": 3}])
    with pytest.raises(InputError, match=r"document \[1\]: an id must be text"):
        il.read_clicks([*QUERIES, event("s1", "click", [1])])


def response(records: list[Any], total: Any) -> dict[str, Any]:
    hits = [{"_index": "ubi", "_id": str(i), "_source": one} for i, one in enumerate(records)]
    return {"took": 1, "timed_out": False, "hits": {"total": total, "hits": hits}}


def test_saved_responses_of_opensearch_are_read(tmp_path: Path) -> None:
    paths = [tmp_path / "ubi_queries.json", tmp_path / "ubi_events.jsonl"]
    paths[0].write_text(json.dumps(response(QUERIES, {"value": 2, "relation": "eq"}), indent=1))
    pages = [response(EVENTS[:3], 9), response(EVENTS[3:], 9)]
    paths[1].write_text("".join(f"{json.dumps(one)}\n" for one in pages))
    log = il.read_clicks(paths)
    assert lists(log) == expected(SEEN)
    assert log.read_as == "events of UBI; events of UBI, 3 of 9 hits"
    assert lists(il.read_clicks(response(ROWS, len(ROWS)))) == expected(PAGES)
    with pytest.raises(InputError, match="the response has no hits"):
        il.read_clicks(response([], 0))
    with pytest.raises(InputError, match="_source is None"):
        il.read_clicks({"hits": {"hits": [{"_id": 1}]}})


def test_what_of_ubi_is_left_out_is_counted_in_rows() -> None:
    lost = [event("s7", "impression", thing, place) for place, thing in enumerate("abcd", 1)]
    twice = [event("s1", "impression", "c", None), event("s1", "click", "c", None)]
    log = il.read_clicks([*QUERIES, *EVENTS, *lost, *twice, event("s1", "impression", None, 3)])
    assert lists(log) == expected(SEEN)
    (left,) = [one for one in log.doubts if one.code == "clicks-left-out"]
    assert left.count == 7
    assert left.finding.endswith(
        "1 without a document, 2 without a position, 4 of searches whose query is unknown"
    )
    unasked = {"query_id": "s8", "query_response_hit_ids": ["a"], "user_query": None}
    log = il.read_clicks([*QUERIES, *EVENTS, unasked])
    assert codes(log) == {"clicks-returned": 1, "clicks-left-out": 2}


def test_events_of_no_search_are_counted() -> None:
    lost = [event("s1", "click", "b") | {"query_id": none} for none in (None, "", " ")]
    hover = event("s1", "product_hover") | {"query_id": None}
    log = il.read_clicks([*QUERIES, *EVENTS, *lost, hover])
    assert lists(log) == expected(SEEN)
    (left,) = [one for one in log.doubts if one.code == "clicks-left-out"]
    assert (left.count, log.rows - left.count) == (3, il.read_clicks([*QUERIES, *EVENTS]).rows)
    assert left.finding.endswith("3 without a query_id")


def test_a_search_of_several_texts_is_doubted() -> None:
    more = [event("s1", "click", "b", 2, user_query="zebra"), event("s2", "click", "a")]
    for records in ([*QUERIES, *EVENTS, *more], [*more, *EVENTS, *QUERIES]):
        log = il.read_clicks(records)
        assert {query for query, _ in lists(log)} == {"tv"}
        assert codes(log)["clicks-queries"] == 1
    alone = [event("s1", "impression", user_query=text) for text in ("tv", "zebra", "radio")]
    log = il.read_clicks(alone)
    assert ({query for query, _ in lists(log)}, codes(log)["clicks-queries"]) == ({"zebra"}, 1)


def test_a_log_of_which_nothing_is_left_says_what_rows_lack() -> None:
    bare = [event("s1", "impression", "a", None), event("s1", "click", "b", None)]
    with pytest.raises(InputError) as caught:
        il.read_clicks([*QUERIES[:1], *bare])
    assert "says what was shown where: 1 without a position" in str(caught.value)
    assert "position.ordinal" in caught.value.hint
    with pytest.raises(InputError, match="where: 7 without a position"):
        il.read_clicks([{**one, "position": None} for one in ROWS])


def test_what_is_left_out_or_put_together_is_counted() -> None:
    rows = [
        *ROWS, ROWS[0], {**ROWS[0], "position": 4},  # again, and lower down
        {**ROWS[3], "query": " "}, {**ROWS[3], "document": None}, {**ROWS[3], "document": "new", "position": ""},
        {**ROWS[3], "document": "other"},
    ]  # fmt: skip
    log = il.read_clicks(rows)
    assert codes(log) == {
        "clicks-left-out": 3, "clicks-repeated": 1, "clicks-positions": 1, "clicks-shared": 1
    }  # fmt: skip
    (left,) = [one for one in log.doubts if one.code == "clicks-left-out"]
    assert left.finding.endswith("1 without a query, 1 without a document, 1 without a position")
    zero = il.read_clicks([{**one, "position": one["position"] - 1} for one in ROWS])
    assert lists(zero) == expected(PAGES)
    assert codes(zero) == {"clicks-from-zero": 0}


def test_rows_that_contradict_each_other_are_counted_apart() -> None:
    opposite = {**ROWS[1], "clicked": True}  # of sku2, which was not clicked
    log = il.read_clicks([opposite, *ROWS, opposite, ROWS[0]])
    assert codes(log) == {"clicks-contradict": 2, "clicks-repeated": 1}
    assert log.clicks == 4
    assert "2 rows against another of the same page" in log.doubts[0].finding


def test_a_stray_position_0_moves_no_others() -> None:
    rows = oracle.rows_of(PAGES * 20)
    for many in (1, 10):
        mixed = [*({**one, "position": 0} for one in rows[:many]), *rows[many:]]
        with pytest.raises(
            InputError, match=r"positions count from 1, as \d+ rows have position 1"
        ):
            il.read_clicks(mixed)
    zero = [{**one, "position": one["position"] - 1} for one in rows]
    stray = [*zero[:-1], {**zero[-1], "position": 7}]
    assert il.read_clicks(stray).from_zero


def test_positions_where_only_clicks_are_logged() -> None:
    pages = [("q", [("a", 1, n % 3 == 0), ("b", 2, n % 2 == 0), ("c", 3, n % 4 == 0)])
             for n in range(80)]  # fmt: skip
    rows = oracle.rows_of(pages)
    assert codes(il.read_clicks(rows)) == {}
    some = [one for one in rows if one["position"] == 1 or one["clicked"]]
    (doubt,) = il.read_clicks(some).doubts
    assert (doubt.code, doubt.severity) == ("clicks-only", "warning")
    assert doubt.finding.startswith("every row at positions 2, 3 is a click")
    every = [{**one, "clicked": n > 0} for n, one in enumerate(oracle.rows_of(pages * 2))]
    assert il.read_clicks(every).only_clicked == (2, 3)
    few = oracle.rows_of(pages[:12])
    assert (
        codes(il.read_clicks([one for one in few if one["position"] == 1 or one["clicked"]])) == {}
    )


def test_ubi_without_its_events_is_refused() -> None:
    with pytest.raises(InputError, match="nothing was clicked on 2 pages") as caught:
        il.click_model(QUERIES)
    assert "ubi_events" in str(caught.value)


def test_blank_rows_are_passed_over(tmp_path: Path) -> None:
    text = pd.DataFrame(ROWS).to_csv(index=False)
    head, first, rest = text.split("\n", 2)
    (tmp_path / "log.csv").write_text(f"{head}\n{first}\n,,,,\n\n{rest}\n , ,,,\n")
    log = il.read_clicks(tmp_path / "log.csv")
    assert lists(log) == expected(PAGES)
    assert log.rows == len(ROWS)


def test_what_says_a_click() -> None:
    for yes in (True, 1, 3, 2.0, "1", "true", "Yes", "Y", " t ", np.bool_(True), np.int8(1)):
        assert il.read_clicks([{**ROWS[0], "clicked": yes}]).clicks == 1, yes
    for no in (False, 0, "0", "false", "NO", "", None, math_nan := float("nan"), "0.0"):
        assert il.read_clicks([{**ROWS[0], "clicked": no}]).clicks == 0, no
    for bad in ("maybe", -1, [1], float("inf"), b"1"):
        with pytest.raises(InputError, match=r"clicked|cannot read"):
            il.read_clicks([{**ROWS[0], "clicked": bad}])
    assert math_nan != math_nan


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"position": "first"},
            "log.csv:3: position 'first' is not a whole number of at least 0, or empty",
        ),
        ({"position": "-1"}, "log.csv:3: position '-1' is not"),
        ({"position": "1.5"}, "log.csv:3: position '1.5' is not"),
        ({"position": "99999999999"}, "log.csv:3: position '99999999999' is not"),
        ({"clicked": "perhaps"}, "log.csv:3: clicked 'perhaps' is not yes or no"),
        ({"session": ""}, "log.csv:3: session '': an id must be text"),
    ],
)
def test_faults_name_file_line_and_value(change: dict[str, str], says: str, tmp_path: Path) -> None:
    rows = [ROWS[0], {**ROWS[1], **change}, ROWS[2]]
    pd.DataFrame(rows).astype(str).to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(InputError) as caught:
        il.read_clicks(tmp_path / "log.csv")
    assert str(caught.value).startswith(f"{tmp_path}/{says}")
    assert "hint: " in str(caught.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the log is empty"),
        (b"session,query,document,position,clicked\n", "there are no rows"),
        (b"hello\n", "no columns"),
        (b"a,b,c\n1,2,3\n", "no column is the session or the query or the document"),
        (b"session,query,document,position,clicked\ns,q,d\n", "3 cells, the header has 5"),
        (b"session,query,document,position,clicked\ns,q\xff,d,1,1\n", "byte 0xff is not UTF-8"),
        (b'session,query,document,position,clicked\ns,"q,d,1,1\n', "cannot be read"),
        (b"PAR1\0\0\0", "the data cannot be read"),
        (b'{"session": 1}\n{"session": 1, }\n', "not valid JSON"),
        (
            b'{"session": "s", "query": "q", "document": "d", "position": 1, "clicked": 0}\n[1]\n',
            "not valid JSON: more text follows",
        ),
        (b'"text"', "no columns"),
        (b"\0\1\2", "binary data"),
    ],
)
def test_files_that_are_no_log(content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(InputError) as caught:
        il.read_clicks(tmp_path / "log")
    assert says in str(caught.value)


def test_data_that_is_no_log() -> None:
    several: list[Any] = [3, "no such file", [1], [], {}, b"bytes"]
    for data in several:
        with pytest.raises((InputError, UsageError)):
            il.read_clicks(data)


def test_data_of_other_shapes_is_refused_in_words(tmp_path: Path) -> None:
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    assert il.read_clicks(ROWS[0]).rows == 1
    assert lists(il.read_clicks({name: pd.Series(own) for name, own in columns.items()}))
    with pytest.raises(InputError, match="not of one length: session has 7, query has 6"):
        il.read_clicks({**columns, "query": columns["query"][1:]})
    for data in ({"a": 1}, {"rows": [1]}):
        (tmp_path / "log.json").write_text(json.dumps(data))
        with pytest.raises(InputError, match="no column is the session"):
            il.read_clicks(tmp_path / "log.json")
    nested = {**columns, "document": [[one] for one in columns["document"]]}
    pa.parquet.write_table(pa.table(nested), tmp_path / "log.parquet")
    for log in (nested, pa.table(nested), tmp_path / "log.parquet"):
        with pytest.raises(InputError, match=r"document \['sku1'\]: an id must be text"):
            il.read_clicks(log)


def test_a_blank_session_is_none(tmp_path: Path) -> None:
    rows = [ROWS[0], {**ROWS[1], "session": "  "}]
    with pytest.raises(InputError, match="session '  ': an id must be text"):
        il.read_clicks(rows)
    pd.DataFrame(rows).to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(InputError, match=r"log\.csv:3: session '  '"):
        il.read_clicks(tmp_path / "log.csv")


def test_a_row_with_too_few_cells_is_told_as_one(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("session,query,document,position,clicked\ns,q,d\n")
    with pytest.raises(InputError) as caught:
        il.read_clicks(tmp_path / "log.csv")
    assert "grade" not in caught.value.hint


def test_faults_of_many_rows_are_counted(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS * 100)
    frame["position"] = [f"x{i}" for i in range(len(frame))]
    frame.to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(InputError) as caught:
        il.read_clicks(tmp_path / "log.csv")
    assert (caught.value.total, len(caught.value.faults)) == (700, 10)


def test_queries_get_the_names_of_a_table() -> None:
    rows = oracle.rows_of(
        [*PAGES, ("Red  Shoes", [("sku3", 1, True)]), ("q7", [("sku3", 1, False)])]
    )
    log = il.read_clicks(rows).named({"q1": "red shoes", "q7": "boots"})
    assert {query for query, _ in lists(log)} == {"q1", "q7"}
    assert log.pages == 4
    assert codes(log) == {"clicks-unnamed": 1}
    assert log.doubts[0].queries == ("hat",)
    found = il.click_model(rows, "ctr", least=1, queries={"q1": "red shoes"})
    assert found.grades.queries == ("q1",)
    with pytest.raises(UsageError, match="none of the queries of log is in"):
        il.click_model(rows, queries={"q1": "green"})
