"""Files as people really hold them: each is read right, or refused with a hint that works."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from effort import tries
from idealist.cli.main import main
from idealist.cli.options import columns_of
from idealist.formats import column_names
from idealist.formats.record_fields import USUAL

#: What every file holds: the ranking and the gold of two queries.
RANKED = (["d1", "d2"], ["d3", "d2", "d4"])
GOLD = (["d2"], ["d3", "d9"])
NAMED = ("q1", "q2")
ASKED = ("how do I sort a list", "what is the difference of two sets")
SCORES = ([0.9, 0.4], [0.8, 0.5, 0.1])
#: Texts of documents.
TEXTS = {f"d{n}": f"This passage is number {n} of all passages." for n in range(1, 10)}
COUNTED = ("1", "2")


@dataclass(frozen=True)
class Shape:
    """A file by its name, what its queries are called, and the words of a refusal, if there is one."""

    data: Any
    queries: Sequence[str] = NAMED
    side: str = "pairs"
    refused: str = ""
    ids: Any = str
    lines: bool = False
    extra: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path, name: str) -> Path:
        path = folder / (re.sub(r"\W+", "-", name) + (".jsonl" if self.lines else ".json"))
        rows = "\n".join(map(json.dumps, self.data)) + "\n" if self.lines else json.dumps(self.data)
        path.write_text(rows)
        return path


def records(
    query: str = "query", ranking: str = "", gold: str = "", *, queries: Sequence[Any] = NAMED,
    ranked: Sequence[Any] = RANKED, golden: Sequence[Any] = GOLD, **more: Sequence[Any],
) -> list[dict[str, Any]]:  # fmt: skip
    """Write a record a query, with the names given."""
    columns = {query: queries, ranking: ranked, gold: golden, **more}
    return [{name: held[n] for name, held in columns.items() if name} for n in range(2)]


def each(make: Any, lists: Sequence[Sequence[str]] = RANKED) -> list[list[Any]]:
    """Write every document by its id, its score and its rank."""
    scores = SCORES if lists is RANKED else [[1.0] * len(ids) for ids in lists]
    return [
        [make(i, s, r) for r, (i, s) in enumerate(zip(ids, some, strict=True), 1)]
        for ids, some in zip(lists, scores, strict=True)
    ]


def texts(lists: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[TEXTS[document] for document in documents] for documents in lists]


def rows(make: Any, lists: Sequence[Sequence[str]] = RANKED) -> list[Any]:
    """Write a record a hit."""
    return [make(q, d, s) for q, ids in zip(NAMED, each(lambda i, s, r: (i, s), lists), strict=True)
            for d, s in ids]  # fmt: skip


def item(name: str, score: str = "score", **more: Any) -> Any:
    return lambda i, s, r: {name: i, score: s, **more}


SHAPES: dict[str, Shape] = {
    # what RAG developers log: both sides in a record
    "question, retrieved_ids, expected_ids": Shape(
        records("question", "retrieved_ids", "expected_ids", queries=ASKED), ASKED, lines=True),
    "query, results, relevant": Shape(records("query", "results", "relevant"), lines=True),
    "qid, hits with id and score": Shape(
        records("qid", "hits", "relevant_docs", ranked=each(item("id")))),
    "id, docs, gold": Shape(records("id", "docs", "gold"), lines=True),
    "id and question, docs, gold": Shape(
        records("id", "docs", "gold", question=ASKED), lines=True),
    "topic, documents, gold_ids": Shape(records("topic", "documents", "gold_ids")),
    "user_input, retrieved_context_ids, reference_context_ids (ragas)": Shape(
        records("user_input", "retrieved_context_ids", "reference_context_ids", queries=ASKED,
                retrieved_contexts=texts(RANKED), reference_contexts=texts(GOLD),
                response=ASKED, reference=ASKED), ASKED, lines=True),
    "samples of ragas in a wrapper": Shape(
        {"samples": records("user_input", "retrieved_context_ids", "reference_context_ids")}),
    "texts on both sides that meet (ragas)": Shape(
        records("user_input", "retrieved_contexts", "reference_contexts", queries=ASKED,
                ranked=texts(RANKED), golden=texts(GOLD)), ASKED, ids=TEXTS.get, lines=True),
    "texts on both sides that meet (DeepEval)": Shape(
        records("input", "retrieval_context", "context", queries=ASKED, ranked=texts(RANKED),
                golden=texts(GOLD), actual_output=ASKED), ASKED, ids=TEXTS.get),
    "camel case (DeepEval)": Shape(
        records("input", "retrievalContext", "context", queries=ASKED, ranked=texts(RANKED),
                golden=texts(GOLD), actualOutput=ASKED), ASKED, ids=TEXTS.get),
    "texts beside ids": Shape(
        records("question", "retrieved_ids", "gold_ids", contexts=texts(RANKED), answer=ASKED)),
    "an answer as ground_truth, and gold ids": Shape(
        records("question", "contexts", "gold_ids", ground_truth=ASKED)),
    "sources, expected_sources": Shape(records("question", "sources", "expected_sources")),
    "chunks with chunk_id and similarity": Shape(
        records("query", "chunks", "expected", ranked=each(item("chunk_id", "similarity")))),
    "chunks with text": Shape(
        records("query", "chunks", "positives",
                ranked=each(lambda i, s, r: {"id": i, "text": TEXTS[i], "score": s}))),
    "contexts with document_id and relevance_score": Shape(
        records("query", "contexts", "pos",
                ranked=each(item("document_id", "relevance_score", content="x")))),
    "passages with passage_id": Shape(
        records("question_id", "passages", "answers_docs", ranked=each(item("passage_id")))),
    "ranking of [id, score]": Shape(
        records("query", "ranking", "ground_truth", ranked=each(lambda i, s, r: [i, s]))),
    "a dict of scores": Shape(
        records("query", "retrieved", "gold", ranked=[{"d2": 0.1, "d1": 0.3},
                                                      {"d4": 1, "d2": 2, "d3": 3}])),
    "gold as a dict of grades": Shape(
        records("query", "retrieved", "gold", golden=[{"d2": 1}, {"d3": 1, "d9": 1}])),
    "gold as one string": Shape(
        [{"query": "q1", "retrieved": ["d1", "d2"], "expected": "d2"},
         {"query": "q2", "retrieved": ["d3", "d2", "d4"], "expected": ["d3", "d9"]}]),
    "parallel scores": Shape(
        records("query", "retrieved_ids", "relevant", scores=SCORES), lines=True),
    "parallel similarities, out of order": Shape(
        records("query", "doc_ids", "relevant", ranked=[["d2", "d1"], ["d4", "d3", "d2"]],
                similarities=[[0.4, 0.9], [0.1, 0.8, 0.5]])),
    "parallel distances, out of order": Shape(
        records("query", "retrieved_ids", "relevant", ranked=[["d2", "d1"], ["d4", "d3", "d2"]],
                distances=[[0.6, 0.1], [0.9, 0.2, 0.5]])),
    "items with distance": Shape(
        records("query", "results", "gold",
                ranked=[[{"id": "d2", "distance": 0.6}, {"id": "d1", "distance": 0.1}],
                        [{"id": "d4", "distance": 0.9}, {"id": "d3", "distance": 0.2},
                         {"id": "d2", "distance": 0.5}]])),
    "items with rank only": Shape(
        records("query", "results", "gold",
                ranked=[each(lambda i, s, r: {"id": i, "rank": r})[0][::-1],
                        each(lambda i, s, r: {"id": i, "rank": r})[1]])),
    "source_nodes of LlamaIndex": Shape(
        records("query", "source_nodes", "expected_ids",
                ranked=each(lambda i, s, r: {"node": {"id_": i, "text": TEXTS[i], "metadata": {
                    "file_name": "a.md"}}, "score": s}))),
    "results of LlamaIndex's RetrieverEvaluator": Shape(
        records("query", "retrieved_ids", "expected_ids", queries=ASKED,
                retrieved_texts=texts(RANKED), mode=("text", "text"),
                metric_dict=({"mrr": 0.5}, {"mrr": 1})), ASKED),
    "LangChain documents, id in metadata": Shape(
        records("question", "documents", "relevant_docs",
                ranked=each(lambda i, s, r: {"id": None, "page_content": TEXTS[i], "type":
                            "Document", "metadata": {"source": i, "page": 3}}))),
    "LangChain documents as its own JSON": Shape(
        records("question", "documents", "relevant_docs",
                ranked=each(lambda i, s, r: {"lc": 1, "type": "constructor", "id": ["langchain",
                            "Document"], "kwargs": {"page_content": "x y", "metadata": {"id": i}}}))),
    "LangChain pairs of document and score": Shape(
        records("question", "docs", "gold",
                ranked=each(lambda i, s, r: [{"page_content": "x", "metadata": {"doc_id": i}}, s]))),
    "Haystack documents on both sides": Shape(
        records("question", "retrieved_documents", "ground_truth_documents",
                ranked=each(lambda i, s, r: {"id": i, "content": "x", "meta": {}, "score": s}),
                golden=[[{"id": i, "content": "x", "meta": {}} for i in ids] for ids in GOLD])),
    "Haystack's columns without queries": Shape(
        {"ground_truth_documents": [[{"id": i, "content": "x"} for i in ids] for ids in GOLD],
         "retrieved_documents": each(item("id", content="x"))}, COUNTED),
    "inputs, outputs, reference_outputs (LangSmith)": Shape(
        [{"inputs": {"question": q}, "outputs": {"documents": found, "answer": "a"},
          "reference_outputs": {"documents": gold}}
         for q, found, gold in zip(ASKED, RANKED, GOLD, strict=True)], ASKED, lines=True),
    "columns of lists (datasets)": Shape(
        {"question": list(ASKED), "contexts": list(RANKED), "ground_truth_docs": list(GOLD),
         "answer": list(ASKED)}, ASKED),
    "by query": Shape(
        {q: {"retrieved": found, "expected": gold}
         for q, found, gold in zip(NAMED, RANKED, GOLD, strict=True)}),
    "by side": Shape(
        {"qrels": dict(zip(NAMED, GOLD, strict=True)),
         "run": {q: dict(zip(i, s, strict=True))
                 for q, i, s in zip(NAMED, RANKED, SCORES, strict=True)}}),
    "in results": Shape({"results": records("query", "retrieved", "gold"), "model": "x"}),
    "in data": Shape({"data": records("question", "chunks", "gold_ids"), "count": 2}),
    "in queries": Shape({"version": 1, "queries": records("id", "results", "relevant")}),
    "numbers as ids": Shape(
        records("qid", "retrieved", "relevant", queries=(1, 2), ranked=[[1, 2], [3, 2, 4]],
                golden=[[2], [3, 9]]), COUNTED, ids=lambda d: d[1:]),
    "no query at all": Shape(records("", "retrieved", "ground_truth"), COUNTED),
    "numbered records beside questions": Shape(
        [{"id": n, **record} for n, record in enumerate(
            records("question", "retrieved_ids", "gold"))], ("0", "1")),
    "rank_llm's requests": Shape(
        [{"query": {"text": t, "qid": q}, "candidates": found, "gold": gold} for t, q, found, gold
         in zip(ASKED, NAMED, each(lambda i, s, r: {"docid": i, "score": s, "doc": {"text": "x"}}),
                GOLD, strict=True)]),
    "RankGPT's hits, which name the query": Shape(
        [{"query": t, "hits": found, "relevant": gold} for t, found, gold in zip(
            ASKED, [[{"content": "x", "qid": q, "docid": i, "rank": r, "score": 9 - r}
                     for r, i in enumerate(ids)] for q, ids in zip(NAMED, RANKED, strict=True)],
            GOLD, strict=True)]),
    "spans of Phoenix": Shape(
        [{"attributes.input.value": q, "attributes.retrieval.documents": found, "gold": gold}
         for q, found, gold in zip(ASKED, each(lambda i, s, r: {
             "document.id": i, "document.content": "x", "document.score": s}), GOLD,
             strict=True)], ASKED, lines=True),
    "a reranker's places beside the documents (Cohere)": Shape(
        records("query", "results", "gold",
                ranked=[[{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}],
                        [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.5},
                         {"index": 1, "relevance_score": 0.1}]],
                documents=[["d2", "d1"], ["d2", "d4", "d3"]])),
    "a table of hits with grades": Shape(
        [{"query": q, "document": d, "score": 9 - n, "grade": int(d in gold)} for q, found, gold in
         zip(NAMED, RANKED, (["d2"], ["d3"]), strict=True) for n, d in enumerate(found)],
        lines=True, extra={"gold": "d3 only"}),
    # only a run
    "search_query and file_id (OpenAI)": Shape(
        [{"object": "vector_store.search_results.page", "search_query": [q], "data": found,
          "has_more": False} for q, found in zip(ASKED, each(lambda i, s, r: {
              "file_id": i, "filename": "x.pdf", "score": s, "attributes": {}, "content": []}),
              strict=True)], ASKED, "run", lines=True),
    "question and contexts": Shape(records("question", "contexts"), side="run", lines=True),
    "a hit a line: qid, docid, score": Shape(
        rows(lambda q, d, s: {"qid": q, "docid": d, "score": s}), side="run", lines=True),
    "a hit a line: question, passage_id, similarity": Shape(
        rows(lambda q, d, s: {"question": q, "passage_id": d, "similarity": s}), side="run",
        lines=True),
    "a hit a line with a distance": Shape(
        rows(lambda q, d, s: {"query": q, "doc_id": d, "distance": 1 - s})[::-1], side="run",
        lines=True),
    "a hit a line with the id in its metadata": Shape(
        rows(lambda q, d, s: {"query": q, "metadata": {"doc_id": d}, "score": s}), side="run",
        lines=True),
    "a list of hits": Shape(
        rows(lambda q, d, s: {"query_id": q, "corpus_id": d, "score": s}), side="run"),
    "results of BEIR": Shape(
        {q: dict(zip(i, s, strict=True)) for q, i, s in zip(NAMED, RANKED, SCORES, strict=True)},
        side="run"),
    "predictions of MTEB": Shape(
        {"mteb_model_meta": {"name": "x"}, "default": {"test": {
            q: dict(zip(i, s, strict=True))
            for q, i, s in zip(NAMED, RANKED, SCORES, strict=True)}}}, side="run"),
    "items by query": Shape(
        dict(zip(NAMED, each(item("node_id")), strict=True)), side="run"),
    "one record alone": Shape(
        {"query": "q1", "results": [{"id": "d1", "score": 2}, {"id": "d2", "score": 1}]},
        ("q1",), "run"),
    # only judgments
    "LlamaIndex's EmbeddingQAFinetuneDataset": Shape(
        {"queries": dict(zip(NAMED, ASKED, strict=True)), "corpus": TEXTS, "mode": "text",
         "relevant_docs": dict(zip(NAMED, GOLD, strict=True))}, side="qrels"),
    "positive_passages (Tevatron)": Shape(
        [{"query_id": q, "query": t, "positive_passages": [
            {"docid": d, "title": "x", "text": "y"} for d in gold]}
         for q, t, gold in zip(NAMED, ASKED, GOLD, strict=True)], side="qrels", lines=True),
    "query, pos as ids": Shape(records("query", "", "pos"), side="qrels", lines=True),
    "query_id and doc_ids": Shape(
        records("query_id", "doc_ids", ranked=GOLD), side="qrels", lines=True),
    "gold items with grades": Shape(
        records("qid", "", "relevant", golden=[[{"id": d, "relevance": 1} for d in g] for g in GOLD]),
        side="qrels"),
    # refused, with a hint that decides
    "two lists of ids": Shape(
        records("query", "retrieved", "gold", chunks=[["d9"], ["d8"]]),
        refused="retrieved and chunks could each be the ranking"),
    "two golds": Shape(
        records("query", "retrieved", "gold", positives=[["d9"], ["d8"]]),
        refused="gold and positives could each be the gold"),
    "names that nobody knows": Shape(
        records("utterance", "retrieved"), side="run",
        refused="no field names the query"),
    "a gold that nobody knows": Shape(
        records("query", "retrieved", "wanted"), refused="there is a ranking and no gold"),
    "a ranking that nobody knows": Shape(
        records("query", "finds", "gold"), refused="there is a gold and no ranking"),
    "one list of unknown name": Shape(
        records("query", "finds"), side="run", refused="there is no document"),
    "one list of unknown name as judgments": Shape(
        records("query", "", "wanted"), side="qrels", refused="there is no document"),
    "chunk ids and document ids": Shape(
        records("query", "results", "gold",
                ranked=each(lambda i, s, r: {"doc_id": i, "chunk_id": f"{i}#1", "score": s})),
        refused="doc_id and chunk_id could each be the document"),
    "two scores": Shape(
        records("query", "results", "gold", ranked=each(lambda i, s, r: {
            "id": i, "score": s, "rerank_score": 1 - s})),
        refused="score and rerank_score could each be the score"),
    "numbered records beside questions, one side": Shape(
        [{"id": n, "question": q, "results": found}
         for n, (q, found) in enumerate(zip(ASKED, RANKED, strict=True))], ASKED, "run",
        refused="id could be the number of the record"),
    "texts alone": Shape(
        records("question", "contexts", queries=ASKED, ranked=texts(RANKED)), ASKED, "run",
        refused="contexts holds texts", ids=TEXTS.get),
    "texts as gold alone": Shape(
        records("query", "", "pos", queries=ASKED, golden=texts(GOLD)), ASKED, "qrels",
        refused="pos holds texts", ids=TEXTS.get),
    "documents without an id": Shape(
        records("question", "documents", "gold", ranked=each(lambda i, s, r: {
            "page_content": i, "metadata": {}})), refused="there is no id"),
    "two ids in metadata": Shape(
        records("question", "documents", "gold", ranked=each(lambda i, s, r: {
            "page_content": "x y", "metadata": {"doc_id": i, "chunk_id": f"{i}-1"}})),
        refused="metadata.doc_id and metadata.chunk_id could each be the document"),
    "a hit a line, known by id": Shape(
        rows(lambda q, d, s: {"query": q, "id": d, "score": s}), side="run", lines=True,
        refused="id could be the number of the row"),
}  # fmt: skip

PASTED = re.compile(r"--columns (\S+)")


def expected(shape: Shape) -> tuple[dict[str, dict[str, float]], dict[str, list[str]]]:
    ids, gold = shape.ids, (["d2"], ["d3"]) if shape.extra else GOLD
    judged = {q: {ids(d): 1.0 for d in g} for q, g in zip(shape.queries, gold, strict=False)}
    return judged, {q: [ids(d) for d in r] for q, r in zip(shape.queries, RANKED, strict=False)}


def check(shape: Shape, path: Path, columns: dict[str, Any] | None = None) -> None:
    judged, ranked = expected(shape)
    if shape.side == "pairs":
        qrels, run = il.read_pairs(path, columns=columns)
    if shape.side == "qrels":
        qrels = il.read_qrels(path, columns=columns)
    if shape.side == "run":
        run = il.read_run(path, columns=columns)
    if shape.side != "run":
        pairs = zip(qrels.documents, qrels.grades.tolist(), strict=True)
        graded = list(pairs)
        relevant = {q: {d: g for d, g in graded[a:b] if g} for q, a, b in qrels.spans()}
        assert relevant == judged
    if shape.side != "qrels":
        assert ranking(run, shape.queries) == ranked


def ranking(run: il.Run, queries: Sequence[str]) -> dict[str, list[str]]:
    """Order each query's documents by score, or else by rank, or else as they are given."""
    found = run.rows()
    order = found.scores if found.scores is not None else None
    result = {}
    for query, span in found.spans().items():
        places = list(range(span.start, span.stop))
        if order is not None:
            places.sort(key=lambda i: -order[i])
        elif found.ranks is not None:
            places.sort(key=lambda i: found.ranks[i])  # type: ignore[index]
        result[query] = [found.documents[i] for i in places]
    return {query: result[query] for query in queries}


