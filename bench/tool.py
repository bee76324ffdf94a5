"""Evaluate with one tool, in a process of its own, and print what came out as JSON.

    python bench/tool.py TOOL files QRELS RUN            read both files and evaluate
    python bench/tool.py TOOL dicts QRELS RUN            evaluate dicts of dicts, once
    python bench/tool.py TOOL calls QRELS RUN            the same again and again, prepared
    python bench/tool.py TOOL fuse QRELS RUN --others RUN ... --made FUSED

``fuse`` fuses RUN and others by RRF, writes the fused run and evaluates it. It and ``files`` are
timed from outside. The others build the dicts first and time the call alone.
``--shuffled`` puts the documents of a dict in any order, ``--measures`` changes what idealist
computes. What a task does not need is not imported: starting up is part of the time from files.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
Call = Callable[[Run], Any]

#: Calls of a prepared evaluator, the time after which no more are made, and how many count.
CALLS, LIMIT, LAST = 1000, 20.0, 100


class Tool(ABC):
    """A tool under test; its measures are nDCG@10, AP and RR, in this order."""

    measures: ClassVar[list[str]]

    @abstractmethod
    def files(self, qrels: str, run: str) -> Any:
        """Read both files and evaluate."""

    @abstractmethod
    def prepared(self, qrels: Qrels) -> Call:
        """Prepare what does not depend on the run."""

    def once(self, qrels: Qrels) -> Call:
        """Prepare a single call."""
        return self.prepared(qrels)

    def fuse(self, qrels: str, runs: list[str], made: str) -> Any:
        """Fuse runs by RRF, write the fused one, and evaluate it."""
        raise SystemExit(f"{type(self).__name__} does not fuse")

    @abstractmethod
    def means(self, result: Any) -> list[float]:
        """Give the mean of each measure."""


class Idealist(Tool):
    """A single call of ours is timed with everything that a peer's call has prepared."""

    measures: ClassVar = ["nDCG@10", "AP", "RR"]

    def files(self, qrels: str, run: str) -> Any:
        import idealist as il

        return il.evaluate(qrels, run, self.measures)

    def prepared(self, qrels: Qrels) -> Call:
        import idealist as il

        return il.Evaluator(qrels, self.measures)

    def once(self, qrels: Qrels) -> Call:
        from idealist import evaluate

        return lambda run: evaluate(qrels, run, self.measures)

    def fuse(self, qrels: str, runs: list[str], made: str) -> Any:
        """Fuse at the command line, which never holds the fused run whole."""
        import subprocess
        import sys
        from pathlib import Path

        script = Path(sys.executable).with_name("idealist")
        subprocess.run([script, "fuse", *runs, "--method", "rrf", "-o", made], check=True)
        return self.files(qrels, made)

    def means(self, result: Any) -> list[float]:
        return [result[measure] for measure in self.measures]


class PytrecEval(Tool):
    measures: ClassVar = ["ndcg_cut_10", "map", "recip_rank"]

    def files(self, qrels: str, run: str) -> Any:
        import pytrec_eval

        with open(qrels) as judged, open(run) as ranked:
            evaluate = self.prepared(pytrec_eval.parse_qrel(judged))
            return evaluate(pytrec_eval.parse_run(ranked))

    def prepared(self, qrels: Qrels) -> Call:
        import pytrec_eval

        evaluate: Call = pytrec_eval.RelevanceEvaluator(qrels, set(self.measures)).evaluate
        return evaluate

    def means(self, result: Any) -> list[float]:
        return [
            math.fsum(values[measure] for values in result.values()) / len(result)
            for measure in self.measures
        ]


class IrMeasures(Tool):
    measures: ClassVar = ["nDCG@10", "AP", "RR"]

    def parsed(self) -> list[Any]:
        import ir_measures

        return [ir_measures.parse_measure(measure) for measure in self.measures]

    def files(self, qrels: str, run: str) -> Any:
        import ir_measures

        judged, ranked = ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run)
        return ir_measures.calc_aggregate(self.parsed(), judged, ranked)

    def prepared(self, qrels: Qrels) -> Call:
        import ir_measures

        evaluate: Call = ir_measures.evaluator(self.parsed(), qrels).calc_aggregate
        return evaluate

    def means(self, result: Any) -> list[float]:
        return [result[measure] for measure in self.parsed()]


