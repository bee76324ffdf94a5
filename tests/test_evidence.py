"""Evidence in chunks: against sets of characters, under many chunkings, and by hand."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealist as il
import oracle_evidence as plain
from idealist import EvidenceIoU, EvidencePrecision, EvidenceRecall
from idealist.bundling.result_bundle import bundle
from idealist.cli.main import main
from idealist.data.spans import Cover, Evidence, Ranges, Span
from idealist.errors import InputError, UsageError
from idealist.formats.quotes import SearchedText, closest, normalised
from idealist.formats.reading import ReadOptions
from idealist.protocol import Protocol
from idealist.ranking.chunk_lists import chunked
from idealist.ranking.ranked import Ranked, listing
from idealist.spark.spark_judgments import spark_judgments

COVERS = ["any", "share(0.3)", "share(0.75)", "whole", "iou(0.2)", "iou(0.6)"]
MEASURES = [
    "EvidenceRecall", "EvidencePrecision", "EvidenceIoU", "EvidenceRecall(unit=spans)",
    "EvidencePrecision(repeats=each)", "EvidenceIoU(repeats=each)",
]  # fmt: skip
CUTOFFS = ["", "@1", "@2", "@4"]
Names = dict[str, list[str]]
Table = dict[str, list[Any]]

numbers = st.integers(0, 30)
spans = st.builds(
    lambda document, start, size: f"{document}[{start}:{start + size}]",
    st.sampled_from(["a", "b[1]"]), numbers, st.integers(1, 12),
)  # fmt: skip
chunk_lists = st.lists(spans, max_size=9, unique=True)


def gold_of(pieces: Names, cover: str = "any") -> il.Qrels:
    rows = [{"query": q, "document": one} for q, names in pieces.items() for one in names]
    return il.read_evidence(rows, cover=cover)


def evidence_in(gold: il.Qrels) -> Evidence:
    assert gold.evidence is not None
    return gold.evidence


def placed(gold: il.Qrels, run: Any, **axes: Any) -> il.Placements:
    return Ranked(gold, il.read_run(run))[Protocol(**axes)]


# Ranges, and the measures, against sets of characters


@given(st.lists(st.tuples(numbers, numbers), max_size=8))
def test_new_parts_of_ranges_are_those_of_sets(given: list[tuple[int, int]]) -> None:
    ranges, seen = Ranges(), set[int]()
    for start, end in given:
        new = {place for a, b in ranges.add(start, end) for place in range(a, b)}
        assert new == set(range(start, end)) - seen
        seen |= new
        assert ranges.size == len(seen)
        edges = [edge for pair in zip(ranges.starts, ranges.ends, strict=True) for edge in pair]
        assert edges == sorted(set(edges))


@given(chunk_lists, st.lists(spans, min_size=1, max_size=5, unique=True), st.sampled_from(COVERS))
def test_values_are_those_of_sets(chunks: list[str], pieces: list[str], cover: str) -> None:
    gold, run = gold_of({"q": pieces}, cover), {"q": chunks}
    measures = [f"{name}{cut}" for name in MEASURES for cut in CUTOFFS]
    found = il.evaluate(gold, run, measures)
    for label in measures:
        measure = il.parse(label)
        params, seen = measure.filled().written(), chunks[: measure.cutoff]
        wanted = plain.of_text(measure.name, seen, pieces, params, cover)
        assert found[label] == pytest.approx(wanted, abs=1e-12), label
    entries = [
        name for own in plain.entries(chunks, sorted(pieces, key=_place), cover) for name in own
    ]
    lists = listing(chunked(il.read_run(run), gold), Protocol(), ["q"])
    assert [*lists["q"].documents] == entries
    ranks = {name: rank for rank, name in enumerate(entries, 1)}
    relevant = [ranks[one] for one in pieces if one in ranks]
    assert il.evaluate(gold, run, "R@3")["R@3"] == pytest.approx(
        sum(rank <= 3 for rank in relevant) / len(pieces)
    )


def _place(name: str) -> tuple[int, int]:
    span = Span.of(name)
    assert span is not None
    return span.start, span.end


@given(chunk_lists, st.lists(spans, min_size=1, max_size=4, unique=True))
def test_a_list_is_measured_as_in_a_run(chunks: list[str], pieces: list[str]) -> None:
    some, gold = ([tuple(Span.of(one) or ()) for one in names] for names in (chunks, pieces))
    for measure in (EvidenceRecall(), EvidencePrecision(), EvidenceIoU(repeats="each") @ 2):
        wanted = il.evaluate(gold_of({"q": pieces}), {"q": chunks}, measure)[measure]
        assert measure(some, judged=gold) == pytest.approx(wanted, abs=1e-15)


@given(chunk_lists, st.lists(spans, min_size=1, max_size=4, unique=True), st.data())
def test_tied_chunks_are_tied_entries(
    chunks: list[str], pieces: list[str], data: st.DataObject
) -> None:
    scores = [data.draw(st.sampled_from([1.0, 2.0])) for _ in chunks]
    run = {"q": dict(zip(chunks, scores, strict=True))}
    gold = gold_of({"q": pieces})
    ranking = listing(chunked(il.read_run(run), gold), Protocol(), ["q"])["q"]
    ordered = sorted(run["q"], key=lambda name: (run["q"][name], name), reverse=True)
    entries = plain.entries(ordered, sorted(pieces, key=_place), "any")
    tied = [scores.count(run["q"][chunk]) > 1 for chunk in ordered]
    size = {score: sum(len(own) for chunk, own in zip(ordered, entries, strict=True)
                       if run["q"][chunk] == score) for score in (1.0, 2.0)}  # fmt: skip
    wanted, rank = [], 1
    for chunk, own, is_tied in zip(ordered, entries, tied, strict=True):
        score = run["q"][chunk]
        first, last = (1, size[2.0]) if score == 2.0 else (size[2.0] + 1, sum(size.values()))
        wanted += [(first, last) if is_tied else (rank + i, rank + i) for i in range(len(own))]
        rank += len(own)
    assert [*zip(ranking.first.tolist(), ranking.last.tolist(), strict=True)] == wanted


# By hand, and as Chroma's evaluation computes it


def test_text_is_counted_as_by_hand() -> None:
    gold = gold_of({"q": ["d[20:50]", "d[40:60]", "e[0:10]"]})  # 40 + 10 characters
    run = {"q": ["d[0:40]", "d[30:70]", "x[0:20]", "e[5:25]"]}
    found = il.evaluate(gold, run, [f"{name}{cut}" for name in MEASURES for cut in ("@2", "")])
    wanted = {
        "EvidenceRecall@2": 40 / 50, "EvidenceRecall": 45 / 50,
        "EvidencePrecision@2": 40 / 70, "EvidencePrecision": 45 / 110,
        "EvidenceIoU@2": 40 / 80, "EvidenceIoU": 45 / 115,
        "EvidenceRecall(unit=spans)@2": 2 / 3, "EvidenceRecall(unit=spans)": 1.0,
        "EvidencePrecision(repeats=each)@2": 40 / 80, "EvidencePrecision(repeats=each)": 45 / 120,
        "EvidenceIoU(repeats=each)@2": 40 / 90, "EvidenceIoU(repeats=each)": 45 / 125,
    }  # fmt: skip
    assert {label: found[label] for label in found} == pytest.approx(wanted)


def test_a_second_chunk_with_the_same_evidence_gains_nothing() -> None:
    gold = gold_of({"q": ["d[10:20]", "d[12:30]", "d[50:60]"]})
    run = {"q": ["d[0:25]", "d[10:28]", "d[40:70]"]}  # two pieces, nothing new, one piece
    found = il.evaluate(gold, run, ["nDCG@10", "AP", "P@4", "R@2", "RR"])
    ideal = 1 + 1 / np.log2(3) + 1 / np.log2(4)
    assert found["nDCG@10"] == pytest.approx((1 + 1 / np.log2(3) + 1 / np.log2(5)) / ideal)
    assert found["AP"] == pytest.approx((1 + 1 + 3 / 4) / 3)
    assert [found["P@4"], found["R@2"], found["RR"]] == pytest.approx([0.75, 2 / 3, 1.0])


@pytest.mark.parametrize(
    ("cover", "ranks"),
    [("any", [1]), ("share(0.3)", [1]), ("share(0.4)", [2]), ("share(0.95)", [3]),
     ("whole", [3]), ("iou(0.2)", [2]), ("iou(0.7)", [])],
)  # fmt: skip
def test_a_piece_is_found_as_the_rule_says(cover: str, ranks: list[int]) -> None:
    gold = gold_of({"q": ["d[10:20]"]}, cover)
    found = placed(gold, {"q": ["d[0:13]", "d[13:19]", "d[0:40]"]})
    assert found.rank.tolist() == ranks


def chroma(chunks: list[str], pieces: list[str]) -> tuple[float, float, float]:
    """Compute recall, precision and IoU as Chroma's evaluation defines them.

    A token counts once above the line, in however many chunks it is, and below it as often as it
    was retrieved; "tokens" are characters by their place in the corpus.
    """
    evidence = set().union(*map(plain.characters, pieces))
    retrieved = [token for chunk in chunks for token in plain.characters(chunk)]
    both, missed = len(evidence & set(retrieved)), len(evidence - set(retrieved))
    return both / len(evidence), both / len(retrieved), both / (len(retrieved) + missed)


@given(
    st.lists(spans, min_size=1, max_size=6, unique=True), st.lists(spans, min_size=1, max_size=3)
)
def test_chroma_counts_repeated_text_each_time(chunks: list[str], pieces: list[str]) -> None:
    gold = gold_of({"q": sorted(set(pieces))})
    labels = [MEASURES[0], *MEASURES[4:]]
    found = il.evaluate(gold, {"q": chunks}, labels)
    assert [found[label] for label in labels] == pytest.approx(chroma(chunks, pieces))


def test_documents_count_where_no_spans_are_judged() -> None:
    found = il.evaluate({"q": {"a": 1, "b": 0, "c": 2}}, {"q": ["a", "x", "b"]}, "EvidenceIoU")
    assert found["EvidenceIoU"] == 1 / 4
    assert "no-spans" in {one.code for one in found.doubts}
    spans = il.evaluate(gold_of({"q": ["a[0:9]"]}), {"q": ["a[0:9]"]}, "EvidenceIoU")
    assert "no-spans" not in {one.code for one in spans.doubts}


# One gold under many chunkings

WORDS = [
    "the",
    "list",
    "of",
    "rooms",
    "was",
    "sorted",
    "by",
    "hand",
    "and",
    "nobody",
    "asked",
    "why",
    "it",
    "took",
    "so",
    "very",
    "long",
]


class Corpus:
    """Documents of sentences, evidence in some of them, and ways to cut them into chunks."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = random.Random(seed)
        self.sentences = {
            f"doc{n}": [
                f"{' '.join(rng.choices(WORDS, k=rng.randint(3, 12)))} {n}-{i}. "
                for i in range(rng.randint(4, 20))
            ]
            for n in range(6)
        }
        self.texts = {name: "".join(own) for name, own in self.sentences.items()}
        self.gold = il.read_evidence(
            [
                {"query": f"q{n}", "document": name, "quote": self.sentences[name][place].strip()}
                for n in range(5)
                for name in rng.sample(sorted(self.texts), 2)
                for place in rng.sample(range(len(self.sentences[name])), 2)
            ],
            docs=self.texts,
        )
        self.order = {f"q{n}": rng.sample(sorted(self.texts), 6) for n in range(5)}

    def cuts(self, way: int) -> dict[str, list[tuple[int, int]]]:
        """Cut into even parts, with an overlap, at random, or between sentences."""
        rng = random.Random(way)
        found = {}
        for name, text in self.texts.items():
            if way % 4 == 3:  # after so many sentences
                ends = np.cumsum([len(one) for one in self.sentences[name]]).tolist()
                edges = sorted({0, *ends[:: way % 3 + 1], len(text)})
                found[name] = list(pairwise(edges))
            elif way % 4 == 2:
                edges = sorted({0, len(text), *rng.sample(range(1, len(text)), 5)})
                found[name] = list(pairwise(edges))
            else:
                size, step = 20 + 7 * way, (20 + 7 * way) // (1 + way % 2)
                found[name] = [(a, min(a + size, len(text))) for a in range(0, len(text), step)]
        return found

    def run(self, way: int, with_texts: bool = False) -> dict[str, list[dict[str, Any]]]:
        """Retrieve every chunk, by document and place."""
        cuts = self.cuts(way)
        return {
            query: [
                {"doc": name, "text": self.texts[name][a:b]} if with_texts
                else {"doc": name, "start": a, "end": b}
                for name in order
                for a, b in cuts[name]
            ]
            for query, order in self.order.items()
        }  # fmt: skip


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(7)


