"""Numbers that rules print by chance: counted as one would count them, said, and rare on real runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import idealist as il
from effort import SLOW
from foreign_values import TRIALS, rows, verdicts
from idealist.measures.instrument import Instrument, measured
from idealist.ranking.ranked import Ranked
from idealist.reconciling.chance import OF_MIXTURES, OF_TOOLS, Chance
from idealist.reconciling.facts import Facts
from idealist.reconciling.space import Space

ROOT = Path(__file__).parents[1]
QRELS, BM25, RERANKED = (
    str(ROOT / "examples" / name) for name in ("qrels.txt", "bm25.run", "reranked.run")
)
#: Values of queries are cheap to compute by hand here: lists of three, and few rules that matter.
JUDGED = {f"q{i}": {"a": 1 + i % 2, "b": 0, "c": i % 3} for i in range(7)}
LISTS = {f"q{i}": ["b", "a", "c"] if i % 3 else ["c", "b"] for i in range(7)}


def everything(measure: str) -> list[tuple[float, float, int]]:
    """Measure under every combination of rules: the number, as printed, and its changes."""
    ranked, one = Ranked(il.read_qrels(JUDGED), il.read_run(LISTS)), il.parse(measure)
    base = il.CONVENTIONS["trec_eval"].instrument(one)
    space = Space.of(one, {}, Facts.of(ranked, base.protocol))
    found = []
    ends = (space.no_relevant, space.missing, space.aggregates, space.roundings)
    for made, protocol, (empty, missing, how, rounding) in product(
        space.measures, space.protocols, list(product(*ends))
    ):
        own: Any = {"no_relevant": empty} if "no_relevant" in made.parameters() else {}
        aggregate = replace(base.aggregate, aggregate=how, round=rounding)
        rules = Instrument(replace(made, **own), replace(protocol, missing=missing), aggregate)
        plain = replace(rules, aggregate=replace(aggregate, round="none"))
        try:
            full, printed = (measured(x, ranked[x.protocol]).aggregate for x in (plain, rules))
        except il.IdealistError:
            continue
        found.append((full, printed, len(space.changes(rules))))
    return found


def test_results_are_counted_as_by_hand() -> None:
    measure = "RR@2"
    evaluation = il.evaluate(JUDGED, LISTS, measure)
    value = evaluation[measure]
    width = float(np.std(list(evaluation.by_query(measure).values()), ddof=1))
    least: dict[tuple[float, int], int] = {}
    for full, printed, changes in everything(measure):
        if abs(printed - round(value, 4)) <= width / 2:
            key = (round(full, 12), round(printed * 10**4))
            least[key] = min(changes, least.get(key, 99))
    found = il.reconcile(JUDGED, LISTS, measure, f"{value:.4f}").chance
    assert found is not None
    assert (found.results, found.of_tools) == (len(least), True)
    step = {"Success@2": 1 / 7, "RR@2": 0.5 / 7}[
        measure
    ]  # values of queries are 0 and 1, or halves
    assert found.expected == pytest.approx(len(least) * step / width)


def test_a_tool_needs_less_evidence_than_a_mixture() -> None:
    between = (OF_TOOLS + OF_MIXTURES) / 2
    verdicts = [Chance(0.1, 9, 0.5, between, tools).could_be for tools in (True, False)]
    assert verdicts == [False, True]


def test_the_value_of_another_run_is_not_explained() -> None:
    foreign = f"{il.evaluate(QRELS, RERANKED, 'nDCG@10', gain='exp2')['nDCG@10']:.3f}"
    found = il.reconcile(QRELS, BM25, "nDCG@10", foreign)
    assert found.answers
    assert not found
    assert found.chance is not None
    assert "this could be chance: mixtures as simple fit about " in found.summary
    assert f"; of the {found.chance.results:,} results that rules reach" in str(found)
    assert found.data()["chance"]["could_be"] is True
    page = found.markdown(details=True)
    assert "| 1 |" in page
    assert "| 1 |" not in found.markdown().partition("<details>")[0]


def test_values_of_queries_are_no_chance() -> None:
    evaluation = il.evaluate(QRELS, BM25, "nDCG@10", convention="burges")
    values = {query: f"{one:.2f}" for query, one in evaluation.by_query("nDCG@10").items()}
    found = il.reconcile(QRELS, BM25, "nDCG@10", per_query=values)
    assert found
    assert found.chance is None


def test_hardly_anything_varies() -> None:
    """Where values of queries are closer than the digits known, any run has them."""
    qrels = {f"q{i}": {"a": 1, "b": 1 + 1e-7 * i} for i in range(6)}
    run = {query: ["a", "b"] for query in qrels}
    value = il.evaluate(qrels, run, "nDCG@10", grades="keep")["nDCG@10"]
    found = il.reconcile(qrels, run, "nDCG@10", f"{value:.4f}", grades="keep")
    assert found.answers
    assert not found


def test_nothing_varies() -> None:
    nothing = {f"q{i}": ["x"] for i in range(6)}
    qrels = {f"q{i}": {"a": 1} for i in range(6)}
    assert not il.reconcile(qrels, nothing, "nDCG@10", "0.0000")
    recall = il.reconcile(QRELS, BM25, "R@10", "1.0000")  # of what was retrieved, in any run
    assert "torchmetrics" in recall.answers[0].names
    assert recall.summary.endswith(
        "under these rules all queries have the same value, as in other runs"
    )
    one = il.reconcile(
        {"q1": {"a": 3, "b": 1, "c": 2}}, {"q1": ["b", "a", "c"]}, "nDCG@10", "0.8175"
    )
    assert one.answers[0].names[0] == "trec_eval"
    assert one  # the value itself is the scale where there is one query


def test_the_exit_code() -> None:
    from idealist.cli.main import cli

    done = CliRunner().invoke(cli, ["reconcile", QRELS, BM25, "-m", "nDCG@10", "--value", "0.6"])
    assert done.exit_code == 1
    assert "could be chance: about 1.3 rules that as many tools share" in done.stdout


def test_a_sample_of_real_values(data: Path) -> None:
    cheap = ["p@5", "bpref", "RBP(p=.5)"]
    assert verdicts("of the run itself", 4, cheap)["explained"] == 4
    assert verdicts("of another run", 8, cheap)["explained"] <= 1


@SLOW
def test_real_values(data: Path) -> None:
    """The table of docs/how-to/reconcile-a-number.md."""
    shares = {}
    for line in rows(TRIALS):
        print(f"\n{line}", end="")
        kind, explained, *_ = line.strip("| ").split(" | ")
        shares[kind] = explained
    own, foreign = (
        float(shares[one].split()[0]) for one in ("of the run itself", "of another run")
    )
    assert own >= 98
    assert foreign <= 5