def command(*words: str) -> tuple[object, str]:
    out, code = io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main(list(words))
        except SystemExit as leaving:
            code = leaving.code
    return code or 0, out.getvalue()


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_read_right_or_its_hint_works(name: str, tmp_path: Path) -> None:
    shape = SHAPES[name]
    path = shape.write(tmp_path, name)
    if not shape.refused:
        check(shape, path)
        return
    with pytest.raises(il.InputError, match=shape.refused) as caught:
        check(shape, path)
    assert caught.value.hint
    options = PASTED.search(caught.value.hint)
    assert options, caught.value.hint
    check(shape, path, columns_of([options[1]])[0])


def test_there_are_many_shapes() -> None:
    assert len(SHAPES) >= 69


@pytest.mark.parametrize("name", list(SHAPES)[::4])
def test_the_command_line_reads_a_shape_alone(name: str, tmp_path: Path) -> None:
    shape = SHAPES[name]
    path = str(shape.write(tmp_path, name))
    code, said = command("eval", path, "-m", "RR@10")
    if shape.side != "pairs":
        assert code == 2
        assert "judgments come first, then runs" in said
        return
    options = PASTED.search(said)
    if shape.refused:
        assert code == 2
        assert options
        code, said = command("eval", path, "-m", "RR@10", "--columns", options[1])
    assert code == 0
    assert "0.7500" in said