@pytest.mark.parametrize("seed", range(3))
def test_twenty_chunkings_agree_where_they_must(seed: int) -> None:
    corpus = Corpus(seed)
    gold, documents = corpus.gold, il.evidence_documents(corpus.gold)
    size = sum(map(len, corpus.texts.values()))
    share = np.mean(list(evidence_in(gold).sizes.values())) / size
    whole, by_document = [], []
    for way in range(20):
        chunks = il.read_chunks(corpus.run(way))
        for cover in COVERS[:4]:  # of everything, everything is found
            one = il.read_evidence(gold, cover=cover)
            assert one.cover == cover
            found = il.evaluate(one, chunks, ["EvidenceRecall", "EvidenceRecall(unit=spans)", "R"])
            assert [found[label] for label in found] == [1.0, 1.0, 1.0]
        found = il.evaluate(gold, chunks, ["EvidencePrecision", "EvidenceIoU"])
        assert found["EvidencePrecision"] == pytest.approx(share)
        assert found["EvidenceIoU"] == pytest.approx(share)
        collapsed = il.evaluate(
            documents, chunks, ["nDCG@10", "AP", "RR", "R@3", "P@5"], collapse=r"\[\d+:\d+\]"
        )
        by_document.append([collapsed[label].hex() for label in collapsed])
        whole.append(found.signatures)
    assert all(one == by_document[0] for one in by_document)
    assert all(one == whole[0] for one in whole)


