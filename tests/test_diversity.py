"""Measures by subtopic: pyndeval and ir_measures live, ndeval's printed values, plain loops, laws."""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import array_api_strict
import ir_measures
import numpy as np
import pyndeval
import pytest

import idealist as il
import oracle
from effort import tries
from generated import Rows, some_case, some_lists, some_measure, some_protocol
from idealist.errors import UsageError
from idealist.measures.diversity import ERR_IA, alpha_DCG, alpha_nDCG, nERR_IA
from idealist.protocol import Protocol
from test_groups import Judged, columns_of, highest, some_groups

#: Query, subtopic, document, grade; and query, document, score.
Qrels = list[tuple[str, str, str, int]]
Run = list[tuple[str, str, float]]

#: What pyndeval calls our measures, and the cutoffs it is asked for.
NDEVAL = {
    "alpha-nDCG": "alpha_nDCG", "alpha-DCG": "alpha_DCG", "ERR-IA": "ERR_IA", "nERR-IA": "nERR_IA",
    "P-IA": "P_IA", "strec": "StRecall", "NRBP": "NRBP", "nNRBP": "nNRBP", "MAP-IA": "AP_IA",
}  # fmt: skip
CUTOFFS = (1, 2, 3, 5, 10, 20)


def some_subtopics(rng: random.Random) -> tuple[Qrels, Run]:
    """Make judgments and a run as pyndeval takes them."""
    ids = [f"d{i}" for i in range(14)]
    qrels: Qrels = []
    run: Run = []
    for query in ("q1", "q2", "q3"):
        for document in rng.sample(ids, rng.randint(1, len(ids))):
            for subtopic in rng.sample("abcde", rng.randint(1, 5)):
                grade = rng.choice([0, 0, 1, 1, 2, -1] if query != "q3" else [0, 0, 2])
                qrels.append((query, subtopic, document, grade))
        tied = rng.random() < 0.5
        for document in rng.sample([*ids, "u1", "u2", "u3"], rng.randint(1, len(ids))):
            if query != "q2" or tied:
                run.append((query, document, float(rng.randint(0, 3)) if tied else rng.random()))
    return qrels, run


def table(qrels: Qrels) -> dict[str, list[Any]]:
    names = ("query", "subtopic", "document", "grade")
    return {name: [row[i] for row in qrels] for i, name in enumerate(names)}


def lists(run: Run) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for query, document, score in run:
        found.setdefault(query, {})[document] = score
    return found


