"""Which conventions print a number: answers, misses, words, and the search behind them."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import idealist as il
from effort import tries
from generated import PLAIN
from idealist.cli.main import main
from idealist.measures import MEASURES
from idealist.ranking.ranked import Ranked
from idealist.reconciling.classes import Asker, by_tools
from idealist.reconciling.facts import Facts
from idealist.reconciling.rankings import stacks_of
from idealist.reconciling.search import Search, aggregated, rounded
from idealist.reconciling.space import Space
from idealist.reconciling.target import Target, read_values
from planting import planted, some_data
from test_planted import Wanted
from test_probes import MEASURES as PROBED
from test_probes import ROWS, probes, with_unretrieved

__all__ = ["probes"]  # a fixture

ROOT = Path(__file__).parents[1]
QRELS, BM25 = str(ROOT / "examples/qrels.txt"), str(ROOT / "examples/bm25.run")


def reconciled(value: Any = None, measure: str = "nDCG@10", **more: Any) -> il.Reconciliation:
    return il.reconcile(QRELS, BM25, measure, value, **more)


def test_the_default_comes_first() -> None:
    value = il.evaluate(QRELS, BM25, "nDCG@10")["nDCG@10"]
    found = reconciled(f"{value:.4f}")
    assert found.answers[0].names[0] == "trec_eval"
    assert not found.answers[0].changes
    assert found.answers[0].value == value
    assert all(f"{one.printed:.4f}" == f"{value:.4f}" for one in found.answers)


def test_a_number_that_no_convention_prints() -> None:
    found = reconciled("0.1742")
    assert not found
    assert found.answers == ()
    assert found.nearest is not None
    assert 0 < abs(found.nearest.printed - 0.1742) < 0.01
    assert found.summary == "no convention tried here prints nDCG@10 0.1742"
    assert str(found).startswith(f"{found.summary}\n\nthe nearest is 0.174570: trec_eval with ")


def test_digits_are_those_of_the_text() -> None:
    assert [Target.of(one).digits for one in ("0.4310", 0.431, "1", "4.3e-05", 30)] == [
        4,
        3,
        0,
        6,
        0,
    ]
    assert Target.of("0.43119", 4).text == "0.4312"
    assert Target.of(0.43119).prints(np.array([0.4311949, 0.4311851, 0.431196])).tolist() == [
        True, True, False,
    ]  # fmt: skip
    assert Target.of("nan").prints(np.array([math.nan, 0.0])).tolist() == [True, False]
    with pytest.raises(il.UsageError, match="no number"):
        reconciled()
    with pytest.raises(il.UsageError, match="not a number"):
        reconciled("high")
    with pytest.raises(il.UsageError, match="digits"):
        reconciled("0.1", digits=40)


def test_rules_that_are_known_are_kept() -> None:
    value = il.evaluate(QRELS, BM25, "nDCG@10", ties="expected")["nDCG@10"]
    found = reconciled(value, ties="expected")
    assert found.answers
    assert all(one.instrument.protocol.ties == "expected" for one in found.answers)
    with pytest.raises(il.UsageError, match="no axis"):
        reconciled(value, tie="expected")


def test_a_further_number_decides() -> None:
    found = reconciled("0.6742")
    assert found.question is not None
    assert len(found.question.prints) > 1
    asked = il.parse(found.question.asked)
    for number, classes in found.question.prints.items():
        for i in classes:
            axes: dict[str, Any] = dict(found.answers[i].changes)
            assert f"{il.evaluate(QRELS, BM25, asked, **axes)[asked]:.4f}" == number


def test_another_run_may_decide() -> None:
    other = il.read_run(str(ROOT / "examples/reranked.run"))
    found = reconciled("0.67", others=[other])
    alone = reconciled("0.67")
    assert found.question is not None
    assert alone.question is not None
    assert found.question.left <= alone.question.left
    judged = il.read_qrels(QRELS)
    asker = Asker([Ranked(judged, one) for one in (il.read_run(BM25), other)], 4)
    questions = {one.asked: one for one in asker.questions(il.parse("nDCG@10"), found.answers[:5])}
    for number, classes in questions["nDCG@10 of reranked"].prints.items():
        for i in classes:
            axes: dict[str, Any] = dict(found.answers[i].changes)
            assert f"{il.evaluate(QRELS, other, 'nDCG@10', **axes)['nDCG@10']:.4f}" == number


def test_values_of_queries_leave_one_class() -> None:
    alone = 0
    for seed in range(tries(10, 30)):
        plant = planted(seed)
        value = plant.evaluated()[plant.measure]
        found = il.reconcile(plant.qrels, plant.run, plant.measure, value, 12, plant.values())
        assert any(map(Wanted(plant).is_of, found.answers)), seed
        assert not found.misfits
        alone += len(found.answers) == 1
    assert alone >= tries(9, 29)


def test_queries_that_fit_no_convention_are_named() -> None:
    evaluation = il.evaluate(QRELS, BM25, "nDCG@10")
    known = dict(zip(evaluation.queries, evaluation.values["nDCG@10"].tolist(), strict=True))
    assert reconciled(per_query=known).answers[0].names[0] == "trec_eval"
    first = next(iter(known))
    found = reconciled(per_query=known | {first: 0.123456})
    assert not found
    assert found.misfits == (first,)
    assert found.nearest is not None
    assert found.nearest.changes == {}
    assert first in str(found)
    with pytest.raises(il.UsageError, match="no judgments"):
        reconciled(per_query={"nobody": 0.5})


def recorded(probes: dict[str, Any], tool: str) -> Iterator[tuple[Any, Any, il.Measure, str, Any]]:
    """Give every number that a tool printed, with what it was printed for."""
    row = ROWS[tool]
    for probe in probes["probes"]:
        for name, value in probes["values"][probe["id"]].get(tool, {}).items():
            usable = isinstance(value, float | int) and not math.isnan(value)
            if name not in PROBED or not usable or (name, probe["id"]) in row.left_out:
                continue
            measure = il.parse(PROBED[name])
            if il.CONVENTIONS[row.convention].has(measure):
                run = with_unretrieved(probe) if row.appended else probe["run"]
                axes = {key: v for key, v in row.axes.items() if _takes(measure, key)}
                yield probe["qrels"], run, measure, f"{value:.4f}", axes


def test_every_recorded_tool_is_named(probes: dict[str, Any]) -> None:
    """Numbers that tools printed lead to the tools: some in full, all among the named."""
    for tool, row in ROWS.items():
        found = list(recorded(probes, tool))
        assert len(found) >= 10
        some = random.Random(tool).sample(found, tries(10, len(found)))
        for judged, rows, measure, value, axes in some:
            qrels = il.read_qrels(judged)
            ranked = Ranked(qrels, il.read_run(rows).loaded())
            base = il.CONVENTIONS["trec_eval"].instrument(measure, axes).protocol
            space = Space.of(measure, axes, Facts.of(ranked, base))
            search = Search(
                space, Target.of(value), qrels.queries, np.ones(len(qrels.queries), bool)
            )
            tools = [il.CONVENTIONS[row.convention]]
            (one,) = by_tools(search, ranked, measure, axes, tools)
            assert one.fits, (tool, measure, value)
        qrels, run, measure, value, axes = random.Random(tool).choice(found)
        answers = il.reconcile(qrels, run, measure, value, **axes).answers
        assert row.convention in [name for one in answers for name in one.names], tool


def _takes(measure: il.Measure, axis: str) -> bool:
    return axis in il.Protocol.parameters().keys() | measure.parameters().keys() | {"round"}


def test_scores_that_are_infinite_as_float32() -> None:
    """They are tied there, and refused unless that is said."""
    qrels = {f"q{i}": {"a": 2, "b": 1, f"c{i}": i % 3} for i in range(6)}
    run = {f"q{i}": {"a": 1e40, "b": 1e39 + i, f"c{i}": i} for i in range(6)}
    rules = {"precision": "float32", "nonfinite": "as_is"}
    value = il.evaluate(qrels, run, "nDCG@10", **rules)["nDCG@10"]
    assert value != il.evaluate(qrels, run, "nDCG@10")["nDCG@10"]
    assert rules in [one.changes for one in il.reconcile(qrels, run, "nDCG@10", value).answers]


def test_trec_covid_takes_seconds(data: Path) -> None:
    folder = data / "trec-covid-r1"
    qrels, run = str(folder / "qrels.txt"), str(folder / "runs" / "sheikh_bm25_all")
    value = il.evaluate(qrels, run, "nDCG@10", convention="sklearn")["nDCG@10"]
    start = time.process_time()
    found = il.reconcile(qrels, run, "nDCG@10", f"{value:.4f}")
    assert time.process_time() - start < 30
    assert "sklearn" in found.answers[0].names
    assert found.tried > 10**6


@pytest.mark.parametrize("name", PLAIN)
def test_stacked_lists_have_the_values_of_lists(name: str) -> None:
    rng, compared = random.Random(name), 0
    for seed in range(2):
        qrels, run = map(_read, some_data(rng), READERS)
        cls = MEASURES[name]
        measure = cls() @ 3 if cls.takes_cutoff and seed else cls()
        base = il.CONVENTIONS["trec_eval"].instrument(measure)
        space = Space.of(measure, {}, Facts.of(Ranked(qrels, run), base.protocol))
        measures = [space.measures[0], *rng.sample(space.measures, min(2, len(space.measures)))]
        protocols = [space.protocols[0], *rng.sample(space.protocols, min(6, len(space.protocols)))]
        for stack in stacks_of(Ranked(qrels, run), protocols, measure):
            for one in measures:
                for i, protocol in enumerate(stack.protocols):
                    ranked = il.rank(qrels, run, [protocol])[protocol]
                    try:
                        direct, stacked = one.values(ranked), stack.values(one)[i]
                    except il.IdealistError:
                        continue
                    np.testing.assert_allclose(stacked, direct, rtol=0, atol=1e-12)
                    compared += 1
    assert compared


READERS: tuple[Any, Any] = (il.read_qrels, il.read_run)


def _read(data: Any, reader: Any) -> Any:
    return reader(data)


def test_measures_that_agree_are_tried_once() -> None:
    """The keys under which formulas are one are sound: what is left out agrees with what is not."""
    for name in ("nDCG@3", "nDCG", "DCG@3", "AP", "R@3", "P", "RBP"):
        rng = random.Random(name)
        qrels, run = map(_read, some_data(rng), READERS)
        measure = il.parse(name)
        base = il.CONVENTIONS["trec_eval"].instrument(measure)
        space = Space.of(measure, {}, Facts.of(Ranked(qrels, run), base.protocol))
        kept = {space._key(one): one for one in space.measures}
        placements = il.rank(qrels, run, [base.protocol])[base.protocol]
        for _ in range(60):
            own = {key: rng.choice(values) for key, values in space.formulas.items()}
            one = type(measure)(**own)
            try:
                values = one.values(placements)
            except il.IdealistError:
                continue
            same = kept[space._key(one)].values(placements)
            np.testing.assert_allclose(values, same, rtol=0, atol=1e-12)


def test_many_aggregates_are_those_of_one() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((40, 7)).round(2)
    values[rng.random(values.shape) < 0.02] = np.nan
    counted = rng.random(values.shape) < 0.7
    counted[0] = False
    for name in ("mean", "median", "min", "max", "sum", "geometric(1e-05)"):
        one = il.CONVENTIONS["trec_eval"].instrument(il.parse("AP"), {"aggregate": name}).aggregate
        ours = aggregated(name, values, counted)
        theirs = [one.of(row[mask]) for row, mask in zip(values, counted, strict=True)]
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    halves = np.arange(2000).reshape(40, 50) / 1000 + 0.0005
    for digits in (2, 3):
        python = [[round(value, digits) for value in row] for row in halves.tolist()]
        assert rounded(halves, digits).tolist() == python


def test_values_are_read_as_people_keep_them(tmp_path: Path) -> None:
    measure, path = il.parse("nDCG@10"), tmp_path / "values.tsv"
    for text in (
        "query\tvalue\nq1\t0.50\nq2\t0.25\nall\t0.375\n",
        "q1\t0.50\nq2\t0.25\nall\t0.375\n",
        "runid\tall\tx\nmap\tq1\t0.1\nndcg_cut_10\tq1\t0.50\nndcg_cut_10\tq2\t0.25\nndcg_cut_10\tall\t0.375\n",
        "ndcg_cut_10           \tq1\t0.50\nndcg_cut_10 q2 0.25\nnDCG@10 all 0.375\n",
    ):
        path.write_text(text)
        assert read_values(str(path), measure) == {"q1": "0.50", "q2": "0.25", "all": "0.375"}
    for text, code in (
        ("a b c d\n", "columns"),
        ("q1\t1\nq1\t2\n", "contradiction"),
        ("\n", "empty"),
    ):
        path.write_text(text)
        with pytest.raises(il.InputError) as error:
            read_values(str(path), measure)
        assert error.value.code == code
    path.write_text("map\tq1\t0.1\n")
    with pytest.raises(il.UsageError, match="no values of nDCG@10"):
        read_values(str(path), measure)


def run_cli(*arguments: str) -> tuple[int, str]:
    from idealist.cli.main import cli

    done = CliRunner().invoke(cli, ["reconcile", QRELS, BM25, *arguments])
    return done.exit_code, done.stdout


def test_the_command(tmp_path: Path) -> None:
    code, shown = run_cli("-m", "nDCG@10", "--value", "0.6742", "-f", "json")
    found = json.loads(shown)
    assert code == 0
    assert found["answers"][0]["conventions"][0] == "trec_eval"
    assert found["rivals"] == len(found["answers"]) - 1
    assert found["decides"]["prints"]
    code, shown = run_cli("-m", "nDCG@10", "--value", "0.1742", "-f", "json")
    assert (code, json.loads(shown)["answers"]) == (1, [])
    assert json.loads(shown)["nearest"]["changes"]
    code, shown = run_cli("-m", "nDCG@10", "--value", "0.7304", "-f", "md")
    assert code == 0
    assert shown.startswith("**nDCG@10 0.7304 fits the rules of sklearn, torchmetrics; no other ")
    assert "| 1 | 0.730401 | sklearn, torchmetrics" in shown
    code, shown = run_cli("-m", "nDCG@10", "--value", "0.7304", "-f", "tsv")
    assert shown.startswith("class\tnDCG@10\tconvention\n1\t0.73040")
    assert float(shown.split("\t")[3]) == reconciled("0.7304").answers[0].printed
    evaluation = il.evaluate(QRELS, BM25, "nDCG@10", convention="burges")
    lines = [
        f"ndcg_cut_10\t{q}\t{v:.4f}"
        for q, v in zip(evaluation.queries, evaluation.values["nDCG@10"], strict=True)
    ]
    path = tmp_path / "theirs.txt"
    path.write_text("\n".join([*lines, f"ndcg_cut_10\tall\t{evaluation['nDCG@10']:.4f}"]))
    code, shown = run_cli("-m", "nDCG@10", "--values", str(path), "-f", "json")
    (answer,) = json.loads(shown)["answers"]
    assert "burges" in answer["conventions"]


def test_errors_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["reconcile", QRELS, BM25, "-m", "nDCG@10"])
    assert stop.value.code == 2
    assert "there is no number to reconcile" in capsys.readouterr().err
