"""Leaving one team out of the pool, against plain loops and by hand."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scipy import stats

import idealist as il
from effort import SLOW
from idealist.auditing import PoolTeams, audit
from idealist.auditing.pool_teams import Effect
from idealist.cli.main import cli
from idealist.errors import InputError, UsageError
from idealist.formats.team_files import read_teams

MEASURES = ["nDCG@10", "P@5"]
TEAMS = {"a1": "a", "a2": "a", "b": "b", "c": "c", "outside": "a"}
DEPTH = 6


def pool(seed: int = 1) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, list[str]]]]:
    """Judge the first documents of all runs but one."""
    rng = random.Random(seed)
    names = [f"d{i}" for i in range(25)]
    runs = {
        run: {f"q{q}": rng.sample(names, 15) for q in range(8)} for run in TEAMS if run != "outside"
    }
    grades = {
        query: {
            document: float(rng.random() < 0.4)
            for run in runs.values()
            for document in run[query][:DEPTH]
        }
        for query in runs["b"]
    }
    runs["outside"] = {query: [*reversed(names)] for query in grades}
    return grades, runs


def effect_of(qrels: Any, runs: Any, teams: Any) -> PoolTeams:
    found = audit(qrels, runs, MEASURES, pool_teams=teams).pool_teams
    assert found is not None
    return found


def by_hand(qrels: Any, runs: Any, run: str) -> dict[str, dict[str, float]]:
    """Take away what only the team of a run has, of the runs that made the pool."""
    made = [name for name in runs if name != "outside"]
    return {
        query: {
            document: grade
            for document, grade in judged.items()
            if any(
                document in runs[name][query][:DEPTH] for name in made if TEAMS[name] != TEAMS[run]
            )
        }
        for query, judged in qrels.items()
    }


@pytest.mark.parametrize("seed", range(5))
def test_values_and_places_are_those_by_hand(seed: int) -> None:
    qrels, runs = pool(seed)
    found = effect_of(qrels, runs, TEAMS)
    assert set(found.contributed) == set(runs) - {"outside"}
    assert (found.depth, found.held, found.teamless) == (DEPTH, 1.0, ())
    for label in MEASURES:
        full = {run: il.evaluate(qrels, one, label)[label] for run, one in runs.items()}
        alone = {
            run: il.evaluate(by_hand(qrels, runs, run), one, label)[label]
            for run, one in runs.items()
        }
        assert found.tau[label] == pytest.approx(
            stats.kendalltau([*full.values()], [*alone.values()]).statistic
        )
        for one in found.effects[label]:
            assert (one.value, one.without) == (full[one.run], alone[one.run])
            assert one.place == 1 + sum(value > full[one.run] for value in full.values())
            rivals = [
                (alone if TEAMS[run] == TEAMS[one.run] else full)[run] for run in runs
            ]  # fmt: skip
            assert one.place_without == 1 + sum(value > alone[one.run] for value in rivals)
        changes = [one.change for one in found.effects[label]]
        assert changes == sorted(changes)


def test_a_run_outside_the_pool_loses_what_its_team_brought() -> None:
    qrels, runs = pool()
    found = effect_of(qrels, runs, TEAMS)
    assert found.left_out["outside"].unique == found.left_out["a1"].unique > 0
    alone = effect_of(qrels, runs, {**TEAMS, "outside": "nobody"})
    assert alone.left_out["outside"].unique == 0
    assert next(one for one in alone.effects["P@5"] if one.run == "outside").change == 0


def test_the_answer_names_the_largest_loser_and_counts_who_moves() -> None:
    qrels, runs = pool()
    found = effect_of(qrels, runs, TEAMS)
    most = min(found.effects["nDCG@10"], key=lambda one: one.change)
    moved = sum(one.place != one.place_without for one in found.effects["nDCG@10"])
    assert found.summary == (
        "Leaving a team's own documents out of the pool lowers nDCG@10 of its runs by at most "
        f"{-most.change:.4f} ({most.run}), and moves {moved} of 5 runs to another place; Kendall's "
        f"tau of the two orders is {found.tau['nDCG@10']:.3f}."
    )


def test_runs_that_bring_nothing_of_their_own_lose_nothing() -> None:
    qrels, runs = pool()
    found = effect_of(qrels, {"x": runs["b"], "y": runs["b"]}, {"x": "x", "y": "y"})
    assert "lowers nDCG@10 of none of the 2 runs" in found.summary
    assert "one team" in effect_of(qrels, {"x": runs["b"]}, {"x": "x"}).summary
    counts = audit(qrels, runs, "Judged@10", pool_teams=TEAMS).pool_teams
    assert counts is not None
    assert "None of the measures" in counts.summary


def test_runs_without_a_team_are_named() -> None:
    qrels, runs = pool()
    found = effect_of(qrels, runs, {"a1": "a", "a2": "a"})
    assert found.teamless == ("b", "c", "outside")
    assert "Without a team, and so one each: b, c, outside." in str(found)


def written(folder: Path) -> list[str]:
    qrels, runs = pool()
    il.write_qrels(il.read_qrels(qrels), folder / "qrels.txt")
    for name, run in runs.items():
        il.write_run(il.read_run(run), folder / f"{name}.run")
    lines = [f"{run},{team}" for run, team in TEAMS.items()]
    (folder / "teams.csv").write_text("\n".join(["Run ID,Group", *lines]))
    files = ["qrels.txt", *(f"{run}.run" for run in runs)]
    teams = ["--pool-teams", str(folder / "teams.csv"), "--fail-on", "never"]
    return [*(str(folder / name) for name in files), *teams, "-m", "nDCG@10", "-m", "P@5"]


@pytest.mark.parametrize("form", ["table", "json", "csv", "md", "html"])
def test_every_form_has_it(form: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["audit", *written(tmp_path), "-f", form])
    assert result.exit_code == 0
    found = effect_of(*pool(), TEAMS)
    if form == "json":
        data = json.loads(result.output)["pool_teams"]
        assert data["verdict"] == found.summary
        (run,) = [one for one in data["runs"] if one["run"] == "c"]
        (one,) = [one for one in found.effects["P@5"] if one.run == "c"]
        assert run["team"] == "c"
        assert run["values"]["P@5"] == {
            "value": one.value, "without": one.without, "change": one.change,
            "place": one.place, "place_without": one.place_without,
        }  # fmt: skip
    elif form == "csv":
        rows = [*csv.DictReader(io.StringIO(result.output))]
        assert len(rows) == len(TEAMS) * len(MEASURES)
        assert {row["team"] for row in rows} == set(TEAMS.values())
        assert float(rows[0]["change"]) == found.effects["nDCG@10"][0].change
    else:
        words = "Leaving a team's own documents out" if form != "html" else "own documents out"
        assert words in result.output
        if form == "table":
            assert result.output.startswith(words)  # the answer first


FILES = {
    "a header": "run,team\na,one\nb,one\n",
    "names of a leaderboard": "Run Tag;Organisation;MAP\na;one;0.2\nb;one;0.1\n",
    "another order": "team\trank\trun\none\t1\ta\none\t2\tb\n",
    "no header": "a\tone\nb\tone\n",
    "commas and no header": "a, one\nb,one\n",
    "JSON": '{"a": "one", "b": "one"}',
    "records": '[{"Run ID": "a", "team": "one"}, {"Run ID": "b", "team": "one"}]',
    "a blank line": "run,team\r\n\r\na,one\r\nb,one\r\n",
    "a run twice": "a,one\nb,one\na,one\n",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_teams_are_read_from_files(text: str, tmp_path: Path) -> None:
    path = tmp_path / "teams"
    path.write_text(text)
    assert read_teams(path) == read_teams({"a": "one", "b": "one"}) == {"a": "one", "b": "one"}


FAULTS = {
    "a,one\nb\n": ("columns", 2, "'b'"),
    "run,team\na,one\nb,\n": ("columns", 3, "run 'b' has no team"),
    "run,team\n,one\n": ("columns", 2, "team 'one' has no run"),
    "run,team\na,one\nb,one\na,two\n": ("columns", 4, "'two'"),
    "name,score,year\na,1,2\n": ("columns", 1, "'name,score,year'"),
    "{a": ("json", 1, "at 'a'"),
    '[{"run": "a"}]': ("columns", None, "run 'a' has no team"),
    '["a"]': ("columns", None, "has no run"),
    "": ("empty", None, "empty"),
}


@pytest.mark.parametrize("text", FAULTS)
def test_teams_that_cannot_be_read_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "teams.csv"
    path.write_text(text)
    code, line, words = FAULTS[text]
    with pytest.raises(InputError) as caught:
        read_teams(path)
    assert (caught.value.code, caught.value.faults[0].line) == (code, line)
    assert "teams.csv" in str(caught.value)
    assert words in str(caught.value)


def test_teams_of_other_runs_are_refused(tmp_path: Path) -> None:
    (tmp_path / "teams.csv").write_text("run,team\nx1,x\n")
    with pytest.raises(UsageError, match=r"teams\.csv: has the team of no run") as caught:
        audit(*pool(), MEASURES, pool_teams=tmp_path / "teams.csv")
    assert caught.value.hint == "it has x1; audited: a1, a2, b, c, outside"


def test_a_tau_that_there_is_not_is_left_out() -> None:
    qrels, runs = pool()
    found = effect_of(qrels, {"x": runs["b"], "y": runs["b"]}, {"x": "x", "y": "y"})
    assert "nan" not in found.summary
    twice = replace(found, effects={"P@5": (Effect("x", "P@5", 0.5, 0.4, 1, 1),)}, tau={"P@5": nan})
    assert twice.summary.startswith("Leaving a team's own documents out of the pool lowers P@5")
    assert "tau" not in twice.summary


def test_teams_of_another_type_are_refused() -> None:
    with pytest.raises(UsageError, match="cannot read teams"):
        read_teams(["a"])


@SLOW
def test_the_pool_of_all_runs_of_trec_covid(data: Path) -> None:
    folder = data / "trec-covid-r1"
    files = [*sorted((folder / "runs").iterdir()), *sorted((folder / "more").iterdir())]
    runs = {path.name.removesuffix(".xz"): path for path in files}
    teams = folder / "leaderboard.csv"
    found = audit(folder / "qrels.txt", runs, "nDCG@10", pool_teams=teams).pool_teams
    assert found is not None
    print(f"\n{found.summary}\n{found.pool}")
    assert (found.depth, found.teamless) == (7, ())
    assert -0.17 < found.effects["nDCG@10"][0].change < -0.15