def same(a: float, b: float) -> bool:
    return a == pytest.approx(b, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", NDEVAL)
def test_pyndeval(name: str) -> None:
    cutoffs = [""] if name in pyndeval.NOCUTOFF_MEASURES else [f"@{k}" for k in CUTOFFS]
    compared = 0
    for seed in range(tries(25, 60)):
        rng = random.Random(seed)
        qrels, run = some_subtopics(rng)
        axes: dict[str, Any] = {
            "alpha": rng.choice([0.5, 0, 0.1, 0.75, 1]),
            "beta": rng.choice([0.5, 0.9]),
        }
        rel = rng.choice([1, 2])
        theirs = pyndeval.RelevanceEvaluator(
            qrels, [name + k for k in cutoffs], relevance_level=rel, **axes
        ).evaluate(run)
        known = il.parse(NDEVAL[name]).parameters()
        own = {key: value for key, value in axes.items() if key in known}
        mine = il.evaluate(
            table(qrels), lists(run), [NDEVAL[name] + k for k in cutoffs],
            convention="pyndeval", rel=rel, **own,
        )  # fmt: skip
        assert set(mine.queries) == theirs.keys()
        for k in cutoffs:
            for query, value in zip(
                mine.queries, mine.values[NDEVAL[name] + k].tolist(), strict=True
            ):
                assert same(value, theirs[query][name + k]), (seed, query, k)
                compared += 1
    assert compared > tries(55, 140) * len(cutoffs)


IR_MEASURES: list[tuple[str, Any]] = [
    ("alpha_nDCG@5", ir_measures.alpha_nDCG @ 5),
    ("alpha_nDCG(alpha=0.25)@10", ir_measures.alpha_nDCG(alpha=0.25) @ 10),
    ("alpha_DCG@1", ir_measures.alpha_DCG @ 1),
    ("alpha_DCG@20", ir_measures.alpha_DCG @ 20),
    ("ERR_IA@1", ir_measures.ERR_IA @ 1),
    ("ERR_IA@5", ir_measures.ERR_IA @ 5),
    ("nERR_IA(rel=2)@10", ir_measures.nERR_IA(rel=2) @ 10),
    ("NRBP(alpha=0.25,beta=0.75)", ir_measures.NRBP(alpha=0.25, beta=0.75)),
    ("nNRBP", ir_measures.nNRBP),
    ("AP_IA", ir_measures.AP_IA),
    ("P_IA@5", ir_measures.P_IA @ 5),
    ("StRecall@5", ir_measures.StRecall @ 5),
]


@pytest.mark.parametrize(("ours", "theirs"), IR_MEASURES, ids=[row[0] for row in IR_MEASURES])
def test_ir_measures(ours: str, theirs: Any) -> None:
    """One at a time: with other parameters beside it, it reads the run once and gives zeros."""
    for seed in range(tries(20, 40)):
        rows, run = some_subtopics(random.Random(seed))
        qrels = [ir_measures.Qrel(q, d, grade, s) for q, s, d, grade in rows]
        scored = [ir_measures.ScoredDoc(*row) for row in run]
        mine = il.evaluate(qrels, scored, ours, convention="ir_measures")
        with contextlib.redirect_stderr(io.StringIO()):  # it warns where there is one subtopic
            found = ir_measures.calc([theirs], qrels, scored)
        values = {one.query_id: one.value for one in found.per_query}
        for query, value in zip(mine.queries, mine.values[ours].tolist(), strict=True):
            assert same(value, values[query]), (seed, query)
        assert same(mine[ours], found.aggregated[theirs])


def test_ir_measures_cannot_leave_out_unjudged_documents() -> None:
    qrels, run = [ir_measures.Qrel("q", "d", 1, "1")], [ir_measures.ScoredDoc("q", "d", 1.0)]
    with pytest.raises(TypeError), contextlib.redirect_stderr(io.StringIO()):
        ir_measures.calc([ir_measures.alpha_nDCG(judged_only=True) @ 5], qrels, run)


#: Made up; ranks and scores disagree, topic 4 has nothing relevant, 5 is not in the run.
QRELS = """\
1 4 doc07 1;1 4 doc08 1;1 1 doc03 0;1 4 doc04 0;1 2 doc04 0;1 1 doc04 0;1 2 doc05 1;1 1 doc01 2
1 2 doc01 1;1 3 doc01 1;2 3 doc04 1;2 2 doc04 1;2 1 doc04 1;2 3 doc07 0;2 1 doc07 2;2 4 doc07 0
2 4 doc00 0;2 1 doc00 0;2 2 doc05 0;2 4 doc06 2;2 3 doc06 2;2 2 doc03 1;4 2 doc05 0;4 1 doc01 0
4 1 doc02 0;4 4 doc06 0;4 1 doc06 0;4 2 doc00 0;4 4 doc00 0;4 1 doc00 0;4 2 doc03 0;4 4 doc03 0
4 3 doc03 0;5 1 doc00 1""".replace(";", "\n")
RUN = """\
4 Q0 doc06 5 3 run;3 Q0 new2 3 1 run;2 Q0 doc07 4 0 run;1 Q0 doc02 6 0 run;1 Q0 doc01 1 2 run
3 Q0 doc02 6 3 run;3 Q0 doc00 4 3 run;2 Q0 new1 5 0 run;2 Q0 doc02 2 2 run;3 Q0 doc03 1 2 run
1 Q0 doc00 5 3 run;2 Q0 doc00 1 2 run;4 Q0 doc03 4 1 run;2 Q0 new2 6 0 run;4 Q0 doc02 1 1 run
2 Q0 doc03 3 3 run;3 Q0 doc04 5 1 run;4 Q0 doc04 3 1 run;4 Q0 doc08 6 3 run;1 Q0 doc03 4 1 run
1 Q0 doc06 2 0 run;3 Q0 new1 2 3 run;1 Q0 new1 3 1 run;4 Q0 new2 2 1 run""".replace(";", "\n")

#: What ndeval 4.5 prints of them, by its options: topics 1, 2 and 4, and the mean.
PRINTED = {
    "": """\
0.544629,0.541075,0.541011,0.791209,0.791209,0.791209,0.493916,0.487322,0.487155,0.732374,0.732374,0.732374,0.562500,0.813559,0.625000,0.150000,0.075000,0.037500,0.750000,0.750000,0.750000
0.105900,0.105209,0.105197,0.144330,0.144330,0.144330,0.153225,0.151180,0.151128,0.210955,0.210955,0.210955,0.070312,0.095238,0.072917,0.100000,0.050000,0.025000,0.500000,0.500000,0.500000
0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,-nan,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000
0.216843,0.215428,0.215402,0.311846,0.311846,0.311846,0.215714,0.212834,0.212761,0.314443,0.314443,0.314443,0.210938,-nan,0.232639,0.083333,0.041667,0.020833,0.416667,0.416667,0.416667""",
    "-alpha 0.25 -beta 0.8 -traditional": """\
0.216606,0.204745,0.202938,0.380952,0.380952,0.380952,0.229870,0.206065,0.201186,0.437241,0.437241,0.437241,0.240000,0.514580,0.312500,0.150000,0.075000,0.037500,0.750000,0.750000,0.750000
0.144404,0.159246,0.157841,0.231884,0.270531,0.270531,0.121445,0.147648,0.144153,0.208241,0.282418,0.282418,0.132768,0.252219,0.145833,0.050000,0.050000,0.025000,0.250000,0.500000,0.500000
0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,-nan,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000
0.120337,0.121331,0.120260,0.204279,0.217161,0.217161,0.117105,0.117904,0.115113,0.215161,0.239886,0.239886,0.124256,-nan,0.152778,0.066667,0.041667,0.020833,0.333333,0.416667,0.416667""",
}
COLUMNS = [
    *(f"{name}@{k}" for name in ("ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG") for k in (5, 10, 20)),
    "NRBP", "nNRBP", "AP_IA",
    *(f"{name}@{k}" for name in ("P_IA", "StRecall") for k in (5, 10, 20)),
]  # fmt: skip


@pytest.mark.parametrize("options", PRINTED)
def test_ndeval_prints_the_same(tmp_path: Path, options: str) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS + "\n")
    (tmp_path / "run.txt").write_text(RUN + "\n")
    axes: dict[str, Any] = {"alpha": 0.25, "beta": 0.8, "order": "score"} if options else {}
    result = il.evaluate(
        tmp_path / "qrels.txt", tmp_path / "run.txt", COLUMNS, convention="ndeval", **axes
    )
    assert result.queries == ("1", "2", "4")
    printed = [line.split(",") for line in PRINTED[options].splitlines()]
    for column, measure in enumerate(COLUMNS):
        values = [*result.values[measure].tolist(), result[measure]]
        found = [f"{value:.6f}".replace("nan", "-nan") for value in values]
        assert found == [line[column] for line in printed], measure


