"""The audit of twelve TREC-covid runs finds what is truly there."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import idealist as il
from idealist.auditing import Audit, audit
from idealist.auditing.chances import DEPTHS
from idealist.auditing.coverage import Coverage

FOLDER = "trec-covid-r1"


def leaderboard(data: Path) -> dict[str, dict[str, str]]:
    with (data / FOLDER / "leaderboard.csv").open() as lines:
        return {row["run"]: row for row in csv.DictReader(lines)}


@pytest.fixture(scope="module")
def runs(data: Path) -> list[Path]:
    return sorted((data / FOLDER / "runs").iterdir())


@pytest.fixture(scope="module")
def covid(data: Path, runs: list[Path]) -> Audit:
    folder = data / FOLDER
    return audit(folder / "qrels.txt", runs, pool_teams=folder / "leaderboard.csv")


@pytest.fixture(scope="module")
def coverage(covid: Audit) -> Coverage:
    assert covid.coverage is not None
    return covid.coverage


def of(covid: Audit, code: str) -> dict[str, il.Doubt]:
    return {one.run: one for one in covid.findings if one.code == code}


def test_coverage_is_judged_at_k(data: Path, runs: list[Path], coverage: Coverage) -> None:
    measures = [f"Judged@{k}" for k in DEPTHS]
    evaluator = il.Evaluator(data / FOLDER / "qrels.txt", measures)
    for run, values in zip(runs, evaluator.each(runs), strict=True):
        found = coverage.runs[run.name]
        assert [found.judged[k] for k in DEPTHS] == [values[label] for label in measures]
        for k, label in zip(DEPTHS, measures, strict=True):
            assert found.by_query[k].tolist() == values.values[label].tolist()


def test_the_scores_of_bert_tie_in_float32(covid: Audit) -> None:
    near = of(covid, "float32")
    assert set(near) == {"BERT"}
    assert near["BERT"].count == 29
    now, then = near["BERT"].price["BERT"]["nDCG@10"]
    assert (round(now, 4), round(then, 4)) == (0.1736, 0.1731)  # as published, with float32


def test_runs_with_tied_scores_are_named(runs: list[Path], covid: Audit) -> None:
    tied = set()
    for run in runs:
        seen: set[tuple[str, float]] = set()
        for line in run.read_text().splitlines():
            query, _, _, _, score, _ = line.split()
            if (query, float(score)) in seen:
                tied.add(run.name)
            seen.add((query, float(score)))
    named = set(of(covid, "ties"))
    assert named <= tied
    assert tied - named <= {"lda400s2000"}  # whose ties move no value as printed


def test_short_runs_are_named(data: Path, runs: list[Path], covid: Audit) -> None:
    noted = of(covid, "short-lists")
    assert {one.severity for one in noted.values()} == {"note"}  # nobody asked for R@100
    asked = audit(data / FOLDER / "qrels.txt", runs, measures="R@100")
    short = {run: one for run, one in of(asked, "short-lists").items() if one.severity == "warning"}
    lines = {run.name: len(run.read_text().splitlines()) / 30 for run in runs}
    assert set(short) == {name for name, length in lines.items() if length < 99} <= set(noted)
    assert short["BERT"].count == noted["BERT"].count == 30


def test_what_runs_share_is_drawn_once(covid: Audit) -> None:
    lines = str(covid).splitlines()
    assert len(lines) < 180
    assert sum(": holes, " in line for line in lines) == 1
    for run in covid.values:
        assert any(line.startswith(f"  {run}: ") and "unjudged" in line for line in lines)
    titles = [line for line in covid.markdown().splitlines() if line.startswith("#### ")]
    assert len(titles) == len(set(titles))
    assert "#### warning: holes, 12 runs:" in titles


def test_ties_that_move_hardly_anything_are_notes(covid: Audit) -> None:
    assert {one.severity for one in of(covid, "ties").values()} == {"note"}


def test_coverage_is_uneven_between_pooled_and_unpooled_runs(
    data: Path, covid: Audit, coverage: Coverage
) -> None:
    (one,) = of(covid, "uneven-coverage").values()
    behind = {run for run, own in coverage.runs.items() if own.judged[10] < 0.8867 - 0.05}
    assert one.count == len(behind) == 8
    board = leaderboard(data)
    shares = {"yes": [], "no": []}  # type: dict[str, list[float]]
    for run, own in coverage.runs.items():
        shares[board[run]["contributed judgments"]].append(own.judged[10])
    assert sorted(shares["yes"])[2] - sorted(shares["no"])[3] > 0.1  # medians


def test_the_guess_who_contributed_to_the_pool_is_right(data: Path, coverage: Coverage) -> None:
    board = leaderboard(data)
    right = sum(
        (run in coverage.contributed) == (board[run]["contributed judgments"] == "yes")
        for run in coverage.runs
    )
    assert right / len(coverage.runs) == 1.0
    depths = {coverage.depths[run] for run in coverage.contributed}
    assert depths == {7}  # the depth of the track's first pool


def test_leaving_out_a_team_costs_its_contributors(coverage: Coverage) -> None:
    for run in coverage.contributed:
        left = coverage.left_out[run]
        assert left.unique > 0
        assert left.values["nDCG@10"][1] < left.values["nDCG@10"][0]
    teams = {one.team for one in coverage.left_out.values()}
    assert {"THUMSR", "IR_COVID19_CLE", "UMASS_CIIR"} <= teams
    assert 0 < coverage.held < 0.5  # the other 131 runs brought the rest


def test_a_rank_column_of_two_lists_one_after_the_other_is_found(covid: Audit) -> None:
    found = of(covid, "rank-column")
    assert set(found) == {"sheikh_bm25_all"}
    assert (found["sheikh_bm25_all"].severity, found["sheikh_bm25_all"].count) == ("error", 30)


def test_a_document_that_one_run_finds_for_every_query(covid: Audit) -> None:
    (one,) = of(covid, "everywhere").values()
    assert (one.run, one.examples) == ("lda400s2000", ("document 4txctk7k",))


def test_holes_have_a_range_that_lies_above_the_value(covid: Audit) -> None:
    found = of(covid, "holes")
    assert len(found) == 12
    for run, one in found.items():
        now, low, high = one.price[run]["nDCG@10"]
        assert now - 0.01 < low < high < now + 0.25, run  # the ideal may grow more than the gain


def test_leaving_a_team_out_is_told_of_each_run(covid: Audit) -> None:
    found = covid.pool_teams
    assert found is not None
    assert (found.depth, len(found.contributed), found.teamless) == (7, 5, ())
    assert found.effects["nDCG@10"][0].run == "T5R1"
    assert found.held < 0.5
    assert found.summary.endswith("so this is an upper limit.")  # the other runs are not here
