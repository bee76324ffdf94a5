"""Time idealist and the light peers on the same data, check that they agree, print ratios.

The data has the shape of a deep-judged TREC track: 43 queries of 1,000 documents, 200 judgments
each. Every tool computes nDCG@10, AP and RR, from a TREC file and from dicts in memory, best of
five. Run it with ``make bench``.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import ir_measures
import pytrec_eval

import idealist as il

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

QUERIES, DEPTH, JUDGED, REPEATS = 43, 1000, 200, 5
OURS = ["nDCG@10", "AP", "RR"]
THEIRS = {"ndcg_cut_10", "map", "recip_rank"}
IR_MEASURES = [ir_measures.nDCG @ 10, ir_measures.AP, ir_measures.RR]


def make_data(seed: int = 0) -> tuple[Qrels, Run]:
    """Make judgments and a run with distinct scores in rank order."""
    rng = random.Random(seed)
    qrels: Qrels = {}
    run: Run = {}
    for q in range(QUERIES):
        pool = rng.sample(range(10 * DEPTH), DEPTH + JUDGED)
        qrels[f"q{q}"] = {f"doc{d}": rng.choice([0, 0, 1, 2, 3]) for d in pool[:JUDGED]}
        retrieved = rng.sample(pool, DEPTH)
        run[f"q{q}"] = {f"doc{d}": float(DEPTH - i) for i, d in enumerate(retrieved)}
    return qrels, run


def write_files(folder: Path, qrels: Qrels, run: Run) -> tuple[Path, Path]:
    """Write the data as TREC files."""
    judged = [f"{q} 0 {d} {g}\n" for q, grades in qrels.items() for d, g in grades.items()]
    rows = [f"{q} Q0 {d} 0 {s!r} x\n" for q, scores in run.items() for d, s in scores.items()]
    (folder / "qrels.txt").write_text("".join(judged))
    (folder / "bm25.run").write_text("".join(rows))
    return folder / "qrels.txt", folder / "bm25.run"


def best(task: Callable[[], list[float]]) -> tuple[float, list[float]]:
    """Give the best time of several, and the values."""
    times = []
    values: list[float] = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        values = task()
        times.append(time.perf_counter() - start)
    return min(times), values


def with_idealist(qrels: object, run: object) -> list[float]:
    result = il.evaluate(qrels, run, OURS)
    return [result[measure] for measure in OURS]


def with_pytrec_eval(qrels: Qrels, run: Run) -> list[float]:
    found = pytrec_eval.RelevanceEvaluator(qrels, THEIRS).evaluate(run)
    names = ("ndcg_cut_10", "map", "recip_rank")
    return [sum(one[name] for one in found.values()) / len(found) for name in names]


def with_ir_measures(qrels: object, run: object) -> list[float]:
    found = ir_measures.calc_aggregate(IR_MEASURES, qrels, run)
    return [found[measure] for measure in IR_MEASURES]


def pytrec_files(qrels: Path, run: Path) -> list[float]:
    with qrels.open() as judged, run.open() as ranked:
        return with_pytrec_eval(pytrec_eval.parse_qrel(judged), pytrec_eval.parse_run(ranked))


def ir_measures_files(qrels: Path, run: Path) -> list[float]:
    judged = ir_measures.read_trec_qrels(str(qrels))
    return with_ir_measures(judged, ir_measures.read_trec_run(str(run)))


def main() -> None:
    """Measure everything and print the table."""
    qrels, run = make_data()
    with tempfile.TemporaryDirectory() as folder:
        judged, ranked = write_files(Path(folder), qrels, run)
        tasks: dict[tuple[str, str], Callable[[], list[float]]] = {
            ("from files", "idealist"): lambda: with_idealist(judged, ranked),
            ("from files", "pytrec_eval"): lambda: pytrec_files(judged, ranked),
            ("from files", "ir_measures"): lambda: ir_measures_files(judged, ranked),
            ("from dicts", "idealist"): lambda: with_idealist(qrels, run),
            ("from dicts", "pytrec_eval"): lambda: with_pytrec_eval(qrels, run),
            ("from dicts", "ir_measures"): lambda: with_ir_measures(qrels, run),
        }
        results = {key: best(task) for key, task in tasks.items()}
    _, wanted = results["from files", "idealist"]
    print(f"{QUERIES} queries x {DEPTH} documents, {', '.join(OURS)}, best of {REPEATS}\n")
    print("| data | tool | ms | time / idealist's |\n|:---|:---|---:|---:|")
    for (source, tool), (seconds, values) in results.items():
        assert all(abs(a - b) < 1e-12 for a, b in zip(values, wanted, strict=True)), (source, tool)
        ratio = seconds / results[source, "idealist"][0]
        print(f"| {source} | {tool} | {seconds * 1000:.0f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