def greedy(groups: list[set[str]], alpha: float) -> list[str]:
    """List documents, at each rank the one of the highest gain, of equal ones the last id."""
    left, times, found = set().union(*groups), [0] * len(groups), list[str]()
    while left:
        gains = {
            d: math.fsum((1 - alpha) ** times[s] for s, group in enumerate(groups) if d in group)
            for d in left
        }
        best = max(gains.values())
        chosen = max(d for d, gain in gains.items() if math.isclose(gain, best, rel_tol=1e-12))
        times = [n + (chosen in group) for n, group in zip(times, groups, strict=True)]
        left.remove(chosen)
        found.append(chosen)
    return found


def gain_of(measure: Any, groups: list[set[str]], docs: list[str]) -> float:
    """Sum the discounted gains of a list of documents."""
    p, times, total = measure.written(), [0] * len(groups), 0.0
    for rank, document in enumerate(docs[: measure.cutoff], 1):
        gain = 0.0
        for s, group in enumerate(groups):
            if document in group:
                gain += (1 - p["alpha"]) ** times[s]
                times[s] += 1
        total += gain * weight(measure, rank)
    return total


def weight(measure: Any, rank: int) -> float:
    if "NRBP" in measure.name:
        return float(measure.written()["beta"]) ** (rank - 1)
    return 1 / rank if "ERR" in measure.name else 1 / math.log2(rank + 1)


def value_of(measure: Any, groups: list[set[str]], docs: list[str]) -> float | None:
    """Measure a list of documents; None where no subtopic has a relevant one."""
    groups = [group for group in groups if group]
    p: dict[str, Any] = measure.written()
    total = gain_of(measure, groups, docs)
    if not groups:
        return None
    if measure.name.startswith("n") or measure.name == "alpha_nDCG":
        return total / gain_of(measure, groups, greedy(groups, p["alpha"]))
    if measure.name == "NRBP":
        return total * (1 - float((1 - p["alpha"]) * p["beta"])) / len(groups)
    if p["denominator"] == "none" or (p["denominator"] == "perfect(k>1)" and measure.cutoff == 1):
        return total
    everything = [{str(i) for i in range(measure.cutoff or 0)}] * len(groups)
    return total / gain_of(measure, everything, sorted(everything[0]))


