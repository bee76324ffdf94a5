"""What the pool does to each run: its value and its place without what its team alone brought."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from idealist.auditing.coverage import Coverage
from idealist.auditing.leave_out import POOL_DEPTH, POOL_HELD, LeftOut
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.formats.team_files import read_teams
from idealist.notation import many
from idealist.rendering.document import (
    COUNT,
    SIGNED,
    TEXT,
    VALUE,
    Block,
    Column,
    Details,
    Document,
    Table,
    Text,
)
from idealist.rendering.plain_data import record
from idealist.rendering.result import Result
from idealist.rendering.wording import few, number
from idealist.significance.rank_tests import tau_b

#: Runs that the first table shows, those that lose most. Suggested.
SHOWN = 10
#: A run moves far if it passes more than this share of the others. Suggested.
FAR = 0.05


@dataclass(frozen=True)
class Effect:
    """A run's value and place with all judgments, and without those that its team alone brought.

    A place is 1 plus the number of runs that are better. Without them, the runs of its team lose
    theirs as well, and those of other teams keep their values.
    """

    run: str
    measure: str
    value: float
    without: float
    place: int
    place_without: int

    @property
    def change(self) -> float:
        """How far the value falls."""
        return self.without - self.value

    @property
    def moved(self) -> int:
        """How many places it moves."""
        return abs(self.place_without - self.place)


@dataclass(frozen=True, repr=False)
class PoolTeams(Result):
    """What leaving each team out of the pool does to its runs. ``print(result)`` shows it.

    `effects` has the runs of each measure, the one that loses most first, and `tau` Kendall's tau
    between the order of the runs and that by their values without what their own team brought.
    `left_out` counts the judgments that each team alone brought. The pool seems to be the first
    `depth` documents of the runs that `contributed`, which hold a share `held` of all judgments;
    where none seems to have, all are taken to have done so. `teamless` runs count as a team each.
    """

    effects: Mapping[str, tuple[Effect, ...]]
    tau: Mapping[str, float]
    left_out: Mapping[str, LeftOut]
    contributed: tuple[str, ...]
    depth: int
    held: float
    teamless: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """How much a run owes to the pool, by the first measure, in one sentence."""
        if not self.left_out:
            return "There is only one team, so it cannot be left out of the pool."
        label, found = next(((name, own) for name, own in self.effects.items() if own), ("", ()))
        if not found:
            return "None of the measures says which run is better, so the pool moves none."
        most, count = found[0], len(found)
        leaving = "Leaving a team's own documents out of the pool"
        if number(most.change) == number(0) or most.change > 0:
            return f"{leaving} lowers {label} of none of the {count} runs."
        far = int(FAR * count)
        moved = sum(one.moved > far for one in found)
        places = f"by more than {many(far, 'place', 'places')}" if far else "to another place"
        return (
            f"{leaving} lowers {label} of its runs by at most {number(-most.change)} "
            f"({most.run}), and moves {moved} of {count} runs {places}{self._tau(label)}."
            f"{self._limit}"
        )

    def _tau(self, label: str) -> str:
        """Say how alike the two orders are, unless all runs are equal in one."""
        tau = self.tau[label]
        return "" if np.isnan(tau) else f"; Kendall's tau of the two orders is {number(tau, 3)}"

    @property
    def _limit(self) -> str:
        """Say that all this is too much, where the runs that made the pool are not here."""
        if self.held >= POOL_HELD:
            return ""
        return " Most of the pool came from runs that are not here, so this is an upper limit."

    @property
    def pool(self) -> str:
        """What the pool is taken to be."""
        others = " Where a run that is not here brought a document too, less would be lost."
        if not self.contributed:
            return (
                f"No run is judged without gaps down to rank {POOL_DEPTH} or deeper, so what is "
                f"judged in the first {self.depth} documents of a run counts as brought by it."
                f"{others}"
            )
        some = many(len(self.contributed), "run", "runs")
        return (
            f"The pool seems to be the first {self.depth} documents of {some}, which hold "
            f"{self.held:.0%} of the judgments.{others if self.held < 1 else ''}"
        )

    def report(self) -> Document:
        """Describe the runs that lose most, then all of them, by each measure."""
        blocks: list[Block] = [Text(self.summary, strong=True), Text(self.pool)]
        if self.teamless:
            blocks.append(Text(f"Without a team, and so one each: {few(self.teamless)}."))
        every = [self._table(label, found) for label, found in self.effects.items() if found]
        if every:
            blocks.append(replace(every[0], rows=every[0].rows[:SHOWN]))
            if (count := len(every[0].rows)) > SHOWN:
                blocks.append(Text(f"These lose most; --details shows all {count} runs."))
            blocks.append(Details("All runs by each measure", tuple(every)))
        return Document(tuple(blocks))

    def _table(self, label: str, effects: tuple[Effect, ...]) -> Table:
        columns = [Column("run", TEXT, shortens=True), Column("team", TEXT, shortens=True)]
        columns += [Column(name, COUNT, spare=1) for name in ("own judgments", "relevant")]
        columns += [Column(label, VALUE), Column("without", VALUE), Column("change", SIGNED)]
        columns += [Column("place", COUNT), Column("place without", COUNT)]
        rows = [
            (one.run, own.team, own.unique, own.relevant, one.value, one.without, one.change,
             one.place, one.place_without)
            for one in effects
            for own in [self.left_out[one.run]]
        ]  # fmt: skip
        return Table(tuple(columns), tuple(rows))

    def table(self) -> Table:
        """Return one row for each run and measure."""
        words = ["run", "team", "measure"]
        numbers = ["own_judgments", "relevant", "value", "without", "change", "place"]
        rows = [
            (one.run, own.team, label, own.unique, own.relevant, one.value, one.without,
             one.change, one.place, one.place_without)
            for label, found in self.effects.items()
            for one in found
            for own in [self.left_out[one.run]]
        ]  # fmt: skip
        return Table.of(words, [*numbers, "place_without"], rows)

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return record({
            "verdict": self.summary,
            "pool": {"depth": self.depth, "contributed": self.contributed, "held": self.held},
            "tau": self.tau,
            "teamless": self.teamless,
            "runs": [
                {"run": run, "team": own.team, "own_judgments": own.unique,
                 "relevant": own.relevant, "values": self._values(run)}
                for run, own in self.left_out.items()
            ],
        })  # fmt: skip

    def _values(self, run: str) -> dict[str, Any]:
        """Return the effects on one run, by measure."""
        return {
            label: {"value": one.value, "without": one.without, "change": one.change,
                    "place": one.place, "place_without": one.place_without}
            for label, found in self.effects.items() for one in found if one.run == run
        }  # fmt: skip


def teams_of(data: Any, runs: Iterable[str]) -> dict[str, str]:
    """Read the teams of runs; a file that has none of them is that of others."""
    teams, audited = read_teams(data), tuple(runs)
    if teams.keys().isdisjoint(audited):
        name = data if isinstance(data, (str, Path)) else "the teams given"
        raise UsageError(
            f"{name}: has the team of no run that is audited",
            f"it has {few(tuple(teams)) or 'no run'}; audited: {few(audited)}",
        )
    return teams


def teams_left_out(coverage: Coverage, evaluator: Evaluator, teams: Mapping[str, str]) -> PoolTeams:
    """Say what leaving each team out does to its runs, by each measure whose higher is better."""
    effects, tau = {}, {}
    for label, one in evaluator.instruments.items():
        if one.measure.judges and one.measure.direction > 0:
            known = {run: own.values[label] for run, own in coverage.left_out.items()
                     if np.isfinite(own.values.get(label, np.nan)).all()}  # fmt: skip
            effects[label] = _effects(label, known, coverage.left_out)
            tau[label] = tau_b(*zip(*known.values(), strict=True)) if known else np.nan
    return PoolTeams(
        effects, tau, coverage.left_out, coverage.contributed, coverage.depth, coverage.held,
        tuple(run for run in coverage.left_out if run not in teams),
    )  # fmt: skip


def _effects(
    label: str, known: Mapping[str, tuple[float, float]], left_out: Mapping[str, LeftOut]
) -> tuple[Effect, ...]:
    now, without = np.array([*known.values()]).reshape(-1, 2).T
    team = np.array([left_out[run].team for run in known])
    found = []
    for run, own in known.items():
        rivals = np.where(team == left_out[run].team, without, now)
        places = (1 + int((now > own[0]).sum()), 1 + int((rivals > own[1]).sum()))
        found.append(Effect(run, label, *own, *places))
    return tuple(sorted(found, key=lambda one: one.change))