def test_the_order_of_evidence_decides_and_not_the_size_of_chunks(corpus: Corpus) -> None:
    """Chunks of whole sentences that hold evidence, in the order of the documents."""
    labels, values = ["nDCG@10", "AP", "R@2", "RR", "EvidenceRecall"], []
    for way in range(3, 20, 4):
        run = {
            query: [
                one for one in own
                if any(one["doc"] == d and one["start"] < p.end and p.start < one["end"]
                       for d, pieces in evidence_in(corpus.gold).pieces[query].items() for p in pieces)
            ]
            for query, own in corpus.run(way).items()
        }  # fmt: skip
        found = il.evaluate(corpus.gold, il.read_chunks(run), labels)
        values.append([found[label] for label in labels])
    assert all(one == values[0] for one in values)
    assert values[0][0] == 1.0


def test_the_same_text_has_the_same_value(corpus: Corpus) -> None:
    """Down to one place of a document, whatever chunks its text was read in."""
    name, text = next(iter(corpus.texts.items()))
    rng, gold = (
        random.Random(1),
        il.read_evidence([{"query": "q", "doc": name, "start": 9, "end": 60}]),
    )
    values = set()
    for _ in range(20):
        edges = sorted({0, 50, *rng.sample(range(1, 50), 4)})
        chunks = [Span(name, a, b).name for a, b in pairwise(edges)]
        rng.shuffle(chunks)
        found = il.evaluate(
            gold, {"q": chunks}, ["EvidenceRecall", "EvidencePrecision", "EvidenceIoU"]
        )
        values.add(tuple(found[label] for label in found))
    assert values == {(41 / 51, 41 / 50, 41 / 60)}
    assert len(text) > 60


