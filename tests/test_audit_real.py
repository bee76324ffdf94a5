"""Real runs: sound ones get no error, and faults that are put into them are named.

A sample runs always; all of it, and the table that docs show, with `IDEALIST_SLOW=1`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

import idealist as il
from effort import SLOW
from idealist.rendering.document import Table
from idealist.rendering.markdown import draw
from planted_faults import (
    CONTRADICTING,
    FAULTS,
    FOLDER,
    Fault,
    cut,
    name_of,
    one_of,
    planted,
    real_qrels,
    real_runs,
    sorted_rows,
    sound_runs,
)

#: Faults that must be named, of so many that are put in.
NAMED, PLANTED = 0.98, 400


@pytest.fixture(scope="module")
def documents(data: Path) -> list[str]:
    """All that some of the runs retrieved: the documents of the collection, in effect."""
    found = {d for path in real_runs(data)[::9] for d in il.read_run(path).rows().documents}
    return sorted(found)


def errors_of(paths: Iterable[Path], data: Path) -> dict[str, set[str]]:
    audits = ((path, il.audit(real_qrels(data), path)) for path in paths)
    found = {name_of(path): {one.code for one in own.at_least("error")} for path, own in audits}
    return {name: codes for name, codes in found.items() if codes}


def test_some_sound_runs_get_no_error(data: Path) -> None:
    hard = {"CincyMedIR-run2", "lda400s2000", "tm_lda400"}
    paths = [path for path in sound_runs(data) if name_of(path) in hard]
    assert len(paths) == len(hard)
    assert errors_of(paths, data) == {}


def test_the_advice_on_ranks_that_contradict_is_the_better_order(data: Path) -> None:
    for path in real_runs(data):
        if name_of(path) in ("UB_NLP_RUN_1", "SFDC-23April-run2"):
            (one,) = (
                f for f in il.audit(real_qrels(data), path).findings if f.code == "rank-column"
            )
            values = [
                il.evaluate(real_qrels(data), path, "nDCG@10", order=by) for by in ("score", "rank")
            ]
            scores, ranks = (value["nDCG@10"] for value in values)
            assert f"by the scores nDCG@10 is {scores:.4f}, by the ranks {ranks:.4f}" in one.message
            assert one.remedy.startswith(
                "keep the scores" if scores > ranks else "rank by the rank"
            )
            assert bool(one.command) is (ranks > scores)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_of_a_real_run_is_named(fault: Fault, data: Path) -> None:
    path = random.Random(fault.name).choice(sound_runs(data))
    documents = sorted({*il.read_run(path).rows().documents})
    pool = documents + [f"none{i}" for i in range(9 * len(documents))]  # most are judged nowhere
    assert planted(fault, path, data, pool)


@SLOW
def test_no_sound_run_gets_an_error(data: Path) -> None:
    runs = real_runs(data)
    assert errors_of(runs, data).keys() <= CONTRADICTING
    print(f"\nsound runs of {FOLDER}: {len(runs) - len(CONTRADICTING)}, errors: 0")


@SLOW
def test_faults_of_real_runs_are_named(data: Path, documents: list[str]) -> None:
    rows, each, total = [], -(-PLANTED // len(FAULTS)), 0
    for fault in FAULTS:
        paths = random.Random(fault.name).sample(sound_runs(data), each)
        own = {d for path in paths for d in il.read_run(path).rows().documents}
        named = sum(planted(fault, path, data, sorted({*documents, *own})) for path in paths)
        rows.append([fault.name, f"`{fault.code}`", f"{named} of {each}"])
        total += named
    print(draw(Table.of(["fault", "finding"], ["named"], rows)))
    assert total >= NAMED * each * len(FAULTS)


@SLOW
@pytest.mark.parametrize("deep", [1000, 10])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("count", [30, 10, 5])
def test_sound_runs_of_other_shapes_get_no_error(
    count: int, sparse: bool, deep: int, data: Path
) -> None:
    """Some queries, one relevant document each, lists of ten: little is found, by no fault."""
    accused = []
    for path in sound_runs(data):
        rng = random.Random(f"{count} {sparse} {deep} {path.name}")
        qrels = real_qrels(data).to_dict()
        some = rng.sample(sorted(qrels), count)
        judged = {query: one_of(qrels[query], rng) if sparse else qrels[query] for query in some}
        rows = cut(sorted_rows(il.read_run(path).rows().some(some)), deep)
        if il.audit(judged, il.Run(rows, "run"), measures=("nDCG@10", "AP")).at_least("error"):
            accused.append(name_of(path))
    shape = (
        f"{count} queries, {'one relevant document' if sparse else 'all judgments'}, {deep} deep"
    )
    print(f"\n| {shape} | {len(accused)} of {len(sound_runs(data))} | {', '.join(accused)}")
    assert len(accused) <= 0.02 * len(sound_runs(data))
