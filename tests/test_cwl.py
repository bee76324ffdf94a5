"""The readers of C/W/L, live against cwl_eval's classes, its command, and ir_measures' use of it."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from cwl.ruler.measures import (
    cwl_ap,
    cwl_bpm,
    cwl_dcg,
    cwl_ift,
    cwl_insq,
    cwl_inst,
    cwl_metrics,
    cwl_nerr,
    cwl_npv,
    cwl_precision,
    cwl_rbp,
    cwl_rr,
    cwl_set,
    cwl_tbg,
    cwl_umeasure,
)
from cwl.ruler.ranking import Ranking

import idealist as il
from effort import tries
from generated import Qrels, Rows, some_case
from idealist.measures import MEASURES, Measure, cwl
from idealist.measures.cwl import REPORTS, RESIDUALS, UserModel
from waiting import PATIENCE

#: What cwl_eval calls the columns it prints.
NAMES = ("utility", "total_utility", "cost", "total_cost", "items")
ATTRIBUTES = dict(zip(REPORTS, NAMES, strict=True))

#: Our measure, and cwl_eval's.
MODELS: dict[str, Callable[[], Any]] = {
    "CWL(model=P)@3": lambda: cwl_precision.PrecisionCWLMetric(3),
    "CWL(model=P)@10": lambda: cwl_precision.PrecisionCWLMetric(10),
    "CWL(model=RR)": cwl_rr.RRCWLMetric,
    "CWL(model=AP)": cwl_ap.APCWLMetric,
    "CWL(p=0.5)": lambda: cwl_rbp.RBPCWLMetric(0.5),
    "CWL(p=0.999)": lambda: cwl_rbp.RBPCWLMetric(0.999),
    "SDCG@1": lambda: cwl_dcg.NDCGCWLMetric(1),
    "SDCG@10": lambda: cwl_dcg.NDCGCWLMetric(10),
    "SDCG@2000": lambda: cwl_dcg.NDCGCWLMetric(2000),
    "INSQ(T=0)": lambda: cwl_insq.INSQCWLMetric(0),
    "INSQ(T=2.5)": lambda: cwl_insq.INSQCWLMetric(2.5),
    "INST(T=0.5)": lambda: cwl_inst.INSTCWLMetric(0.5),
    "INST": lambda: cwl_inst.INSTCWLMetric(1),
    "INST(T=3)": lambda: cwl_inst.INSTCWLMetric(3.0),
    "SET@10": cwl_set.SETCWLMetric,
    "SET(beta=1)@3": lambda: cwl_set.SETCWLMetric(1.0, 3),
    "NPV": cwl_npv.NPVCWLMetric,
    "NPV(rate=1)": lambda: cwl_npv.NPVCWLMetric(1.0),
    "NERR8@5": lambda: cwl_nerr.NERReq8CWLMetric(5),
    "NERR9@5": lambda: cwl_nerr.NERReq9CWLMetric(5),
    "NERR10": cwl_nerr.NERReq10CWLMetric,
    "NERR11(T=2)": lambda: cwl_nerr.NERReq11CWLMetric(2.0),
    "BPM(K=10)": cwl_bpm.BPMCWLMetric,
    "BPM(T=1.2,K=3.5)": lambda: cwl_bpm.BPMCWLMetric(1.2, 3.5),
    "BPM(T=1000,K=1e6)": lambda: cwl_bpm.BPMCWLMetric(1000, 1e6),
    "BPM(hb=1,K=10)": cwl_bpm.BPMDCWLMetric,
    "BPM(T=1.2,K=20,hb=0.3,gain_med=0.2)": lambda: cwl_bpm.BPMDCWLMetric(1.2, 20, 0.3, 5, 0.2),
    "UMeasure": cwl_umeasure.UMeasureCWLMetric,
    "UMeasure(L=10)": lambda: cwl_umeasure.UMeasureCWLMetric(10),
    "TBG": cwl_tbg.TBGCWLMetric,
    "TBG(halflife=3)": lambda: cwl_tbg.TBGCWLMetric(3),
    "IFT(stop=goal,R1=1)": lambda: cwl_ift.IFTGoalCWLMetric(2.0, 0.9, 1),
    "IFT(stop=goal,R1=100)": lambda: cwl_ift.IFTGoalCWLMetric(2.0, 0.9, 100),
    "IFT(stop=rate,R2=1)": lambda: cwl_ift.IFTRateCWLMetric(0.2, 0.9, 1),
    "IFT(stop=rate,A=0.5,b2=0.2)": lambda: cwl_ift.IFTRateCWLMetric(0.5, 0.2, 10),
    "IFT": lambda: cwl_ift.IFTGoalRateCWLMetric(2.0, 0.9, 10, 0.2, 0.9, 10),
    "IFT(T=1,b1=0.1,R1=3,A=0.6,b2=2,R2=5)": lambda: cwl_ift.IFTGoalRateCWLMetric(
        1.0, 0.1, 3, 0.6, 2.0, 5
    ),
}  # fmt: skip


def reader(text: str, **own: Any) -> Measure:
    """Read a measure and set some of its parameters."""
    one: Any = il.parse(text)
    made: Measure = replace(one, **own)
    return made


def columns_of(theirs: Any, ranking: Ranking) -> dict[str, float]:
    """Give all ten columns that cwl_eval prints with ``-r``."""
    theirs.residuals = True
    theirs.measure(ranking)
    found = {report: getattr(theirs, f"expected_{name}") for report, name in ATTRIBUTES.items()}
    rest = {
        f"Res{report}": getattr(theirs, f"residual_expected_{name}")
        for report, name in ATTRIBUTES.items()
    }
    return found | rest


@pytest.mark.parametrize("text", MODELS)
def test_every_column_of_every_class(text: str) -> None:
    """Grades of a list with holes, costs of some documents, all ten columns."""
    for seed in range(tries(15, 40)):
        rng = random.Random(seed)
        length = rng.choice([0, 1, 3, 12, 30])
        grades = [rng.choice([None, -1, 0, 0, 1, 2, 3]) for _ in range(length)]
        costs = [rng.choice([None, 0.25, 1.0, 7.5]) if g is not None else None for g in grades]
        priced = rng.random() < 0.5
        own: dict[str, Any] = {
            "gain": rng.choice(["binary", "scaled(0,3)"]),
            "cost": rng.choice([1, 0.5, 4]),
            "max_depth": rng.choice([2, 5, 20, 1000]) if text != "CWL(model=P)@10" else 1000,
            "cost_column": "seconds" if priced else "none",
        }
        gains = [math.nan if g is None else gain(g, own["gain"]) for g in grades]
        spent = [c if priced and c is not None else math.nan for c in costs]
        ranking = Ranking(
            "q", gains, spent, max_cost=own["cost"], min_cost=own["cost"], max_n=own["max_depth"]
        )
        for report, wanted in columns_of(MODELS[text](), ranking).items():
            measure = reader(text, report=report, **own)
            found = measure(grades, seconds=costs)
            assert found == pytest.approx(wanted, rel=1e-11, abs=1e-11), (seed, measure, grades)


def gain(grade: float, rule: str) -> float:
    return float(grade >= 1) if rule == "binary" else max(grade, 0) / 3


def test_every_class_of_cwl_eval_has_its_measure() -> None:
    """TrAP is no reader: C goes beyond 1. Its EU is AP, with all relevant documents for R."""
    folder = Path(str(cwl_metrics.__file__)).parent
    modules = [import_module(f"cwl.ruler.measures.{path.stem}") for path in folder.glob("cwl_*.py")]
    classes = {
        found
        for module in modules
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, cwl_metrics.CWLMetric)
    }
    compared = {type(make()) for make in MODELS.values()}
    assert classes - compared == {cwl_metrics.CWLMetric, cwl_ap.TrAPCWLMetric}
    measured = {il.parse(text).name for text in MODELS}
    assert measured == {cls.__name__ for cls in every_model()}
    for seed in range(tries(60, 200)):
        rng = random.Random(seed)
        grades = [rng.choice([0, 1]) for _ in range(rng.randint(1, 20))]
        missed = rng.randint(0, 3)
        ranking = Ranking("q", [float(grade) for grade in grades], [math.nan] * len(grades))
        ranking.total_qrel_rels += missed
        theirs = cwl_ap.TrAPCWLMetric()
        wanted = columns_of(theirs, ranking)["EU"]
        assert il.parse("AP")(grades, judged=[1] * missed) == pytest.approx(wanted, abs=1e-12)


def every_model() -> list[type[UserModel]]:
    return [cls for cls in MEASURES.values() if issubclass(cls, UserModel)]


@pytest.mark.parametrize(
    ("reader", "measure"),
    [
        ("CWL(model=P)@5", "P@5"), ("CWL(model=RR)", "RR"), ("CWL(p=0.9)", "RBP(p=0.9,gain=binary,normalise_depth=1000)"),
        ("CWL(model=AP)", "AP(denominator=R_list)"), ("NPV(rate=1/4)", "RBP(p=0.8,gain=binary,normalise_depth=1000)"),
        ("CWL(model=P,report=ETU)@5", "CG(gain=binary)@5"),
    ],
)  # fmt: skip
def test_the_reader_of_a_measure_expects_its_value(reader: str, measure: str) -> None:
    for seed in range(tries(60, 200)):
        qrels, rows = some_case(random.Random(seed))
        result = il.evaluate(qrels, rows, [reader, measure])
        found, wanted = result.values[reader].tolist(), result.values[measure].tolist()
        assert found == pytest.approx(wanted, abs=1e-12), (seed, qrels, rows)


#: Our measure under ir_measures' convention, and ir_measures'.
IR_MEASURES: dict[str, Any] = {
    "INST(gain=scaled(0,3))": ir_measures.INST(max_rel=3),
    "INST(T=2.5,gain=scaled(1,2))": ir_measures.INST(T=2.5, min_rel=1, max_rel=2),
    "INSQ(gain=scaled(0,3))": ir_measures.INSQ(max_rel=3),
    "INSQ(T=3,gain=scaled(0,1))": ir_measures.INSQ(T=3.0, max_rel=1),
    "SDCG(gain=scaled(0,3))@5": ir_measures.SDCG(max_rel=3) @ 5,
    "SDCG(gain=scaled(0,3))@1500": ir_measures.SDCG(max_rel=3) @ 1500,
    "BPM(gain=scaled(0,3))@5": ir_measures.BPM(max_rel=3) @ 5,
    "BPM(T=2,gain=scaled(0,2))@10": ir_measures.BPM(T=2.0, max_rel=2) @ 10,
    "NERR8(gain=scaled(0,3))@5": ir_measures.NERR8(max_rel=3) @ 5,
    "NERR9(gain=scaled(0,3))@5": ir_measures.NERR9(max_rel=3) @ 5,
    "NERR10(gain=scaled(0,3))": ir_measures.NERR10(max_rel=3),
    "NERR10(p=0.5,gain=scaled(0,2))": ir_measures.NERR10(p=0.5, max_rel=2),
    "NERR11(gain=scaled(0,3))": ir_measures.NERR11(max_rel=3),
    "NERR11(T=2,gain=scaled(0,3))": ir_measures.NERR11(T=2.0, max_rel=3),
    "RBP": ir_measures.RBP(rel=1),
    "RBP(p=0.999,rel=2)": ir_measures.RBP(rel=2, p=0.999),
}  # fmt: skip


def test_ir_measures() -> None:
    """Ties, holes, negatives, fractions, short lists, queries that one side lacks."""
    compared = 0
    for seed in range(tries(40, 100)):
        qrels, rows = some_case(random.Random(seed))
        compared += agree(qrels, {q: dict(rows[q]) for q in rows})
    assert compared > tries(1000, 3000)


def test_ir_measures_sees_a_thousand_documents() -> None:
    rng = random.Random(0)
    ids = [f"d{i}" for i in range(1500)]
    qrels: Qrels = {"a": {d: rng.choice([0, 1, 2, 3]) for d in ids}, "b": {"d9": 0, "x": 3}}
    run = {q: {d: float(rng.randint(0, 99)) for d in ids} for q in qrels}
    assert agree(qrels, run) == 2 * len(IR_MEASURES)


def agree(qrels: Qrels, run: dict[str, dict[str, float]]) -> int:
    """Compare the values of all queries, and say how many there are."""
    mine = il.evaluate(qrels, run, list(IR_MEASURES), convention="ir_measures")
    theirs = ir_measures.iter_calc(list(IR_MEASURES.values()), qrels, run)
    wanted = {(metric.measure, metric.query_id): metric.value for metric in theirs}
    assert len(wanted) == len(IR_MEASURES) * len(mine.queries)
    for text, measure in IR_MEASURES.items():
        for query, value in zip(mine.queries, mine.values[text].tolist(), strict=True):
            assert value == pytest.approx(wanted[measure, query], abs=1e-12), (text, qrels, run)
    return len(wanted)


#: What the command prints if no file of metrics is given (it cannot read one once installed).
PRINTED = {
    **{f"P@{k}": f"CWL(model=P)@{k}" for k in (1, 2, 3, 4, 5, 10)},
    **{f"RBP@{p}": f"CWL(p={p})" for p in (0.2, 0.4, 0.8)},
    **{f"NDCG-k@{k}": f"SDCG@{k}" for k in (5, 10)},
    "RR": "CWL(model=RR)", "AP": "CWL(model=AP)",
    **{f"INST-T={T}": f"INST(T={T})" for T in (1.0, 2.0, 3.0)},
}  # fmt: skip


def test_the_command(tmp_path: Path) -> None:
    """All ten columns of its output, in four digits; it reads rows in the order of the file."""
    qrels, rows = gains_of(random.Random(0))
    printed = columns_printed(tmp_path, qrels, rows)
    assert {metric for _, metric in printed} == PRINTED.keys()
    run = il.read_run(tmp_path / "run")
    for metric, text in PRINTED.items():
        for report in (*REPORTS, *RESIDUALS):
            measure = reader(text, report=report)
            result = il.evaluate(qrels, run, measure, convention="cwl_eval")
            assert not [doubt for doubt in result.doubts if doubt.code == "not-in-tool"]
            assert set(result.queries) == {query for query, _ in printed}
            for query, value in zip(result.queries, result.values[str(measure)], strict=True):
                assert value == pytest.approx(printed[query, metric][report], abs=5.01e-5)
    result = il.evaluate(qrels, run, "RBP(p=0.8)", convention="cwl_eval")
    for query, value in zip(result.queries, result.values["RBP(p=0.8)"], strict=True):
        assert value == pytest.approx(printed[query, "RBP@0.8"]["EU"], abs=5.01e-5)


def gains_of(rng: random.Random) -> tuple[Qrels, Rows]:
    """Make gains and a run whose scores say nothing; one query is in the judgments alone."""
    ids = [f"d{i}" for i in range(40)]
    qrels = {
        f"q{i}": {d: rng.choice([0, 0.25, 0.5, 1]) for d in rng.sample(ids, rng.randint(1, 30))}
        for i in range(8)
    }
    qrels["q1"] = dict.fromkeys(qrels["q1"], 0)
    rows = {
        q: [(d, rng.random()) for d in rng.sample(ids, rng.randint(1, 40))]
        for q in qrels
        if q != "q0"
    }
    return qrels, rows


def columns_printed(
    folder: Path, qrels: Qrels, rows: Rows
) -> dict[tuple[str, str], dict[str, float]]:
    """Run ``cwl-eval -r`` and give its columns by query and metric."""
    lines = [f"{q} 0 {d} {g}\n" for q in qrels for d, g in qrels[q].items()]
    (folder / "qrels").write_text("".join(lines))
    lines = [f"{q} Q0 {d} {i} {s} x\n" for q in rows for i, (d, s) in enumerate(rows[q])]
    (folder / "run").write_text("".join(lines))
    command = [sys.executable, "-m", "cwl.cwl_eval", "qrels", "run", "-r"]
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, encoding="utf-8", timeout=PATIENCE
    )
    found = {}
    for line in done.stdout.splitlines():
        query, metric, *values = (cell.strip() for cell in line.split("\t"))
        found[query, metric] = dict(zip((*REPORTS, *RESIDUALS), map(float, values), strict=True))
    return found


def test_defaults_of_the_classes() -> None:
    """What a convention leaves open is what cwl_eval's constructors have."""
    made: dict[str, Any] = {
        name: il.CONVENTIONS["cwl_eval"].instrument(il.parse(name)).measure
        for name in ("RBP", "CWL", "CWL(model=P)", "BPM", "BPM@3", "SET", "TBG", "UMeasure", "NPV")
    }
    assert made["RBP"].p == made["CWL"].p == cwl_rbp.RBPCWLMetric().theta
    assert made["CWL(model=P)"].cutoff == cwl_precision.PrecisionCWLMetric().k
    assert (made["BPM"].T, made["BPM"].K) == (cwl_bpm.BPMCWLMetric().T, cwl_bpm.BPMCWLMetric().K)
    assert (made["BPM@3"].K, made["BPM@3"].cutoff) == ("none", 3)
    assert (made["SET"].beta, made["SET"].cutoff) == (0.5, cwl_set.SETCWLMetric().k)
    assert made["TBG"].halflife == cwl_tbg.TBGCWLMetric().halflife
    assert made["UMeasure"].L == cwl_umeasure.UMeasureCWLMetric().L
    assert made["NPV"].rate == cwl_npv.NPVCWLMetric().rate