@pytest.mark.parametrize("way", range(0, 20, 3))
def test_texts_are_found_where_they_were_cut(corpus: Corpus, way: int) -> None:
    given = il.read_chunks(corpus.run(way)).rows()
    found = il.read_chunks(corpus.run(way, with_texts=True), docs=corpus.texts).rows()
    for one, other in zip(given.documents, found.documents, strict=True):
        assert _text(corpus, one) == _text(corpus, other)  # the same words may stand twice


def _text(corpus: Corpus, name: str) -> str:
    span = Span.of(name)
    assert span is not None
    return corpus.texts[span.document][span.start : span.end]


# Quotes

signs = st.text(alphabet="ab c-'", max_size=9)


@given(st.text(alphabet="abc", min_size=1, max_size=7), st.text(alphabet="abc", max_size=12))
def test_the_fewest_edits_are_those_of_the_table(words: str, text: str) -> None:
    for anchored in (False, True):
        row = [(place if anchored else 0) for place in range(len(text) + 1)]
        for i, sign in enumerate(words, 1):
            below = [i]
            for j, other in enumerate(text, 1):
                below.append(min(row[j - 1] + (sign != other), row[j] + 1, below[-1] + 1))
            row = below
        assert closest(words, text, anchored=anchored) == (min(row), row.index(min(row)))


@given(st.text(max_size=30))
def test_every_plain_character_has_a_source(text: str) -> None:
    words, starts, ends = normalised(text)
    assert len(words) == len(starts) == len(ends)
    assert all(0 <= a < b <= len(text) for a, b in zip(starts, ends, strict=True))
    assert starts == sorted(starts)


TEXT = (
    "Room 12 is kept at 4 °C — “cold”, as the plan says.\n\n  The café’s\tﬁles were moved to the "
    "cellar in May. Nobody asked why it took so long, and nobody was told."
)


@pytest.mark.parametrize(
    ("quote", "where", "how", "edits"),
    [
        ("kept at 4 °C — “cold”", "kept at 4 °C — “cold”", "exact", 0),
        ('KEPT at 4 °C - "cold"', "kept at 4 °C — “cold”", "normalised", 0),
        ("The cafe\u0301's files were", "The café’s\tﬁles were", "normalised", 0),
        (" the plan says. The café's ", "the plan says.\n\n  The café’s", "normalised", 0),
        ("files was moved to the celar in May", "ﬁles were moved to the cellar in May", "fuzzy", 4),
        ("Nobody asked why it took very long", "Nobody asked why it took so long", "fuzzy", 4),
    ],
)
def test_quotes_are_found_again(quote: str, where: str, how: str, edits: int) -> None:
    found = SearchedText(TEXT).find(quote)
    assert found is not None
    assert (TEXT[found.start : found.end], found.how, found.edits) == (where, how, edits)


@pytest.mark.parametrize("quote", ["", "  ", "the king of France is bald", "zzzz"])
def test_what_is_not_there_is_lost(quote: str) -> None:
    assert SearchedText(TEXT).find(quote) is None


