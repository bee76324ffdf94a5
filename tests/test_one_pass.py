"""A run is read once: what another rule would change is found in passing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import idealist as il
from idealist import kernel
from idealist.formats import borrowed_run, read_qrels
from idealist.formats.run_sources import FileRun
from idealist.protocol import Protocol
from idealist.ranking.ranked import Ranked, rank
from kernel_cases import OTHER, Case, columns_of, some_case
from kernels import compiled

#: Scores that only float64 tells apart decide q1; q2 has ties in both, q3 has neither.
RUN = {
    "q1": {"a": 0.7000000000000001, "b": 0.7, "c": 0.2},
    "q2": {"a": 0.5, "b": 0.5, "z": 0.4},
    "q3": {"a": 0.1, "b": 0.9},
}
QRELS = {"q1": {"a": 1.0, "x": 0.6}, "q2": {"b": 2.0, "a": -1.0}, "q3": {"a": 1.0}}


def written(folder: Path, run: dict[str, dict[str, float]] = RUN) -> Path:
    rows = [(q, d, s) for q, own in run.items() for d, s in own.items()]
    path = folder / "some.run"
    path.write_text("".join(f"{q} Q0 {d} 1 {s!r} tag\n" for q, d, s in rows))
    return path


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what the kernel is asked to read, and how often Python reads a file's rows."""
    count: Counter[str] = Counter()

    class Counting(ModuleType):
        def __getattr__(self, name: str) -> Any:
            entry: Callable[..., Any] = getattr(module, name)
            if name.startswith(("rank_", "pick_")):
                count[name] += 1
            return entry

    if module := kernel.native():
        monkeypatch.setattr(kernel, "_compiled", lambda: Counting("counting"))
    rows = FileRun.rows

    def counted(self: FileRun) -> Any:
        count["rows"] += 1
        return rows(self)

    monkeypatch.setattr(FileRun, "rows", counted)
    return count


@compiled
@pytest.mark.parametrize("axes", [
    {}, {"precision": "float32"}, {"ties": "worst"}, {"ties": "expected"}, {"depth": 1},
    {"depth": 2, "unjudged": "drop"}, {"negative": "drop"}, {"grades": "nonzero"},
    {"convention": "ranx"}, {"convention": "pytrec_eval"}, {"missing": "skip", "grades": "keep"},
], ids=str)  # fmt: skip
def test_the_kernel_reads_a_file_once(
    axes: dict[str, Any], calls: Counter[str], tmp_path: Path
) -> None:
    found = il.evaluate(QRELS, written(tmp_path), **axes)
    assert found.doubts
    assert calls == {"rank_text": 1}


@pytest.mark.parametrize(
    "axes", [{}, {"precision": "float32"}, {"depth": 2, "ties": "best"}], ids=str
)
def test_python_reads_a_file_once(
    axes: dict[str, Any], calls: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", "python")
    il.evaluate(QRELS, written(tmp_path), **axes)
    assert calls == {"rows": 1}


@compiled
def test_only_the_queries_that_are_shown_are_read_again(
    calls: Counter[str], tmp_path: Path
) -> None:
    """Ids that never meet are shown with an example, which is read from the file."""
    il.evaluate({"q1": {"other": 1}}, written(tmp_path))
    assert calls["rank_text"] == 1
    assert calls.keys() == {"rank_text", "pick_rows"}


@pytest.mark.parametrize("mine", OTHER)
@pytest.mark.parametrize("shape", ["file", "dict", "columns", "rows"])
def test_the_price_of_the_other_precision_is_that_of_ranking_by_it(
    mine: str, shape: str, tmp_path: Path
) -> None:
    run: Any = {
        "file": written(tmp_path),
        "dict": RUN,
        "columns": il.read_run(RUN).rows(),
        "rows": il.read_run(RUN),
    }[shape]
    if shape == "columns":
        import numpy as np

        queries = [q for q, own in RUN.items() for _ in own]
        run = {
            "query": np.array(queries), "document": np.array(run.documents), "score": run.scores,
        }  # fmt: skip
    found = il.evaluate(QRELS, run, "RR", precision=mine)
    other = il.evaluate(QRELS, run, "RR", precision=OTHER[mine])
    (doubt,) = (doubt for doubt in found.doubts if doubt.code == "float32")
    assert doubt.queries == ("q1",)
    assert [ends for own in doubt.price.values() for ends in own.values()] == [
        (found["RR"], other["RR"])
    ]


def close(rng: random.Random, case: Case) -> dict[str, dict[str, float]]:
    """Draw scores of which many differ in float64 alone."""
    return {
        query: {f"d{i}": rng.choice([0.1, 0.5, 7.0]) + rng.randrange(3) * 1e-12 for i in range(9)}
        for query in case.qrels
    }


@pytest.mark.parametrize("which", ["native", "python"])
@pytest.mark.parametrize("seed", range(60))
def test_what_is_found_in_passing_is_what_is_found_by_asking(
    seed: int, which: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Any protocols, any run: the other precision, and what refuses less, are the same."""
    if which == "native" and kernel.native() is None:
        pytest.skip("the kernel is not compiled")
    monkeypatch.setenv("IDEALIST_KERNEL", which)
    rng = random.Random(seed)
    case = some_case(rng)
    run = close(rng, case) if rng.random() < 0.7 or not len(case.run) else case.written(tmp_path)
    qrels = read_qrels({q: {**own, "d1": 1.0, "d4": 2.0} for q, own in case.qrels.items()})
    ranked = Ranked(qrels, borrowed_run(run))
    for protocol in case.protocols:
        if isinstance(same(ranked, protocol), str):
            continue  # it is refused
        varied = [
            protocol.varied(), protocol.varied(precision=OTHER[protocol.precision]),
            protocol.varied(negative="drop", grades="nonzero", unjudged="drop"),
        ]  # fmt: skip
        for other in varied:
            assert same(ranked, other) == same(Ranked(qrels, borrowed_run(run)), other)


def same(ranked: Ranked, protocol: Protocol) -> Any:
    """Give what a ranking holds, or what is wrong with it."""
    try:
        return dict(columns_of(ranked[protocol]))
    except il.IdealistError as error:
        return str(error)


def test_orderings_that_are_alike_are_ranked_once(calls: Counter[str], tmp_path: Path) -> None:
    run = borrowed_run(written(tmp_path))
    ranked = Ranked(read_qrels(QRELS), run)
    protocols = [
        Protocol(), Protocol(ties="worst"), Protocol(depth=1), Protocol(grades="nonzero"),
        Protocol(precision="float32", unjudged="drop", nonfinite="as_is"),
    ]  # fmt: skip
    for protocol in protocols:
        assert dict(columns_of(ranked[protocol])) == dict(
            columns_of(rank(read_qrels(QRELS), run.loaded(), [protocol])[protocol])
        )
    assert calls["rank_text"] <= 1
