"""Malformed records, in JSON and in JSON by the line: what is wrong is named with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from faulty import Case, Side


class Odd(NamedTuple):
    """Changes to the last of three records, or to all: what they lead to, and what is said."""

    code: str
    says: str
    change: dict[str, Any]
    side: Side = "run"
    everywhere: bool = False
    line: bool = True


ABSENT: Any = object()
TEXT = "this is a passage with some words"


def good(number: int) -> dict[str, Any]:
    return {
        "question": f"q{number}", "retrieved_ids": [f"a{number}", f"b{number}"],
        "expected_ids": [f"a{number}"],
    }  # fmt: skip


def listed(number: int) -> dict[str, Any]:
    return {
        "query": f"q{number}",
        "results": [{"id": f"a{number}", "score": 2.0}, {"id": f"b{number}", "score": 1.0}],
        "relevant": {f"a{number}": 1},
    }


def changed(record: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    return {key: cell for key, cell in {**record, **change}.items() if cell is not ABSENT}


MISSING = "is missing; it has"
IDS: list[Odd] = [
    Odd("bad-shape", f"record 3: retrieved_ids {MISSING}", {"retrieved_ids": ABSENT}),
    Odd("bad-shape", "record 3: retrieved_ids is null", {"retrieved_ids": None}),
    Odd("bad-shape", f"record 3: expected_ids {MISSING}", {"expected_ids": ABSENT}, "qrels"),
    Odd("bad-shape", "record 3: expected_ids is null", {"expected_ids": None}, "qrels"),
    Odd("bad-shape", "record 3: question, which names the query, is missing", {"question": ABSENT}),
    Odd("bad-shape", "record 3: question, which names", {"question": None}, "qrels"),
    Odd("bad-shape", "query 'q3': cannot read 'a3'", {"retrieved_ids": "a3"}),
    Odd("bad-shape", "query 'q3': cannot read 7", {"retrieved_ids": 7}),
    Odd("bad-shape", "query 'q3': cannot read True", {"retrieved_ids": True}),
    Odd("bad-shape", "query 'q3': cannot read 7", {"expected_ids": 7}, "qrels"),
    Odd("bad-shape", "query 'q3': cannot read False", {"expected_ids": False}, "qrels"),
    Odd("bad-shape", "cannot read ['a', 'b', 'c']", {"retrieved_ids": [["a", "b", "c"]]}),
    Odd("bad-shape", "cannot read ['a']", {"retrieved_ids": [["a"]]}),
    Odd("bad-shape", "cannot read []", {"retrieved_ids": [[]]}),
    Odd("bad-shape", "cannot read {}", {"retrieved_ids": [{}]}),
    Odd("bad-shape", "cannot read {}", {"expected_ids": [{}]}, "qrels"),
    Odd("bad-shape", "there is no id", {"retrieved_ids": [{"score": 1}]}),
    Odd("bad-shape", "there is no id", {"expected_ids": [{"grade": 1}]}, "qrels"),
    Odd("bad-shape", "some rows have a score", {"retrieved_ids": [["a3", 1]]}, line=False),
    Odd("bad-shape", "some rows have a score", {"retrieved_ids": {"a3": 1}}, line=False),
    Odd("bad-shape", "some rows have a score", {"retrieved_ids": [["a", "b"]]}, line=False),
    Odd("bad-id", "document None: an id must be", {"retrieved_ids": [None]}),
    Odd("bad-id", "document 1.5: an id must be", {"retrieved_ids": [1.5]}),
    Odd("bad-id", "document True: an id must be", {"retrieved_ids": [True]}),
    Odd("bad-id", "document '': an id must be", {"retrieved_ids": [""]}),
    Odd("bad-id", "document None: an id must be", {"expected_ids": [None]}, "qrels"),
    Odd("bad-id", "document 0.5: an id must be", {"expected_ids": [0.5]}, "qrels"),
    Odd("bad-id", "document '': an id must be", {"expected_ids": ""}, "qrels"),
    Odd("bad-id", "query True: an id must be", {"question": True}),
    Odd("bad-id", "query 1.5: an id must be", {"question": 1.5}),
    Odd("bad-id", "query '': an id must be", {"question": ""}, "qrels"),
    Odd("bad-id", "query ['q3']: an id must be", {"question": ["q3"]}),
    Odd("bad-id", "query {'a': 1}: an id must be", {"question": {"a": 1}}),
    Odd("duplicate-key", "record 3: query 'q1' appears twice", {"question": "q1"}),
    Odd("duplicate-key", "record 3: query 'q2' appears twice", {"question": "q2"}, "qrels"),
    Odd("duplicate", "document 'a3'", {"retrieved_ids": ["a3", "a3"]}, line=False),
    Odd("contradiction", "contradicts", {"expected_ids": [["a3", 1], ["a3", 2]]}, "qrels",
        line=False),
    Odd("bad-grade", "grade 'high'", {"expected_ids": [["a3", "high"]]}, "qrels"),
    Odd("bad-grade", "grade 'high'", {"expected_ids": {"a3": "high"}}, "qrels"),
    Odd("bad-grade", "grade None", {"expected_ids": {"a3": None}}, "qrels"),
    Odd("bad-shape", "record 3: scores [1] for 2 documents", {"scores": [1]}),
    Odd("bad-shape", "record 3: scores 'x' for 2 documents", {"scores": "x"}),
    Odd("bad-shape", "record 3: distances [] for 2 documents", {"distances": []}),
    Odd("bad-shape", "record 3: tokens [5] for 2 documents", {"tokens": [5]}),
    Odd("bad-score", "score 'x'", {"scores": [1, "x"]}, everywhere=True),
    Odd("bad-score", "score 'far'", {"distances": [1, "far"]}, everywhere=True),
    Odd("bad-shape", "some rows have a score", {"scores": [2, 1]}, line=False),
    Odd("bad-column", "retrieved_ids and chunks could each be the ranking",
        {"chunks": ["c"]}, everywhere=True),
    Odd("bad-column", "retrieved_ids and results could each be the ranking", {"results": ["c"]}),
    Odd("bad-column", "expected_ids and positives could each be the gold",
        {"positives": ["c"]}, "qrels", everywhere=True),
    Odd("bad-column", "question and user_input could each be the query", {"user_input": "u"}),
    Odd("bad-shape", "retrieved_ids holds texts, and ids are needed",
        {"retrieved_ids": [TEXT], "expected_ids": ["a"]}, everywhere=True),
    Odd("bad-shape", "expected_ids holds texts, and ids are needed",
        {"expected_ids": TEXT}, "qrels", everywhere=True),
    Odd("bad-shape", "these are judgments: expected_ids is the gold",
        {"retrieved_ids": ABSENT}, everywhere=True),
    Odd("bad-shape", "these are a run: retrieved_ids is the ranking",
        {"expected_ids": ABSENT}, "qrels", everywhere=True),
]  # fmt: skip
ITEMS: list[Odd] = [
    Odd("bad-id", "document None: an id must be", {"results": [{"id": None, "score": 1}]}),
    Odd("bad-id", "document None: an id must be", {"results": [{"score": 1}]}),
    Odd("bad-score", "score 'x' is not a number", {"results": [{"id": "a", "score": "x"}]}),
    Odd("bad-score", "score [1]", {"results": [{"id": "a", "score": [1]}]}),
    Odd("nonfinite-score", "score is nan", {"results": [{"id": "a", "score": float("nan")}]},
        line=False),
    Odd("bad-shape", "some rows have a score", {"results": [{"id": "a"}]}, line=False),
    Odd("bad-shape", "some rows have a score", {"results": ["a"]}, line=False),
    Odd("bad-column", "chunk_id and id could each be the document",
        {"results": [{"id": "a", "chunk_id": "c", "score": 1}]}),
    Odd("bad-column", "id and node.id could each be the document",
        {"results": [{"id": "a", "node": {"id": "n"}, "score": 1}]}),
    Odd("bad-column", "score and distance could each be the score",
        {"results": [{"id": "a", "score": 1, "distance": 2}]}),
    Odd("bad-column", "score and similarity could each be the score",
        {"results": [{"id": "a", "score": 1, "similarity": 2}]}),
    Odd("bad-column", "metadata.doc_id and metadata.id could each be the document",
        {"results": [{"metadata": {"id": 1, "doc_id": 2}}]}, everywhere=True),
    Odd("bad-column", "url and source could each be the document",
        {"results": [{"source": "a", "url": "b"}]}, everywhere=True),
    Odd("bad-column", "cannot be the name of a column",
        {"results": [{"id": "a", "\ud800": 1}]}, line=False),
    Odd("bad-shape", "record 3: documents have scores, and there are scores beside",
        {"scores": [1, 2]}),
    Odd("bad-shape", "holds places in a list of documents, no ids",
        {"results": [{"index": 0, "relevance_score": 1}]}, everywhere=True),
    Odd("bad-shape", "has a place that documents does not have",
        {"results": [{"index": 5, "relevance_score": 1}], "documents": ["d"]}, everywhere=True),
    Odd("bad-shape", "there is no id",
        {"results": [{"page_content": TEXT, "metadata": {}}]}, everywhere=True),
    Odd("bad-grade", "grade 'x'", {"relevant": [{"id": "a", "grade": "x"}]}, "qrels"),
    Odd("bad-column", "score and rank are columns of a run",
        {"relevant": [{"id": "a", "score": 1, "rank": 2}]}, "qrels", everywhere=True, line=False),
    Odd("bad-shape", "query 'q3': cannot read {'qid': 'q1'}",
        {"results": [{"id": "a", "score": 1, "qid": "q1"}]}),
]  # fmt: skip
LINES: list[tuple[str, str, str]] = [
    ("json", '{"question": "q3", "retrieved_ids": ["a"', "the text ends early"),
    ("json", '{"question": "q3", "retrieved_ids": ["a",]}', "not valid JSON"),
    ("json", '{"question": "q3" "retrieved_ids": []}', "not valid JSON"),
    ("json", "{'question': 'q3'}", "not valid JSON"),
    ("json", '{"question": "q3}', "is not closed"),
    ("json", '{question: "q3"}', "not valid JSON"),
    ("json", '{"question": "q3"} {"question": "q4"}', "more text follows"),
    ("json", '{"question": "q3"},', "more text follows"),
    ("json", '{"question": undefined}', "not valid JSON"),
    ("json", '{"question": None}', "not valid JSON"),
    ("json", '// {"question": "q3"}', "not valid JSON"),
    ("json", '["q3", ["a"]]', "not a JSON object"),
    ("json", '"q3"', "not a JSON object"),
    ("json", "3", "not a JSON object"),
    ("json", "null", "not a JSON object"),
    ("json", "q3 Q0 a3 1 1 x", "not valid JSON"),
    ("duplicate-key", '{"question": "q3", "question": "q4"}', "key 'question' is repeated"),
    ("duplicate-key", '{"question": "q3", "retrieved_ids": {"a": 1, "a": 2}}', "'a' is repeated"),
    ("bad-shape", "{}", "is missing"),
    ("bad-shape", '{"error": "timeout"}', "is missing"),
]


def by_line(records: list[Any]) -> tuple[bytes, str, int]:
    return "\n".join(map(json.dumps, records)).encode(), "faulty.jsonl", 0


def as_list(records: list[Any]) -> tuple[bytes, str, int]:
    return ("[\n" + ",\n".join(map(json.dumps, records)) + "\n]").encode(), "faulty.json", 1


def wrapped(records: list[Any]) -> tuple[bytes, str, int]:
    content, name, before = as_list(records)
    return b'{"model": "x",\n "data": ' + content + b"}", name, before + 1


def record_cases() -> Iterator[Case]:
    for make, odds in ((good, IDS), (listed, ITEMS)):
        for count, odd in enumerate(odds):
            three = [make(number) for number in (1, 2, 3)]
            places = range(3) if odd.everywhere else [2]
            for place in places:
                three[place] = changed(three[place], odd.change)
            for write in (by_line, as_list, wrapped)[: 2 + (make is good and count % 8 == 0)]:
                content, name, before = write(three)
                line = before + (1 if odd.everywhere else 3)
                exact = line if odd.line else None
                more = 2 if odd.everywhere and odd.code == "bad-score" else 0
                yield Case("records", odd.code, content, odd.says, exact, odd.side, name, more=more)


def line_cases() -> Iterator[Case]:
    for code, row, says in LINES:
        text = "\n".join([*(json.dumps(good(n)) for n in (1, 2)), row]).encode()
        yield Case("record-lines", code, text, says, 3, "run", "faulty.jsonl")


RECORD_CASES = (*record_cases(), *line_cases())