@given(st.integers(0, 10**6))
def test_an_edited_quote_is_found_where_it_was(seed: int) -> None:
    rng = random.Random(seed)
    text = " ".join(rng.choices(WORDS, k=60)) + " " + " ".join(f"{n}x{n * n}" for n in range(20))
    start = rng.randrange(len(text) - 60)
    quote, edits = list(text[start : start + 60]), rng.randint(1, 4)
    for _ in range(edits):
        quote[rng.randrange(len(quote))] = rng.choice("éüñ")
    found = SearchedText(text).find("".join(quote))
    assert found is not None
    assert found.how == "fuzzy"
    assert found.edits <= edits
    assert abs(found.start - start) <= edits + 1 or text.count(text[found.start : found.end]) >= 1


def test_of_several_places_the_nearest_counts() -> None:
    def start(quote: str, near: int | None) -> int:
        found = SearchedText("one two. one two. one two.").find(quote, near)
        assert found is not None
        assert found.times == 3
        return found.start

    assert [start("one two", near) for near in (None, 0, 8, 25)] == [0, 0, 9, 18]
    assert [start("ONE TWO", near) for near in (None, 10, 25)] == [0, 9, 18]


def doubts(gold: il.Qrels, run: Any, measures: Any = "EvidenceRecall") -> dict[str, str]:
    return {one.code: one.message for one in il.evaluate(gold, run, measures).doubts}


def test_what_moved_is_said_and_what_is_lost_too() -> None:
    rows = [
        {"query": "q1", "doc": "d", "start": 3, "end": 10, "quote": "Room 12"},
        {"query": "q1", "doc": "d", "quote": "the café's files ware moved"},
        {"query": "q1", "doc": "d", "quote": "nobody"},
        {"query": "q2", "doc": "d", "quote": "a sentence that was taken out of the plan"},
        {"query": "q2", "doc": "gone", "quote": "a document that was taken out"},
    ]
    gold = il.read_evidence(rows, docs={"d": TEXT})
    assert gold.to_dict() == {"q1": {"d[0:7]": 1, "d[55:81]": 1, "d[142:148]": 1}, "q2": {}}
    lost = il.read_chunks({"q1": [{"doc": "d", "text": "no such text"}]}, docs={"d": TEXT})
    said = doubts(gold, lost)
    assert said["moved-quotes"] == (
        "qrels: 2 of 5 quotes are found again, moved or edited (d[3:10] at 0:7, "
        "d[55:81] with 1 edit)"
    )
    both = [one.message for one in il.evaluate(gold, lost, "R").doubts if one.code == "lost-quotes"]
    assert both == [
        "qrels: 2 of 5 quotes are in none of the documents, and left out (d: 'a sentence that was "
        "taken out of the pla'…, gone: 'a document that was taken out')",
        "run: 1 of 1 chunks is in none of the documents, and finds nothing (d: 'no such text')",
    ]
    codes = [one.code for one in il.evaluate(gold, {"q1": ["d[0:9]"]}, "R").doubts]
    assert codes.count("lost-quotes") == 1
    assert "no-relevant" in codes
    nobody = il.read_evidence(
        [{"query": "q", "doc": "d", "quote": "nobody "}], docs={"d": "nobody nobody it "}
    )
    assert "repeated-quotes" in doubts(nobody, {"q": ["d[0:1]"]})


def test_quotes_that_are_not_as_long_as_their_spans_are_doubted() -> None:
    rows = [{"query": "q", "doc": "d", "start": 0, "end": 6, "quote": "Zürich"[:5]}]
    assert "odd-quotes" in doubts(il.read_evidence(rows), {"q": ["d[0:9]"]})
    assert "odd-quotes" not in doubts(il.read_evidence([{**rows[0], "end": 5}]), {"q": ["d[0:9]"]})


def test_a_lost_chunk_was_read_and_covers_nothing() -> None:
    gold = il.read_evidence([{"query": "q", "doc": "d", "start": 0, "end": 10}])
    run = {"q": [{"doc": "d", "start": 0, "end": 10}, {"doc": "d", "text": "?" * 30}]}
    found = il.evaluate(gold, il.read_chunks(run, docs={"d": TEXT}), MEASURES[:3])
    assert [found[label] for label in found] == [1.0, 0.25, 0.25]


# Offsets