class Ranx(Tool):
    measures: ClassVar = ["ndcg@10", "map", "mrr"]

    def files(self, qrels: str, run: str) -> Any:
        import ranx

        judged = ranx.Qrels.from_file(qrels, kind="trec")
        return ranx.evaluate(judged, ranx.Run.from_file(run, kind="trec"), self.measures)

    def prepared(self, qrels: Qrels) -> Call:
        import ranx

        judged = ranx.Qrels(qrels)
        return lambda run: ranx.evaluate(judged, ranx.Run(run), self.measures)

    def fuse(self, qrels: str, runs: list[str], made: str) -> Any:
        import ranx

        found = [ranx.Run.from_file(run, kind="trec") for run in runs]
        fused = ranx.fuse(found, norm=None, method="rrf")
        fused.save(made, kind="trec")
        return ranx.evaluate(ranx.Qrels.from_file(qrels, kind="trec"), fused, self.measures)

    def means(self, result: Any) -> list[float]:
        return [float(result[measure]) for measure in self.measures]


TOOLS: dict[str, type[Tool]] = {
    "idealist": Idealist,
    "pytrec_eval": PytrecEval,
    "ir_measures": IrMeasures,
    "ranx": Ranx,
}


def read_dicts(qrels: str, run: str, shuffled: bool) -> tuple[Qrels, Run]:
    """Build the dicts that the calls get."""
    judged: Qrels = {}
    ranked: Run = {}
    with open(qrels) as lines:
        for query, _, document, grade in map(str.split, lines):
            judged.setdefault(query, {})[document] = int(grade)
    with open(run) as lines:
        for query, _, document, _, score, _ in map(str.split, lines):
            ranked.setdefault(query, {})[document] = float(score)
    if shuffled:
        ranked = in_any_order(ranked)
    return judged, ranked


def in_any_order(run: Run) -> Run:
    """Shuffle the documents of each query."""
    import random

    rng = random.Random(0)
    return {query: dict(rng.sample(list(row.items()), len(row))) for query, row in run.items()}


def timed(call: Call, run: Run) -> tuple[float, Any]:
    """Time one call."""
    start = time.perf_counter()
    result = call(run)
    return time.perf_counter() - start, result


def repeated(call: Call, run: Run) -> tuple[float, Any]:
    """Time a thousand calls, fewer if they take long; the median of the last hundred counts."""
    end = time.perf_counter() + LIMIT
    times: list[float] = []
    while len(times) < CALLS and (time.perf_counter() < end or not times):
        seconds, result = timed(call, run)
        times.append(seconds)
    last = sorted(times[-LAST:])
    return last[len(last) // 2], result


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("task", choices=["files", "dicts", "calls", "fuse"])
    parser.add_argument("qrels")
    parser.add_argument("run")
    parser.add_argument("--shuffled", action="store_true")
    parser.add_argument("--measures", nargs="+")
    parser.add_argument("--others", nargs="+", help="the runs that are fused with this one")
    parser.add_argument("--made", help="where the fused run is written")
    asked = parser.parse_args()
    tool = TOOLS[asked.tool]()
    if asked.measures:
        tool.measures[:] = asked.measures
    seconds: float | None = None
    if asked.task == "files":
        result = tool.files(asked.qrels, asked.run)
    elif asked.task == "fuse":
        result = tool.fuse(asked.qrels, [asked.run, *asked.others], asked.made)
    else:
        qrels, run = read_dicts(asked.qrels, asked.run, asked.shuffled)
        if asked.task == "dicts":
            seconds, result = timed(tool.once(qrels), run)
        else:
            seconds, result = repeated(tool.prepared(qrels), run)
    print(json.dumps({"seconds": seconds, "means": tool.means(result)}))


if __name__ == "__main__":
    main()