def truth(measure: Any, protocol: Protocol, judged: Judged, rows: Rows, query: str) -> float:
    params = measure.written()
    docs = oracle.rank(rows.get(query, []), highest(judged[query]), query, protocol.written())
    kept = oracle.cast_grades(highest(judged[query]), protocol.grades)
    groups = []
    for grades in judged[query].values():
        cast = oracle.cast_grades(grades, protocol.grades)
        if protocol.negative == "drop":
            cast = {d: grade for d, grade in cast.items() if grade >= 0}
        groups.append({d for d in cast if d in kept and oracle.is_relevant(cast[d], params)})
    listed = [
        doc.id if not params["positive_score"] or doc.score > 0 else "another" for doc in docs
    ]
    value = value_of(measure, groups, listed)
    return math.nan if value is None else value


NOVELTY = ["alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP"]


@pytest.mark.parametrize("name", NOVELTY)
def test_plain_loops(name: str) -> None:
    compared = 0
    for seed in range(tries(60, 150)):
        rng = random.Random(seed)
        measure: Any = some_measure(rng, name).filled()
        if name in ("alpha_DCG", "ERR_IA") and measure.cutoff is None:
            measure = replace(measure, denominator="none")
        protocol = some_protocol(rng)
        if protocol.ties in ("best", "worst"):  # equal grades leave the order open
            protocol = replace(protocol, ties="docid-asc")
        judged, rows = some_groups(rng)
        qrels = il.read_qrels(columns_of(judged))
        placements = il.rank(qrels, il.read_run(rows), [protocol])[protocol]
        for query, value in zip(qrels.queries, measure.computed(placements).tolist(), strict=True):
            assert same(value, truth(measure, protocol, judged, rows, query)), (
                seed,
                measure,
                query,
            )
            compared += 1
    assert compared > tries(100, 250)


def some_coverage(rng: random.Random) -> dict[str, dict[str, float]]:
    """Make the grades of six documents by subtopic."""
    subtopics = rng.sample("abcde", rng.randint(1, 5))
    covered = {d: rng.sample(subtopics, rng.randint(1, len(subtopics))) for d in "uvwxyz"}
    return {s: {d: 1.0 for d in covered if s in covered[d]} for s in subtopics}


def test_the_greedy_list_is_close_to_the_best() -> None:
    """It lacks at most 1/e of it, so no value is above e / (e - 1)."""
    for seed in range(60):
        rng = random.Random(seed)
        judged: Judged = {"q": some_coverage(rng)}
        cls = rng.choice([alpha_nDCG, nERR_IA])
        measure = cls(alpha=rng.choice([0.5, 0.25, 1])).filled() @ 3
        groups = [set(grades) for grades in judged["q"].values()]
        gains = {d: gain_of(measure, groups, list(d)) for d in itertools.permutations("uvwxyz", 3)}
        best = max(gains, key=gains.__getitem__)
        value = il.evaluate(columns_of(judged), {"q": list(best)}, measure)[str(measure)]
        assert 1 - 1e-12 <= value <= math.e / (math.e - 1)


def test_a_run_can_be_better_than_the_greedy_list() -> None:
    """Two documents of three subtopics each, where one of four comes first to the greedy."""
    greediest, rest = dict.fromkeys("abcd", 1), [dict.fromkeys(some, 1) for some in ("abe", "cdf")]
    wanted = (3 + 3 / math.log2(3)) / (4 + 1 / math.log2(3))
    assert (alpha_nDCG(alpha=1) @ 2)(rest, [greediest]) == pytest.approx(wanted)
    assert wanted > 1


@pytest.mark.parametrize("name", NOVELTY)
def test_names_of_subtopics_do_not_matter(name: str) -> None:
    for seed in range(25):
        rng = random.Random(seed)
        judged, rows = some_groups(rng)
        names = rng.sample("uvwxyz", 6)
        other = {
            query: {
                names[i]: dict(groups[g])
                for i, g in enumerate(rng.sample(list(groups), len(groups)))
            }
            for query, groups in judged.items()
        }
        label = str(il.parse(name) @ 5) if il.parse(name).takes_cutoff else name
        a, b = (il.evaluate(columns_of(one), rows, label) for one in (judged, other))
        assert a.values[label].tolist() == pytest.approx(b.values[label].tolist(), abs=1e-14)