@given(st.text(alphabet="aé漢😀", min_size=2, max_size=20), st.data())
def test_offsets_may_count_other_units(text: str, data: st.DataObject) -> None:
    start, end = sorted(
        data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2, unique=True))
    )
    for unit, code, width in (("utf8", "utf-8", 1), ("utf16", "utf-16-le", 2)):
        first, last = (len(text[:edge].encode(code)) // width for edge in (start, end))
        row = {"query": "q", "doc": "d", "start": first, "end": last}
        gold = il.read_evidence([row], docs={"d": text}, offsets=unit)
        assert [*gold.documents] == [f"d[{start}:{end}]"]
        chunks = il.read_chunks([row], docs={"d": text}, offsets=unit)
        assert [*chunks.rows().documents] == [f"d[{start}:{end}]"]


# Shapes of data


@pytest.mark.parametrize(
    "run",
    [
        [{"query": "q", "doc": "d", "start": 0, "end": 9, "score": 1.0}],
        {"query": ["q"], "document": ["d"], "start_index": [0], "end_index": [9]},
        {"q": [{"doc_id": "d", "chunk_id": "7", "start": 0, "end": 9, "score": 1}]},
        {"q": ["d[0:9]"]},
        [("q", "d[0:9]", 0.5)],
        [{"query": "q", "retrieved": [
            {"page_content": "Room 12 i", "metadata": {"source": "d", "start_index": 0}}]}],
        [{"query": "q", "retrieved": [
            {"node": {"id_": "n1", "text": "Room 12 i", "metadata": {"file_name": "d"}},
             "score": 0.4}]}],
        [{"query_id": "q", "results": [{"id": "x", "document_id": "d", "text": "Room 12 i"}]}],
    ],
)  # fmt: skip
def test_chunks_come_in_many_shapes(run: Any) -> None:
    rows = il.read_chunks(run, docs={"d": TEXT}).rows()
    assert (rows.queries, [*rows.documents]) == (("q",), ["d[0:9]"])
    gold = il.read_evidence([{"query": "q", "doc": "d", "start": 0, "end": 18}])
    assert il.evaluate(gold, il.read_chunks(run, docs={"d": TEXT}), "EvidenceRecall")[
        "EvidenceRecall"
    ] == 0.5  # fmt: skip


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".tsv", ".parquet"])
def test_gold_and_chunks_in_files_show_what_they_are(tmp_path: Path, suffix: str) -> None:
    gold: Table = {"query": ["q", "q"], "document": ["d", "d"], "start": [0, 30], "end": [10, 40]}
    run: Table = {"query": ["q", "q"], "document": ["d", "d"], "start": [0, 20], "end": [20, 35],
           "score": [0.5, 0.4]}  # fmt: skip
    for name, table in (("gold", gold), ("run", run)):
        _write(tmp_path / f"{name}{suffix}", table)
    found = il.evaluate(tmp_path / f"gold{suffix}", tmp_path / f"run{suffix}", MEASURES[:3])
    assert [found[label] for label in found] == [15 / 20, 15 / 35, 15 / 40]
    assert found.signatures == il.evaluate(il.read_evidence(gold), run, MEASURES[:3]).signatures


def _write(path: Path, table: Table) -> None:
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    if path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(table), path)
    elif path.suffix in (".csv", ".tsv"):
        sign = "," if path.suffix == ".csv" else "\t"
        lines = [table, *(map(str, row.values()) for row in rows)]
        path.write_text("".join(f"{sign.join(line)}\n" for line in lines))
    else:
        text = json.dumps(rows) if path.suffix == ".json" else "\n".join(map(json.dumps, rows))
        path.write_text(text)


def test_gold_is_written_and_read_as_judgments(tmp_path: Path) -> None:
    gold = gold_of({"q": ["d[0:10]", "e[5:9]"]})
    il.write_qrels(gold, tmp_path / "gold.qrels")
    again = il.read_evidence(tmp_path / "gold.qrels")
    assert again.hash == gold.hash
    assert il.read_qrels(tmp_path / "gold.qrels").hash != gold.hash  # documents of these names


def test_rules_that_mean_the_same_have_the_same_signature() -> None:
    hashes = {cover: gold_of({"q": ["d[0:10]"]}, cover).hash for cover in (*COVERS, "share(1)")}
    assert hashes["share(1)"] == hashes["whole"]
    assert len(set(hashes.values())) == len(COVERS)
    assert all(Cover.of(cover).written == cover for cover in COVERS)


def test_grades_count(tmp_path: Path) -> None:
    rows = [{"query": "q", "doc": "d", "start": 0, "end": 5, "grade": 2},
            {"query": "q", "doc": "d", "start": 9, "end": 15, "grade": 1}]  # fmt: skip
    found = il.evaluate(il.read_evidence(rows), {"q": ["d[8:20]", "d[0:5]"]}, ["DCG", "AP(rel=2)"])
    assert found["DCG"] == pytest.approx(1 + 2 / np.log2(3))
    assert found["AP(rel=2)"] == 0.5


# Bad input