@pytest.mark.parametrize("report", ["EU", "ETU", "EC", "ETC", "ED", "ResEU", "ResETC"])
def test_costs_come_from_a_column_of_the_judgments(report: str) -> None:
    """Documents without a judgment, or with none in the column, have the cost of all others."""
    models = [text for text in MODELS if text.startswith(("TBG", "UMeasure", "BPM", "IFT"))]
    for seed in range(40):
        rng = random.Random(seed)
        qrels, rows = some_case(rng, fractions=False)
        costs = {q: {d: rng.choice([None, 0.5, 3.0]) for d in qrels[q]} for q in qrels}
        costs["q0"][next(iter(qrels["q0"]))] = 2.0  # a column without a value is none
        judged = [
            {"query": q, "document": d, "grade": g, "seconds": costs[q][d]}
            for q in qrels
            for d, g in qrels[q].items()
        ]
        text = rng.choice(models)
        measure = reader(text, report=report, cost=1.5, cost_column="seconds")
        result = il.evaluate(judged, rows, measure, ties="input")
        for query, value in zip(result.queries, result.values[str(measure)], strict=True):
            listed = sorted(rows.get(query, []), key=lambda row: -row[1])
            gains = [
                float(qrels[query][d] >= 1) if d in qrels[query] else math.nan for d, _ in listed
            ]
            spent = [costs[query].get(d) or math.nan for d, _ in listed]
            ranking = Ranking(query, gains, spent, max_cost=1.5, min_cost=1.5)
            wanted = columns_of(MODELS[text](), ranking)[report]
            assert value == pytest.approx(wanted, rel=1e-11, abs=1e-11), (seed, query)