class Plain:
    """An object with attributes, as most classes make them."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Model(Plain):
    """An object of pydantic, which is iterable."""

    model_fields: ClassVar[dict[str, Any]] = {}

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__dict__.items())


class Dataset:
    """A list of samples that is no list, as ragas has it."""

    def __init__(self, samples: list[Any]) -> None:
        self.samples = samples

    def __iter__(self) -> Iterator[Any]:
        return iter(self.samples)


def langchain(i: str, s: float, r: int) -> Any:
    return Model(id=None, metadata={"source": i}, page_content=TEXTS[i], type="Document")


def llama_index(i: str, s: float, r: int) -> Any:
    return Model(node=Model(id_=i, metadata={"file_name": "a.md"}, text=TEXTS[i]), score=s)


def haystack(i: str, s: float, r: int) -> Any:
    return Plain(id=i, content=TEXTS[i], meta={}, score=s, embedding=None)


def by_query(make: Any) -> dict[str, list[Any]]:
    return dict(zip(NAMED, each(make), strict=True))


RUNS: dict[str, Any] = {
    "LangChain documents": by_query(langchain),
    "LangChain documents with scores": by_query(lambda i, s, r: (langchain(i, s, r), s)),
    "LlamaIndex nodes": by_query(llama_index),
    "Haystack documents": by_query(haystack),
    "records with nodes": records("question", "source_nodes", ranked=each(llama_index)),
    "objects with nodes": [
        Plain(query=q, source_nodes=n) for q, n in by_query(llama_index).items()
    ],
}
SAMPLES = [
    Model(user_input=q, retrieved_context_ids=r, reference_context_ids=g, response="x")
    for q, r, g in zip(NAMED, RANKED, GOLD, strict=True)
]
CASES = [
    Plain(input=q, actual_output="x", retrieval_context=r, context=g, name=None)
    for q, r, g in zip(NAMED, texts(RANKED), texts(GOLD), strict=True)
]


@pytest.mark.parametrize("name", RUNS)
def test_objects_of_other_libraries_are_read_by_their_shape(name: str) -> None:
    assert ranking(il.read_run(RUNS[name]), NAMED) == dict(zip(NAMED, RANKED, strict=True))


def test_samples_of_other_libraries_hold_both_sides() -> None:
    for samples in (SAMPLES, Dataset(SAMPLES), Plain(samples=SAMPLES), iter(SAMPLES)):
        qrels, run = il.read_pairs(samples)
        assert il.evaluate(qrels, run, "RR").per_query["RR"] == [0.5, 1.0]
    qrels, run = il.read_pairs(CASES)
    assert il.evaluate(qrels, run, "RR").per_query["RR"] == [0.5, 1.0]


def test_what_was_taken_for_what_is_said_once() -> None:
    result = il.evaluate(*il.read_pairs(SAMPLES, name="samples"), "RR")
    said = [doubt.message for doubt in result.doubts if doubt.code == "read-as"]
    names = "query = user_input, ranking = retrieved_context_ids, gold = reference_context_ids"
    assert said == [f"samples: {names}"]
    ours = il.read_pairs(records("query", "retrieved", "gold"))
    assert "read-as" not in {doubt.code for doubt in il.evaluate(*ours, "RR").doubts}


def test_places_of_a_reranker_need_the_list_they_count_in(tmp_path: Path) -> None:
    whole = SHAPES["a reranker's places beside the documents (Cohere)"]
    alone = [{k: v for k, v in row.items() if k != "documents"} for row in whole.data]
    with pytest.raises(il.InputError, match="holds places in a list of documents") as caught:
        il.read_pairs(alone)
    assert 'put the ids beside it as "documents"' in caught.value.hint
    check(whole, whole.write(tmp_path, "whole"))


def test_lists_beside_hits_are_passed_over() -> None:
    rows = [{"query": "q1", "document": d, "highlights": ["a", "b"]} for d in ("d1", "d2")]
    assert il.read_run(rows).rows().documents == ["d1", "d2"]
    assert il.read_run({key: [row[key] for row in rows] for key in rows[0]}).rows().queries == (
        "q1",
    )


def test_a_distance_ranks_the_smallest_first_and_says_so(tmp_path: Path) -> None:
    for name in ("parallel distances, out of order", "items with distance"):
        shape = SHAPES[name]
        said = [doubt.message for doubt in il.evaluate(*il.read_pairs(shape.data), "RR").doubts]
        assert any("is a distance: the smallest one ranks first" in words for words in said)


def test_files_that_hold_both_sides_are_compared(tmp_path: Path) -> None:
    good, bad = (tmp_path / f"{name}.jsonl" for name in ("good", "bad"))
    other = tmp_path / "other.json"
    swapped = [found[::-1] for found in RANKED]
    for path, found in ((good, RANKED), (bad, swapped)):
        rows = records("query", "retrieved", "gold", ranked=found)
        path.write_text("\n".join(map(json.dumps, rows)))
    other.write_text(json.dumps(records("query", "retrieved", "gold", golden=[["d1"], ["d4"]])))
    code, said = command("compare", str(good), str(bad), "-m", "RR", "-b", str(bad))
    assert code == 0
    assert "between bad and good" in said
    assert command("eval", str(good), str(bad), "-m", "RR")[1].count("doubt: ") < 4
    code, said = command("eval", str(good), str(other))
    assert code == 2
    assert "holds other judgments than" in said
    hint = re.search(r"(convert \S+) (qrels.json) (--kind qrels)", said)
    assert hint
    written = str(tmp_path / "qrels.json")
    assert command(*hint[1].split(), written, *hint[3].split())[0] == 0
    assert command("eval", written, str(good), str(other), "-m", "RR")[0] == 0


KINDS = ("ids", "items", "texts", "text", "id", "number")


def content(kind: str, place: int, number: int) -> Any:
    """Write what a field holds, such that its ids say where they come from."""
    ids = [f"f{place}-{number}-{n}" for n in range(2)]
    return {
        "ids": ids, "items": [{"id": i, "score": 1 - n} for n, i in enumerate(ids)],
        "texts": [f"some words about {i}" for i in ids], "text": f"some words about {ids[0]}",
        "id": ids[0], "number": number,
    }[kind]  # fmt: skip


@st.composite
def some_fields(draw: st.DrawFn) -> dict[str, str]:
    """Draw names that mean something, or nothing, and what each holds."""
    pools = (column_names.RANKINGS, column_names.EITHER, column_names.GOLDS,
             ("notes", "answer", *column_names.RECORD_TEXTS[:6], *column_names.RECORD_IDS, "id"))  # fmt: skip
    names = draw(st.lists(
        st.sampled_from(pools).flatmap(st.sampled_from), min_size=2, max_size=6, unique=True))  # fmt: skip
    kinds = st.sampled_from(KINDS)
    return {name: draw(kinds) for name in names}


@given(some_fields(), st.randoms(use_true_random=False))
@settings(max_examples=tries(60, 150), deadline=None)
def test_what_is_read_is_what_is_said_and_nothing_else_was_meant(
    fields: dict[str, str], chance: Any
) -> None:
    order = list(fields)
    data = [{name: content(fields[name], order.index(name), n) for name in order} for n in range(3)]
    chance.shuffle(order)
    shuffled = [{name: record[name] for name in order} for record in data]
    outcomes = [outcome(data), outcome(shuffled)]
    assert outcomes[0] == outcomes[1]
    if isinstance(outcomes[0], str):
        return
    judged, ranked, said = outcomes[0]
    sources = {"gold": judged, "ranking": ranked}
    pools = {"gold": column_names.GOLDS, "ranking": (*column_names.RANKINGS, *column_names.EITHER)}
    for side, ids in sources.items():
        (place,) = {int(re.search(r"f(\d)-", i)[1]) for i in ids}  # type: ignore[index]
        name = list(fields)[place]
        assert name in pools[side] or (name == "context" and "retrieval_context" in fields)
        assert f"{side} = {name}" in said or name in USUAL[side]
        rivals = [
            other for other, kind in fields.items()
            if other in pools[side] and other != name and kind in ("ids", "items")
        ]  # fmt: skip
        assert all(other in column_names.EITHER and other == "context" for other in rivals)


def outcome(data: Any) -> Any:
    """Read both sides: the ids of each and what is said, or the code of the refusal."""
    try:
        qrels, run = il.read_pairs(data)
    except il.InputError as error:
        return error.code
    said = "; ".join(dict.fromkeys(r.message for r in (*qrels.remarks, *run.rows().remarks)))
    return frozenset(qrels.documents), frozenset(run.rows().documents), said


UNSORTED = ([0.1, 0.4], [0.2, 0.2, 0.9])
ORDERED: dict[str, Any] = {
    "pairs": [[*map(list, zip(*one, strict=True))] for one in zip(RANKED, UNSORTED, strict=True)],
    "objects": [
        [{"id": d, "score": s} for d, s in zip(*one, strict=True)]
        for one in zip(RANKED, UNSORTED, strict=True)
    ],
}


def said_of_order(path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Evaluate a file of both sides; return what is said about the order of its lists."""
    main(["eval", str(path), "-m", "RR", *more])
    said = "".join(capsys.readouterr()).splitlines()
    return "".join(line for line in said if "lists looked" in line)