GOLD = {"query": "q", "doc": "d", "start": 0, "end": 5}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({**GOLD, "start": 7}, "the span from 7 to 5 is empty"),
        ({**GOLD, "end": 0}, "the span from 0 to 0 is empty"),
        ({**GOLD, "start": -1}, "offset -1 is no whole number of at least 0"),
        ({**GOLD, "start": 1.5}, "offset 1.5 is no whole number"),
        ({**GOLD, "end": "five"}, "offset 'five' is no whole number"),
        ({**GOLD, "end": None}, "nothing says where in the document it is"),
        ({**GOLD, "start": None, "end": None, "quote": "Room"}, "only its text says where it is"),
        ({**GOLD, "grade": 0}, "evidence of grade 0"),
        ({**GOLD, "grade": -1}, "evidence of grade -1"),
        ({**GOLD, "grade": 0.5}, "evidence of grade 0.5"),
    ],
)
def test_bad_gold_is_refused_with_its_line(tmp_path: Path, row: dict[str, Any], words: str) -> None:
    lines = [
        {**GOLD, "grade": 1, "quote": None} | row,
        {**GOLD, "doc": "e", "grade": 1, "quote": None},
    ]
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(InputError, match=re.escape(words)) as raised:
        il.read_qrels(path)
    assert raised.value.hint
    assert "grade" in words or raised.value.line == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: il.read_evidence({"q": {"d1": 1}}), "document 'd1': this is no part of a document"),
        (lambda: il.read_evidence([GOLD], cover="share(0)"), "cover cannot be 'share(0)'"),
        (lambda: il.read_evidence([GOLD], cover="half"), "cover cannot be 'half'"),
        (lambda: il.read_evidence([GOLD], offsets="bytes"), "offsets cannot be 'bytes'"),
        (lambda: il.read_evidence([GOLD], offsets="utf8"), "need the text of the document"),
        (lambda: il.read_evidence([GOLD], docs={"d": "é"}, offsets="utf8"), "no place between"),
        (lambda: il.evaluate(il.read_evidence([GOLD]), {"q": ["d1"]}, "R"), "'d1': nothing says where"),
        (lambda: il.evidence_documents(il.read_qrels({"q": {"d": 1}})), "not of spans"),
        (lambda: bundle(il.read_evidence([GOLD]), {"a": {"q": ["d[0:5]"]}}), "a bundle keeps"),
        (lambda: spark_judgments(il.read_evidence([GOLD])), "not evaluated on Spark"),
        (lambda: il.read_qrels(ReadOptions(cover="any").of("examples/qrels.txt")), "about spans"),
        (lambda: tied(ties="best"), "ties=best does not work"),
        (lambda: tied(ties="expected"), "ties=expected does not work"),
        (lambda: tied(unjudged="drop"), "looks at all chunks"),
        (lambda: tied(collapse=r"\[\d+:\d+\]"), "d is no chunk"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused(call: Any, words: str) -> None:
    with pytest.raises((InputError, UsageError), match=re.escape(words)) as raised:
        call()
    assert raised.value.hint


def tied(**axes: Any) -> Any:
    run = {"q": {"d[0:2]": 1.0, "d[2:5]": 1.0}}
    return il.evaluate(il.read_evidence([GOLD]), run, "EvidenceRecall@1", **axes)


def test_ties_are_doubted_by_orders_that_were_tried() -> None:
    (one,) = [doubt for doubt in tied().doubts if doubt.code == "ties"]
    assert "EvidenceRecall@1 at least from" in one.message
    assert (tied(ties="docid-asc")["EvidenceRecall@1"], tied()["EvidenceRecall@1"]) == (0.4, 0.6)


def test_nothing_found_is_no_fault_where_documents_meet() -> None:
    gold = il.read_evidence([GOLD], cover="whole")
    found = il.evaluate(gold, {"q": ["d[0:3]", "d[9:12]"]}, "R")
    assert not any(doubt.severity == "error" for doubt in found.doubts)
    other = il.evaluate(gold, {"q": ["x[0:3]"]}, "R")
    assert any(doubt.severity == "error" for doubt in other.doubts)


# Every verb


@pytest.fixture
def files(tmp_path: Path, corpus: Corpus) -> Path:
    (tmp_path / "corpus.jsonl").write_text(
        "\n".join(json.dumps({"id": name, "text": text}) for name, text in corpus.texts.items())
    )
    pieces = [
        (query, Span.of(name)) for query, grades in corpus.gold.to_dict().items() for name in grades
    ]
    rows = [
        {"query": q, "document": s.document, "start": s.start, "end": s.end} for q, s in pieces if s
    ]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for way, name in ((0, "small"), (8, "large")):
        lines = [
            json.dumps({"query": query, **chunk, "score": round(1 - rank / 7, 1)})
            for query, own in corpus.run(way).items()
            for rank, chunk in enumerate(own[:30])
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    return tmp_path


@pytest.mark.parametrize("measure", ["EvidenceRecall@5", "EvidencePrecision@3", "nDCG@10"])
@pytest.mark.parametrize(
    "words",
    [
        "eval gold.jsonl small.jsonl large.jsonl", "eval gold.jsonl small.jsonl --bounds",
        "compare gold.jsonl small.jsonl large.jsonl", "gate gold.jsonl small.jsonl small.jsonl",
        "explain gold.jsonl small.jsonl --query q0", "explain gold.jsonl small.jsonl --worst 3",
        "explain gold.jsonl small.jsonl large.jsonl --query q1", "audit gold.jsonl small.jsonl",
        "diagnose gold.jsonl small.jsonl", "report gold.jsonl small.jsonl large.jsonl -o r.html",
        "plot spread gold.jsonl small.jsonl large.jsonl -f csv", "plot losses gold.jsonl small.jsonl -f csv",
        "plot depth gold.jsonl small.jsonl -f csv",
    ],
)  # fmt: skip
def test_every_verb_takes_evidence(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, words: str, measure: str
) -> None:
    monkeypatch.chdir(files)
    main([*words.split(), "-m", measure, "--docs", "corpus.jsonl"])
    out, err = capsys.readouterr()
    assert "error" not in err
    assert out or (files / "r.html").exists()


def test_the_command_line_prints_what_python_computes(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(files)
    main(
        [
            "eval",
            "gold.jsonl",
            "small.jsonl",
            "-m",
            "EvidenceIoU@5",
            "-m",
            "nDCG@10",
            "--cover",
            "whole",
            "-f",
            "json",
        ]
    )
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    gold = il.read_evidence("gold.jsonl", cover="whole")
    found = il.evaluate(gold, il.read_chunks("small.jsonl"), ["EvidenceIoU@5", "nDCG@10"])
    assert run["values"] == {label: found[label] for label in found}


def test_a_fused_run_of_chunks_is_one_of_chunks(files: Path) -> None:
    runs = [il.read_chunks(files / f"{name}.jsonl") for name in ("small", "large")]
    fused = il.fuse(runs, "RRF")
    assert il.evaluate(files / "gold.jsonl", fused, "EvidenceRecall")["EvidenceRecall"] > 0
    gold = replace(il.read_evidence(files / "gold.jsonl"), cover="share(0.5)")
    assert il.reconcile(
        gold, runs[0], "nDCG@10", round(il.evaluate(gold, runs[0], "nDCG@10")["nDCG@10"], 4)
    )


LOG = {
    "query": "q",
    "retrieved": [{"document": "d", "start": 0, "end": 20}, {"document": "e", "start": 0, "end": 20}],
    "gold": [{"document": "d", "start": 10, "end": 30}],
}  # fmt: skip


def test_a_log_may_hold_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.jsonl").write_text(json.dumps(LOG))
    words = "eval log.jsonl -m EvidenceRecall -m EvidencePrecision --offsets characters -f json"
    main(words.split())
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["values"] == {"EvidenceRecall": 0.5, "EvidencePrecision": 0.25}


@pytest.mark.parametrize(
    "row",
    [
        {"query": "q", "gold": ["d"], "hits": [{"id": "d", "start": 0, "end": 4}]},
        {"query": "q", "document": "d", "grade": 1, "starting": 0, "end": 4},
        {"query": "q", "document": "d", "grade": 1, "text": "a quote"},
    ],
)
def test_judgments_of_documents_stay_what_they_are(tmp_path: Path, row: dict[str, Any]) -> None:
    path = tmp_path / "qrels.jsonl"
    path.write_text(json.dumps(row))
    assert il.read_qrels(path).cover == ""


@pytest.mark.parametrize(
    ("chunk", "says"),
    [
        ({"start": 5, "end": 900}, "d[5:900], and d ends at 70"),
        ({"start": 0, "end": 25, "text": "Leave lapses on 31 March."}, "d[0:25], where its text is not"),
        ({"document": "other", "start": 0, "end": 9}, "other[0:9], of no document that is there"),
    ],
)  # fmt: skip
def test_chunks_that_are_not_where_they_say_are_doubted(chunk: dict[str, Any], says: str) -> None:
    docs = {"d": "Tea is free. ".ljust(27) + "Leave lapses on 31 March. ".ljust(43)}
    gold = il.read_evidence([{"query": "q", "document": "d", "start": 27, "end": 52}], docs=docs)
    right = {"document": "d", "start": 27, "end": 51, "text": " Leave lapses on 31 march"}
    for hit, expected in ((chunk, [says]), (right, [])):
        run = il.read_chunks([{"query": "q", "retrieved": [{"document": "d", **hit}]}], docs=docs)
        found = il.evaluate(gold, run, "EvidenceRecall").doubts
        odd = [one.message for one in found if one.code == "odd-quotes"]
        assert len(odd) == len(expected)
        assert all(each in one for each, one in zip(expected, odd, strict=True))


def test_evidence_that_was_converted_says_how_to_read_it(tmp_path: Path) -> None:
    gold = il.read_evidence([{"query": "q", "document": "d", "start": 0, "end": 10}])
    path = tmp_path / "gold.txt"
    assert any("--offsets" in one for one in il.write_qrels(gold, path))
    run = {"q": ["d[0:10]"]}
    (doubt,) = [
        one for one in il.evaluate(path, run, "EvidenceRecall").doubts if one.code == "no-spans"
    ]
    assert "--offsets characters" in doubt.message
    again = il.read_evidence(path, offsets="characters")
    assert il.evaluate(again, run, "EvidenceRecall")["EvidenceRecall"] == 1.0