@pytest.mark.parametrize("name", [cls.__name__ for cls in every_model()])
def test_pages_hold_any_number_of_queries(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The values are bit for bit the same, however many queries are laid out at a time."""
    rng = random.Random(0)
    qrels = {f"q{i}": {f"d{rng.randrange(30)}": 1 for _ in range(9)} for i in range(23)}
    run = {q: [f"d{i}" for i in rng.sample(range(30), rng.randint(0, 30))] for q in qrels}
    wanted = il.evaluate(qrels, run, name).values[name]
    for cells in (1, 1000, 5000, 10**9):
        monkeypatch.setattr(cwl, "CELLS", cells)
        assert il.evaluate(qrels, run, name).values[name].tobytes() == wanted.tobytes()


def test_what_readers_expect_hangs_together() -> None:
    """Costs of 1 are documents, and totals are what a document brings times their number."""
    for seed in range(tries(60, 200)):
        rng = random.Random(seed)
        grades = [rng.choice([None, 0, 1]) for _ in range(rng.randint(1, 12))]
        text = rng.choice([text for text in MODELS if "1e6" not in text])
        found = {report: reader(text, report=report)(grades, judged=[1]) for report in REPORTS}
        assert found["EC"] == pytest.approx(1)
        assert found["ETU"] <= found["EU"] * found["ED"] + 1e-9
        assert found["ETC"] <= found["ED"] + 1e-9
        one = il.parse(text)
        if one.name in ("SDCG", "NERR8", "NERR9", "SET", "TBG", "UMeasure") and one.cutoff != 2000:
            assert found["ETU"] == pytest.approx(found["EU"] * found["ED"])
            assert found["ETC"] == pytest.approx(found["ED"])


def test_both_sides_of_a_dynamic_budget_move() -> None:
    """Each document of gain 1 brings half a document more; each of gain 0 takes half of one."""
    grades = [1, 1, 1, 0, 0, 0, 0]
    for hc, seen in ((0, 3), (1, 5), (0.5, 4)):
        measure = il.parse(f"BPM(T=100,K=3,hc={hc},report=ED)")
        assert measure(grades) == seen


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("INST(gain=linear)", "INST: a gain of 2 is above 1"),
        ("TBG(cost_column=seconds)", "no column 'seconds'"),
        ("TBG(cost_column=zero)", "a cost in 'zero' is not above 0"),
        ("INST(T=0.4)", "a number of at least 0.5"), ("SET(beta=0)", "a number above 0, at most 1"),
        ("SET(beta=1.1)", "a number above 0, at most 1"), ("TBG(halflife=0)", "a number above 0"),
        ("INST@5", "takes no cutoff"), ("INST(max_depth=1)", "at least 2"),
        ("INST(report=EI)", "one of EU, ETU"), ("INST(cost_column=a b)", "name of a judgment column"),
        ("BPM(K=0)", "none or a cost"),
    ],
)  # fmt: skip
def test_what_a_reader_cannot_take_is_refused(text: str, says: str) -> None:
    with pytest.raises(il.UsageError) as caught:
        il.parse(text)([2, 0], zero=[1.0, 0.0])
    assert says in str(caught.value)


def test_readers_are_not_averaged_over_ties() -> None:
    with pytest.raises(il.UsageError, match="no closed form"):
        il.evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}, "INST", ties="expected")


def test_parameters_at_the_ends_of_their_range_keep_their_digits() -> None:
    """SET tends to weights ln(1 + 1/r) as beta goes to 0, patience to reading all there is."""
    weights = [math.log1p(1 / rank) for rank in (1, 2, 3)]
    limit = (weights[0] + weights[2]) / math.fsum(weights)
    for beta in ("1e-12", "1e-15", "1e-17", "1e-300", "5e-324"):
        assert il.parse(f"SET(beta={beta})@3")([1, 0, 1]) == pytest.approx(limit, rel=1e-11)
    for name in ("INSQ", "INST", "NERR11"):
        patient = il.parse(f"{name}(T=1e308,report=ED)")
        assert patient([0, 0, 0]) == 1000