def test_a_query_does_not_depend_on_the_others() -> None:
    for seed in range(25):
        rng = random.Random(seed)
        judged, rows = some_groups(rng)
        qrels = il.read_qrels(columns_of(judged))
        labels = ["alpha_nDCG(alpha=0.3)@5", "nERR_IA(alpha=0.3)@5", "nNRBP(alpha=0.3)", "AP_IA"]
        together = il.evaluate(qrels, rows, labels)
        for i, query in enumerate(together.queries):
            alone = il.evaluate(qrels, rows, labels, queries=[query])
            for label in labels:
                assert alone.values[label].tolist() == [together.values[label][i]]


def test_one_subtopic_is_known_from_elsewhere() -> None:
    """Without novelty, one subtopic's sums are those of plain measures."""
    pairs = {
        "alpha_DCG(alpha=0,denominator=none)@5": "DCG(gain=binary)@5",
        "alpha_nDCG(alpha=0)@5": "nDCG(gain=binary)@5",
        "NRBP(alpha=0,beta=0.8)": "RBP(p=0.8,gain=binary)",
        "StRecall@3": "Success@3",
        "ERR_IA(alpha=1,denominator=none)": "RR",
    }
    for seed in range(50):
        qrels, rows = some_case(random.Random(seed))
        result = il.evaluate(qrels, rows, [*pairs, *pairs.values()])
        for mine, plain in pairs.items():
            assert result.values[mine].tolist() == pytest.approx(result.values[plain].tolist())


def test_subtopics_that_never_repeat_a_document_are_read_too(tmp_path: Path) -> None:
    """TREC's second column then stands beside the grades, and not for rows of its own."""
    rows: Qrels = [("q", "1", "a", 1), ("q", "2", "b", 1), ("q", "1", "c", 1), ("q", "3", "d", 0)]
    path = tmp_path / "qrels.txt"
    path.write_text("".join(f"{q} {s} {d} {grade}\n" for q, s, d, grade in rows))
    qrels = il.read_qrels(path)
    assert qrels.subtopics is None
    names = ["alpha-nDCG@3", "ERR-IA@3", "strec@1", "MAP-IA"]
    run = [("q", "a", 3.0), ("q", "c", 2.0), ("q", "b", 1.0)]
    mine = il.evaluate(qrels, lists(run), names, convention="pyndeval")
    theirs = pyndeval.ndeval(rows, run, names)["q"]
    assert dict(mine.aggregates) == pytest.approx(theirs)
    assert mine["alpha-nDCG@3"] < 1
    assert mine["strec@1"] == 0.5


def test_perfect_documents_need_a_cutoff() -> None:
    for cls in (alpha_DCG, ERR_IA):
        with pytest.raises(UsageError, match="needs a cutoff"):
            cls()([{"a": 1}])
        assert cls(denominator="none")([{"a": 1, "b": 1}]) == 2
        assert (cls(denominator="perfect(k>1)") @ 1)([{"a": 1, "b": 1}]) == 2
        assert (cls() @ 1)([{"a": 1, "b": 1}]) == 1
        assert (cls() @ 3)([{"a": 1, "b": 1}] * 3) == 1


def test_a_list_is_measured_as_a_run_is() -> None:
    grades = [{"a": 1}, None, {"a": 1, "b": 0}, {"b": 2}]
    judged = {"q": {"a": {"1": 1.0, "3": 1.0}, "b": {"3": 0.0, "4": 2.0, "5": 1.0}}}
    qrels, run = columns_of(judged), {"q": ["1", "2", "3", "4"]}
    measure = alpha_nDCG() @ 3
    assert measure(grades, [{"b": 1}]) == il.evaluate(qrels, run, measure)[str(measure)]
    assert np.isnan(alpha_nDCG(no_relevant="nan")([]))


def test_no_order_of_ties_is_averaged() -> None:
    with pytest.raises(UsageError, match="no closed form"):
        il.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "alpha_nDCG", ties="expected")


@pytest.mark.parametrize("name", NOVELTY)
def test_one_subtopic_on_another_array_library(name: str) -> None:
    for measure, one, value in some_lists(name, 20):
        found = measure.formula(one.to(array_api_strict))
        assert np.asarray(found).tolist() == pytest.approx(value.tolist(), abs=1e-12, nan_ok=True)