@pytest.mark.parametrize("kind", [*ORDERED, "parallel"])
def test_scores_against_the_order_of_their_lists_are_doubted(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more: dict[str, Any] = {"scores": UNSORTED} if kind == "parallel" else {}
    data = records(ranking="results", gold="gold", ranked=ORDERED.get(kind, RANKED), **more)
    path = Shape(data, lines=True).write(tmp_path, kind)
    said = said_of_order(path, capsys)
    assert "the scores of 2 of 2 lists looked at do not fall (in all of them they rise" in said
    assert not said_of_order(path, capsys, "--set", "order=given")


def test_scores_that_fall_or_tie_are_not_doubted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tied = [[0.4, 0.4], [0.5, 0.5, 0.1]]
    data = records(ranking="results", gold="gold", scores=tied)
    assert not said_of_order(Shape(data, lines=True).write(tmp_path, "tied"), capsys)


@pytest.mark.parametrize("kind", ["frame", "records", "file"])
def test_lists_in_columns_of_frames_are_read(kind: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(records("question", "retrieved", "gold", queries=ASKED))
    frame.to_parquet(tmp_path / "log.parquet")
    again = pandas.read_parquet(tmp_path / "log.parquet")  # its lists are arrays
    data = {"frame": again, "records": again.to_dict("records"), "file": tmp_path / "log.parquet"}
    qrels, run = il.read_pairs(data[kind])
    assert [*qrels.documents] == [*chain(*GOLD)]
    assert [*run.rows().documents] == [*chain(*RANKED)]


def test_another_list_of_the_same_documents_is_mentioned() -> None:
    reranked = [ids[::-1] for ids in RANKED]
    data = records(ranking="retrieved", gold="gold", reranked=reranked, tags=[["a"], ["b"]])
    _, run = il.read_pairs(data)
    (said,) = [one for one in run.rows().remarks if one.severity == "warning"]
    assert "reranked also holds documents" in said.message
    assert "--columns ranking=reranked" in said.message
    _, run = il.read_pairs(data, columns={"ranking": "retrieved"})
    assert not run.rows().remarks


@pytest.mark.parametrize("column", ["score", "document"])
def test_names_that_no_field_has_are_refused(
    column: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = records(ranking="results", gold="gold", ranked=ORDERED["objects"])
    path = Shape(data, lines=True).write(tmp_path, "log")
    with pytest.raises(SystemExit):
        main(["eval", str(path), "--columns", f"{column}=nosuch"])
    said = " ".join(capsys.readouterr().err.split())
    assert f"no file has a column 'nosuch' to be the {column}" in said
    assert "log.jsonl has query, results, id, score, gold" in said
    main(["eval", str(path), "--columns", "document=results.id"])


@pytest.mark.parametrize("text", ["d2, d9", "d2;d9", '["d2", "d9"]', "['d2']"])
def test_several_ids_in_one_text_are_refused(text: str) -> None:
    data = records(ranking="retrieved", gold="gold", golden=(text, "d3"))
    with pytest.raises(il.InputError, match=r"record 1: gold .* holds a list of ids in one text"):
        il.read_pairs(data)
    named = records(ranking="retrieved", gold="gold", golden=(text, "d3"), ranked=([text], ["d2"]))
    assert il.read_pairs(named)[0].documents == (text, "d3")


def test_a_number_that_was_retrieved_is_the_only_gold() -> None:
    data = records(ranking="retrieved", gold="gold", golden=(2, 9), ranked=([1, 2], [3, 2]))
    assert il.read_pairs(data)[0].documents == ("2", "9")


def test_a_hint_does_not_name_a_field_for_both_sides() -> None:
    data = records(ranking="mine")
    with pytest.raises(il.InputError) as refused:
        il.read_pairs(data, columns={"ranking": "mine"})
    assert "gold=mine" not in str(refused.value)


def test_an_id_that_repeats_does_not_name_the_query() -> None:
    data = records("question", "retrieved", "gold", queries=ASKED, id=["exp-7", "exp-7"])
    with pytest.raises(il.InputError, match="id repeats") as refused:
        il.read_pairs(data)
    assert "--columns query=question" in str(refused.value)


@pytest.mark.parametrize("name", ["score", "scores", "similarity", "relevance_score"])
def test_scores_beside_a_list_rank_it(name: str) -> None:
    rows = [{"query": "q1", "retrieved": ["d1", "d2"], name: [0.1, 0.9], "gold": ["d2"]}]
    assert il.evaluate(*il.read_pairs(rows), "RR")["RR"] == 1.0


@pytest.mark.parametrize("name", ["grade", "grades", "labels", "relevance", "ratings"])
def test_grades_beside_the_gold_grade_it(name: str) -> None:
    rows = [{"query": "q1", "relevant": ["d1", "d2"], name: [2, 1]}]
    assert il.read_qrels(rows).to_dict() == {"q1": {"d1": 2, "d2": 1}}
    with pytest.raises(il.InputError, match="for 2 documents of relevant"):
        il.read_qrels([{**rows[0], name: [2]}])
