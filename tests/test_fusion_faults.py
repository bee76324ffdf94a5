"""What cannot be fused is refused, in words that name what is wrong and say what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il
from fusion_cases import Lists
from idealist.errors import IdealistError
from idealist.fusing.fusing import Fusing
from test_bad_input import run_command

A: Lists = {"q": {"x": 9.0, "y": 7.0}}
B: Lists = {"q": {"y": 0.8, "z": 0.1}}
MORE: Lists = B | {"q2": {"z": 1.0}}
RUNS = {"bm25": A, "dense": B}
LEARNERS = ["bayesfuse", "mapfuse", "posfuse", "probfuse", "segfuse", "slidefuse"]

Act = Callable[[], object]


def fusing(*given: Any, runs: Any = RUNS, **options: Any) -> Act:
    return lambda: il.fuse(runs, *given, **options)


def explaining(*given: Any, **options: Any) -> Act:
    return lambda: il.explain_fusion(RUNS, *given, **options)


WEIGHTS = "weights is equal, or a number of at least 0 for each run, not all 0, such as (0.7,0.3)"
WHOLE = "give a whole number from 1 to 10,000,000"
#: What is asked, what the message says, and what the hint does.
FAULTS: list[tuple[Act, str, str]] = [
    # runs
    (fusing(runs=[]), "0 runs cannot be fused", "give at least two"),
    (fusing(runs=None), "0 runs cannot be fused", "give at least two"),
    (fusing(runs=[A]), "1 run cannot be fused", "give at least two"),
    (fusing(runs={"a": A}), "1 run cannot be fused", "give at least two"),
    (fusing(runs=il.read_run(A)), "1 run cannot be fused", "give at least two"),
    (fusing(runs=[A, 5]), "run: int cannot be read as a table", "give {query:"),
    (fusing(runs=["nowhere.run", A]), "nowhere.run: there is no such file", "check the path"),
    (fusing(runs={"a": A, "b": {"p": {"x": 1.0}}}), "a, b have no query in common", "a has q, b has p: give runs of one query set"),
    (fusing(runs=[A, {"p": ["x"]}], missing="empty"), "have no query in common", "give runs of one query set"),
    (fusing(runs=[A, {"p": ["x"]}, {"q": ["x"], "p": ["x"]}], missing="skip"), "run, run (2), run (3) have no query in common", "run (3) has p, q: give"),
    (fusing(runs={"a": A, "b": MORE}), "a lacks 1 query that others have: q2", "--missing skip leaves the query out"),
    (fusing(runs={"b": MORE, "a": A}), "a lacks 1 query that others have: q2", "with --missing empty such a run found nothing"),
    (fusing(runs=[A, {"q": [("x", 1.0), ("x", 0.5)]}]), "document 'x' was retrieved twice", "duplicates=first"),
    (fusing(runs={"a": A, "b": {"q": {"x": float("nan")}}}), "b: query 'q', document 'x': score is nan", "nonfinite=last"),
    (fusing(runs=[A, {"q": {"x": float("-inf")}}]), "score is -inf", "nonfinite=as_is"),
    (fusing("sum", runs={"a": A, "b": {"q": ["x", "y"]}}), "b: the run has no scores", "fuse by ranks, as RRF does, or with norm=rank"),
    (fusing(runs=[A, B], order="rank"), "order=rank, but the run has no ranks", "order=score"),
    (fusing(runs=[{"q": {"x": 1.0, "y": 1.0}}, B], ties="error"), "'x' and 'y' have the same score", "ties=docid-desc"),
    # methods
    (fusing("rff"), "there is no fusion method 'rff'", "did you mean"),
    (fusing("fastest"), "there is no fusion method 'fastest'", "known: RRF, WRRF"),
    (fusing(5), "5 is not a fusion method", "give 'rrf'"),
    (fusing(None), "None is not a fusion method", "give 'rrf'"),
    (fusing(""), "'' cannot be read", "write RRF, or RRF(k=10)"),
    (fusing("rrf("), "'rrf(' cannot be read", "write RRF, or RRF(k=10)"),
    (fusing("rrf(10)"), "'rrf(10)' cannot be read", "name each parameter: RRF(k=10)"),
    (fusing("rrf(k=1,k=2)"), "'rrf(k=1,k=2)' sets a parameter twice", "set each parameter once"),
    (fusing("rrf(k=1)", k=2), "k is set twice", "leave it out of RRF(k=1)"),
    # parameters
    (fusing("rrf", kk=1), "RRF has no parameter 'kk'", "did you mean k?"),
    (fusing("rrf", k=-1), "RRF: k cannot be -1", "k is a number from 0 to 1e+09"),
    (fusing("rrf(k=x)"), "RRF: k cannot be 'x'", "k is a number"),
    (fusing("rbc", phi=0), "RBC: phi cannot be 0", "phi is a number"),
    (fusing("probfuse", parts=2.5, qrels=A), "ProbFuse: parts cannot be 2.5", "a whole number of at least 1"),
    (fusing("sum", norm="min-mix"), "CombSUM: norm cannot be 'min-mix'", "norm is one of none, min-max"),
    (fusing("posfuse", norm="borda", qrels=A), "PosFuse: norm cannot be 'borda'", "norm is one of none"),
    (fusing("posfuse", qrels={"q": {"x": 0}}), "PosFuse has nothing to learn from", "every grade"),
    (fusing("relative_score_fusion(alpha=0.7)"), "has no parameter 'alpha'", "weights=(1-alpha,alpha)"),
    # weights
    (fusing("wsum", weights=[1]), "WSUM(weights=(1)): 1 weight for 2 runs", "give 2 weights, in the order of the runs"),
    (fusing("wsum(weights=(1,2,3))"), "3 weights for 2 runs", "give 2 weights"),
    (fusing("wsum", weights={"bm25": 1}), "there are weights for bm25", "give one weight for each of bm25, dense"),
    (fusing("wsum", weights={"bm25": 1, "dense": 1, "x": 1}), "there are weights for bm25, dense, x", "each of bm25, dense"),
    (fusing("wsum", weights={}), "there are weights for nothing", "each of bm25, dense"),
    *[(fusing("wsum", weights=weights), "WSUM: weights cannot be", WEIGHTS) for weights in (
        [-1, 2], [0, 0], [float("nan"), 1], [float("inf"), 1], ["x", 1], "heavy", [], [[1], [2, 3]], [None, 1], "(1,", {1, 2},
    )],
    (fusing("rrf", weights=[1, 2]), "RRF has no parameter 'weights'", "WRRF, WSUM and others take weights"),
    # judgments
    *[(fusing(name), "Fuse learns from judgments", "give qrels=, or --train QRELS") for name in LEARNERS],
    (fusing("rrf", qrels=A), "RRF does not learn from judgments", "leave them out"),
    (fusing("posfuse", qrels={"p": {"x": 1}}), "no judged query is in the runs", "`idealist audit QRELS RUN` says why"),
    (fusing("posfuse", qrels={}), "there are no judgments", "give at least one judged document"),
    # options
    *[(fusing(window=window), f"window cannot be {window!r}", WHOLE) for window in (0, -1, 2.5, "3", True, 10**8)],
    *[(fusing(keep=keep), f"keep cannot be {keep!r}", WHOLE) for keep in (0, 2.5, [1], False)],
    (fusing(missing="zero"), "missing cannot be 'zero'", "it is one of error, empty, skip"),
    # explanations
    (explaining(query="p"), "there is no query 'p' in the runs", "they have q"),
    *[(explaining(query=query), "there is no query", "they have q") for query in (5, None, 1.5, "", ["q"])],
    (explaining(query="q", document="nope"), "no run found 'nope' for query 'q'", "they found y, x, z"),
    *[(explaining(query="q", document=document), "no run found", "they found y") for document in (5, 1.5, "", ["x"])],
    *[(explaining(query="q", top=top), f"top cannot be {top!r}", WHOLE) for top in (0, 2.5, "x")],
    (lambda: il.explain_fusion([{"q": {}}, {"q": {}}], query="q"), "no run found anything for query 'q'", "name another query"),
    # files
    (lambda: Fusing.of(RUNS, "rrf").write("x.pdf"), "no format has the suffix .pdf", "use .txt, .trec"),
    (lambda: Fusing.of(RUNS, "rrf").write("x.run", to="trek"), "unknown format 'trek'", "did you mean trec"),
    (lambda: Fusing.of(RUNS, "rrf").write("x.csv", to="beir"), "the format beir cannot hold a run", "formats that can"),
    (lambda: Fusing.of(RUNS, "rrf").write("/nowhere/x.run"), "cannot write /nowhere/x.run", "check the folder"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("act", "message", "hint"),
    FAULTS,
    ids=lambda one: str(one)[:40] if isinstance(one, str) else "",
)
def test_a_fault_is_named_with_a_remedy(act: Act, message: str, hint: str) -> None:
    with pytest.raises(IdealistError) as caught:
        act()
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_numbers_of_numpy_are_numbers() -> None:
    sizes: dict[str, Any] = {"window": np.int64(1), "keep": np.int32(1)}
    found = il.fuse(RUNS, "wrrf", k=np.float32(2), weights=np.array([1.0, 3.0]), **sizes)
    assert (found.name, found.rows().documents) == ("WRRF(k=2,weights=(1,3))", ["y"])


def test_every_run_may_lack_a_query_that_two_others_have() -> None:
    runs: list[Lists] = [
        {"p": {"a": 1.0}, "q": {"a": 1.0}},
        {"q": {"a": 1.0}, "r": {"a": 1.0}},
        {"r": {"a": 1.0}},
    ]
    assert il.fuse(runs, missing="empty").rows().queries == ("p", "q", "r")


# The same on the command line.

#: Arguments, and what is said of them.
COMMANDS: list[tuple[list[str], str]] = [
    ([], "0 runs cannot be fused"),
    (["a.run"], "1 run cannot be fused"),
    (["a.run", "nowhere.run"], "nowhere.run: there is no such file"),
    (["a.run", "other.run"], "a, other have no query in common"),
    (["a.run", "more.run"], "a lacks 1 query that others have: q2"),
    (["a.run", "b.run", "--missing", "zero"], "'zero' is not one of"),
    (["a.run", "b.run", "--method", "rff"], "there is no fusion method 'rff'"),
    (["a.run", "b.run", "--method", "rrf(k=-1)"], "RRF: k cannot be '-1'"),
    (
        ["a.run", "b.run", "--norm", "max", "--method", "sum(norm=min-max-inverted)"],
        "norm is set twice",
    ),
    (["a.run", "b.run", "--norm", "best"], "RRF: norm cannot be 'best'"),
    (["a.run", "b.run", "--weight", "a=1"], "there are weights for a"),
    (["a.run", "b.run", "--weight", "a=1", "--weight", "b=2"], "RRF has no parameter 'weights'"),
    (["a.run", "b.run", "--method", "wsum", "--weight", "1"], "--weight '1' cannot be read"),
    (
        ["a.run", "b.run", "--method", "wsum", "--weight", "a=1", "--weight", "a=2"],
        "is a second one of a",
    ),
    (
        ["a.run", "b.run", "--method", "wsum", "--weight", "a=x", "--weight", "b=1"],
        "--weight a=x is no weight",
    ),
    (
        ["a.run", "b.run", "--method", "wsum", "--weight", "a=0", "--weight", "b=0"],
        "weights cannot be",
    ),
    (["a.run", "b.run", "--method", "posfuse"], "PosFuse learns from judgments"),
    (["a.run", "b.run", "--train", "qrels.txt"], "RRF does not learn from judgments"),
    (
        ["a.run", "b.run", "--method", "posfuse", "--train", "others.txt"],
        "no judged query is in the runs",
    ),
    (
        ["a.run", "b.run", "--method", "posfuse", "--train", "nowhere.txt"],
        "nowhere.txt: there is no such file",
    ),
    (["a.run", "b.run", "--window", "0"], "0 is not in the range x>=1"),
    (["a.run", "b.run", "--keep", "2.5"], "'2.5' is not a valid integer"),
    (["a.run", "b.run", "--keep", "100000000"], "keep cannot be 100000000"),
    (["a.run", "b.run", "--set", "missing=empty"], "--set missing is a rule of measuring"),
    (["a.run", "b.run", "--set", "depth=3"], "RRF has no parameter 'depth'"),
    (["a.run", "b.run", "--set", "ties=never"], "ties cannot be 'never'"),
    (["a.run", "b.run", "--explain", "q9"], "there is no query 'q9' in the runs"),
    (["a.run", "b.run", "--explain", "q", "--document", "d9"], "no run found 'd9' for query 'q'"),
    (["a.run", "b.run", "--explain", "q", "-o", "x.run"], "a file .run says no form that is known"),
    (["a.run", "b.run", "--document", "d9"], "--document is for --explain"),
    (["a.run", "b.run", "-f", "json"], "-f is for --explain and --list"),
    (["a.run", "b.run", "-o", "x.pdf"], "no format has the suffix .pdf"),
    (["a.run", "b.run", "--to", "beir"], "the format beir cannot hold a run"),
    (["--list", "--method", "rff"], "there is no fusion method 'rff'"),
    (["-", "-"], "standard input (-) can be read only once"),
    (["twice.run", "a.run"], "document 'x' was retrieved twice"),
    (["nan.run", "a.run"], "score is nan"),
    (["a.run", "lists.jsonl", "--method", "wsum"], "lists: the run has no scores"),
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, lines in {
        "a.run": ["q Q0 x 1 9 t", "q Q0 y 2 7 t"], "b.run": ["q Q0 y 1 0.8 t"],
        "more.run": ["q Q0 y 1 0.8 t", "q2 Q0 y 1 0.8 t"], "other.run": ["p Q0 y 1 0.8 t"],
        "twice.run": ["q Q0 x 1 9 t", "q Q0 x 2 7 t"], "nan.run": ["q Q0 x 1 nan t"],
        "qrels.txt": ["q 0 x 1"], "others.txt": ["p 0 x 1"], "lists.jsonl": ['{"query": "q", "documents": ["x", "y"]}'],
    }.items():  # fmt: skip
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "says"),
    COMMANDS,
    ids=lambda one: " ".join(one)[:50] if isinstance(one, list) else "",
)
def test_a_command_that_cannot_be_is_refused(arguments: list[str], says: str, files: Path) -> None:
    before = sorted(files.iterdir())
    outcome = run_command(["fuse", *arguments])
    assert (outcome.code, outcome.out) == (2, "")
    assert says in outcome.err
    assert "Traceback" not in outcome.err
    assert "hint: " in outcome.err or "Usage: " in outcome.err or "Try " in outcome.err
    assert sorted(files.iterdir()) == before
