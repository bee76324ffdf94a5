"""Latency beside quality: percentiles, paired differences, and where they are shown."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import idealist as il
from idealist.cli.main import main
from idealist.errors import UsageError
from idealist.formats.run_sources import ObjectRun

TIMES = st.lists(st.floats(0.01, 1e5), min_size=1, max_size=30)


def run_of(times: list[float], failed: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    """Write a collected run whose queries took so long."""
    lines: list[dict[str, Any]] = [{"collected": 1, "queries": len(times)}]
    for number, ms in enumerate(times):
        line = {"query": f"q{number}", "status": "ok", "ms": ms, "hits": [{"id": "d1"}]}
        failure = {"query": f"q{number}", "status": "failed", "ms": ms, "error": "x"}
        lines.append(failure if number in failed else line)
    return lines


def held(lines: list[dict[str, Any]], name: str) -> il.Run:
    """Keep a run in memory, as `collect` does without a file."""
    return il.Run(ObjectRun(lines, name), name)


@settings(max_examples=100, deadline=None)
@given(TIMES)
def test_percentiles_are_those_of_the_sorted_times(times: list[float]) -> None:
    found = il.Latencies.of([held(run_of(times), "a")]).percentiles("a")
    ordered = sorted(times)
    for share in (50, 95, 99):
        place = share / 100 * (len(times) - 1)
        low, part = math.floor(place), place - math.floor(place)
        wanted = ordered[low] + part * (ordered[min(low + 1, len(times) - 1)] - ordered[low])
        assert found[f"p{share}"] == pytest.approx(wanted)


def test_a_query_that_timed_out_counts_with_the_time_that_was_waited() -> None:
    lines = run_of([10.0, 10.0, 2000.0])
    lines[-1] = {"query": "q2", "status": "timed out", "ms": 2000.0, "error": "x"}
    assert il.Latencies.of([held(lines, "a")]).by_run["a"]["q2"] == 2000.0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(1, 1e3), st.floats(1, 1e3)), min_size=6, max_size=40))
def test_differences_are_paired_over_what_both_answered(pairs: list[tuple[float, float]]) -> None:
    old, new = ([pair[n] for pair in pairs] for n in (0, 1))
    runs = [held(run_of(old, failed=(0,)), "old"), held(run_of(new), "new")]
    found = il.Latencies.of(runs).slower("old", "new")
    gaps = np.subtract(new, old)[1:]
    assert (found.n, found.queries) == (len(gaps), int((gaps > 0).sum()))
    assert found.difference == pytest.approx(gaps.mean(), abs=1e-9)
    if gaps.std() > 1e-6:
        wanted = stats.t.interval(0.95, len(gaps) - 1, gaps.mean(), stats.sem(gaps))
        assert (found.low, found.high) == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_a_run_without_times_says_where_they_come_from() -> None:
    with pytest.raises(UsageError, match="does not say how long") as error:
        il.Latencies.of([il.read_run({"q": ["d"]})])
    assert "idealist collect" in str(error.value)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, factor in (("old", 1.0), ("new", 1.5)):
        lines = run_of([factor * (10 + n) for n in range(20)])
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    Path("qrels.txt").write_text("".join(f"q{n} 0 d1 1\n" for n in range(20)))
    return tmp_path


def test_eval_shows_percentiles_beside_quality(folder: Path, capsys: Any) -> None:
    words = ["eval", "qrels.txt", "old.jsonl", "new.jsonl", "-m", "RR", "--with", "latency"]
    main(words)
    shown = capsys.readouterr().out
    assert "p50 ms" in shown
    assert "19.5" in shown
    assert "29.2" in shown
    main([*words, "-f", "json"])
    old, new = (run["latency"] for run in json.loads(capsys.readouterr().out)["runs"])
    assert old == {"queries": 20, "p50": 19.5, "p95": 28.05, "p99": 28.81}
    assert new["p50"] == 29.25
    main([*words, "-f", "tsv"])
    assert "new\tall\tp50 ms\t29.25" in capsys.readouterr().out


def test_compare_and_report_show_the_paired_difference(folder: Path, capsys: Any) -> None:
    files = ["qrels.txt", "old.jsonl", "new.jsonl", "-m", "RR", "--with", "latency"]
    main(["compare", *files])
    assert "new takes 9.8 ms longer than old, in the mean of 20 queries." in capsys.readouterr().out
    main(["compare", *files, "-f", "json"])
    told = json.loads(capsys.readouterr().out)["latency"]
    assert told["new"]["difference"] == 9.75
    assert "difference" not in told["old"]
    main(["report", *files, "-f", "html"])
    page = capsys.readouterr().out
    assert "new takes 9.8 ms longer than old" in page
    assert "p95 ms" in page
    with pytest.raises(SystemExit) as left:
        main(["compare", "--saved", "a.json", "b.json", "--with", "latency"])
    assert left.value.code == 2
