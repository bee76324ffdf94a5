"""What tuning found: the best setting, what it will be worth on new queries, and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from idealist.comparing.compare_options import ROPE, Options
from idealist.comparing.pair import Pair
from idealist.conventions.signature import Signature
from idealist.data import Run
from idealist.errors import UsageError, nearest
from idealist.evaluating.evaluation import Evaluation
from idealist.fusing.fused_run import joined, rows_of
from idealist.fusing.tuning import tuning_report
from idealist.fusing.tuning.contenders import Contender, Family
from idealist.fusing.tuning.looks import Look, Looks, Wanted
from idealist.fusing.tuning.response_curves import Response, responses
from idealist.fusing.tuning.spaces import Setting, setting_text
from idealist.fusing.tuning.trials import Source
from idealist.ranking.document_lists import ALL
from idealist.rendering.document import Document, Table
from idealist.rendering.doubt import Doubt
from idealist.rendering.figure import Figure
from idealist.rendering.figures import curve_figures
from idealist.rendering.plain_data import record, records_table
from idealist.rendering.result import Figures, Result


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Result):
    """What tuning found: ``print(tuning)`` is the verdict, and what it rests on.

    `best` is the setting that is best on all queries, `choice` what the verdict says to use. The
    `estimate` is what tuning is worth on new queries, `in_sample` what it seems to be worth on
    those that were chosen on, and the `optimism` lies between them. `contenders` are the default,
    which may be `assumed` as nobody said it, and what else needs no tuning. `run` is the run of
    the choice, `out_of_fold` one that has for each query what was chosen without it.
    """

    family: Family
    evaluation: Evaluation
    tuned: Contender
    contenders: tuple[Contender, ...]
    left_out: int = 0
    assumed: bool = False

    @classmethod
    def of(
        cls, looks: Looks, others: Mapping[str, Wanted], default: Setting, options: Options,
        left_out: int = 0, *, assumed: bool = False,
    ) -> Tuning:  # fmt: skip
        """Weigh what was tried against the default; `others` say what else competes, by name.

        `left_out` judged queries do not count, as some runs lack them.
        """
        source = looks.trials.source
        [(label, instrument)] = source.evaluator.instruments.items()
        lowest = min(float(source.evaluator.qrels.grades.min(initial=0.0)), 0.0)
        limits = instrument.measure.bounds(lowest)
        family = Family(looks, label, limits, default, options)
        wanted: dict[str, Wanted] = {"default": lambda one: one == default, **others}
        tuned = family.contender("tuned", lambda _: True)
        contenders = tuple(family.contender(name, which) for name, which in wanted.items())
        evaluation = source.evaluator(source.shown(tuned.setting))
        return cls(family, evaluation, tuned, contenders, left_out, assumed)

    @property
    def looks(self) -> Looks:
        """What was tried, by who could see which queries."""
        return self.family.looks

    @property
    def noun(self) -> str:
        """What was tried, in the plural."""
        return self.source.noun

    @property
    def source(self) -> Source:
        """What the settings were measured with."""
        return self.looks.trials.source

    @property
    def measure(self) -> str:
        """The measure that was tuned by, as it was typed."""
        return self.family.label

    @property
    def n(self) -> int:
        """The number of queries."""
        return len(self.looks.trials.queries)

    @property
    def tried(self) -> int:
        """The number of settings."""
        return len(self.looks.trials.tried)

    @property
    def default(self) -> Contender:
        """What is kept unless something else is really better."""
        return self.contenders[0]

    @property
    def best(self) -> Setting:
        """The setting that is best on all queries."""
        return self.tuned.setting

    @property
    def in_sample(self) -> float:
        """What the best setting is worth on the queries that it was chosen on."""
        return self.tuned.in_sample

    @property
    def estimate(self) -> float:
        """What tuning is worth on new queries: the nested estimate."""
        return self.tuned.estimate

    @property
    def ci(self) -> tuple[float, float]:
        """The interval of the estimate."""
        return self.tuned.interval

    @property
    def optimism(self) -> float:
        """What the value on the queries that were chosen on is too good by."""
        return self.tuned.optimism

    @property
    def gain(self) -> float:
        """What tuning gains over the default on queries that were not chosen on."""
        return self.estimate - self.default.estimate

    @property
    def pair(self) -> Pair | None:
        """The best setting against the default, corrected for all that was tried."""
        return self.tuned.pair

    @cached_property
    def surest(self) -> Setting | None:
        """The setting that is significantly better than the default, with the best mean."""
        sense, means = self.looks.trials.sense, self.looks.whole.means
        better = [
            one for one, pair in self.family.pairs.items()
            if one in means and pair.significant and pair.better
        ]  # fmt: skip
        return max(better, key=lambda one: sense * means[one], default=None)

    @property
    def is_real(self) -> bool:
        """Whether something gains more than chance makes of so many settings."""
        return self.winner is not self.default

    @property
    def winner(self) -> Contender:
        """What to use: of what is really better than the default, the best on queries not seen.

        So what needs no tuning wins where tuning gains no more; without anything better, the
        default stays.
        """
        sense, kept = self.looks.trials.sense, self.default
        real = [one for one in (*self.contenders[1:], self.tuned) if one.beats(kept, sense)]
        return max(real, key=lambda one: sense * one.estimate, default=kept)

    @property
    def choice(self) -> Setting:
        """The setting to use."""
        return self.winner.setting

    @property
    def chosen(self) -> list[Setting]:
        """What was chosen for each fold, without its queries."""
        return [look.best() for look in self.looks.folds]

    @cached_property
    def responses(self) -> list[Response]:
        """How the measure answers to each numeric parameter of the best setting."""
        rope = ROPE if self.family.in_unit else 0.0
        alpha = self.family.options.alpha
        return responses(self.looks, self.best, self.source.names, alpha, rope)

    @property
    def command(self) -> str:
        """The command that fuses the runs as chosen; empty where they are not in files."""
        return self.source.command(self.choice)

    @cached_property
    def run(self) -> Run:
        """The run of the choice, for all queries of the runs."""
        return self.source.final(self.choice)

    @cached_property
    def out_of_fold(self) -> Run:
        """A run of the judged queries, each by the setting that was chosen without it.

        It is worth what the estimate says.
        """
        trials = self.looks.trials
        names: list[str] = []
        parts = []
        for look in self.looks.folds:
            some = trials.learning(frozenset({look.outer or 0}))
            queries = sorted(trials.queries[i] for i in np.flatnonzero(~look.inside))
            parts.append(self.source.listed(look.best(), queries, some))
            names += queries
        [instrument] = self.source.evaluator.instruments.values()
        rows = rows_of(names, joined(parts, ALL), instrument.protocol)
        return Run(replace(rows, name="out-of-fold"), "out-of-fold")

    @property
    def signature(self) -> Signature:
        """The signature of the estimate: that of the measure, and how queries were divided."""
        own, folds = self.evaluation.signatures[self.measure], self.looks.trials.folds
        how = {
            "estimate": "nested",
            "folds": str(folds.count),
            "seed": str(self.family.options.seed),
        }
        return replace(own, settings=(*own.settings, *how.items()))

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What is doubtful about the judgments, the best run and the settings."""
        return (*self.evaluation.doubts, *self.source.doubts)

    @property
    def verdict(self) -> str:
        """What to use, and why, in one sentence."""
        return tuning_report.verdict(self)

    @property
    def summary(self) -> str:
        """The verdict."""
        return self.verdict

    def report(self) -> Document:
        """Describe the verdict, the contenders, and how sure the choice is."""
        return tuning_report.report(self)

    @property
    def figures(self) -> Figures:
        """The curve of each parameter of the best setting."""
        return Figures({"response": self._response}, () if self.responses else ("response",))

    def _response(self, parameter: str = "") -> Figure:
        """Draw how the measure answers to a parameter, or to the first."""
        known = {one.parameter: one for one in self.responses}
        if not known:
            told = f"no parameter of {setting_text(self.best)} has a curve"
            raise UsageError(told, "a curve needs three values of a number; see found.trials()")
        name = parameter or next(iter(known))
        if name not in known:
            raise UsageError(f"there is no curve of {name!r}", nearest(name, known))
        one = known[name]
        points = [curve_figures.Answer(*astuple(point)) for point in one.points]
        level = self.family.options.confidence
        return curve_figures.response(
            self.measure, name, points, best=one.best, flat=one.flat, rope=one.rope, level=level
        )

    def table(self) -> Table:
        """Return a row for every setting that was tried."""
        return rows_table(self.trials())

    def trials(self) -> list[dict[str, Any]]:
        """Return every setting tried: its mean by who could see it, its difference."""
        looks = {"whole": self.looks.whole} | {
            f"without_fold_{look.outer}": look for look in self.looks.folds
        }
        return [self._trial(setting, looks) for setting in self.looks.trials.tried]

    def _trial(self, setting: Setting, looks: Mapping[str, Look]) -> dict[str, Any]:
        pair = self.family.pairs.get(setting)
        means = {name: look.means.get(setting) for name, look in looks.items()}
        own = {} if pair is None else {
            "difference": pair.difference, "ci": pair.ci, "p_adjusted": pair.p_adjusted
        }  # fmt: skip
        return record({"setting": setting_text(setting), "means": means, **own})

    def data(self) -> dict[str, Any]:
        """Return the contract of ``tune -f json``; undefined values are None."""
        trials, options = self.looks.trials, self.family.options
        folds = [
            {
                "chosen": setting_text(look.best()),
                "queries": [trials.queries[i] for i in np.flatnonzero(~look.inside)],
            }
            for look in self.looks.folds
        ]
        return record({
            "verdict": self.verdict, "command": self.command,
            "best": setting_text(self.best), "choice": setting_text(self.choice),
            "default": setting_text(self.family.default), "measure": self.measure, "n": self.n,
            "in_sample": self.in_sample, "estimate": self.estimate, "ci": self.ci,
            "optimism": self.optimism, "gain": self.gain,
            "gain_in_sample": None if self.pair is None else self.pair.difference,
            "gain_ci": None if self.pair is None else self.pair.ci,
            "p_adjusted": None if self.pair is None else self.pair.p_adjusted,
            "left_out": self.left_out, "is_real": self.is_real,
            "tried": self.tried, "alpha": options.alpha,
            "seed": options.seed, "groups": trials.folds.groups,
            "baselines": {one.name: one.data(self.default) for one in self.contenders},
            "folds": folds,
            "curves": [one.data() for one in self.responses], "trials": self.trials(),
            "doubts": [doubt.data() for doubt in self.doubts], "signature": str(self.signature),
        })  # fmt: skip


def rows_table(records: Iterable[Mapping[str, Any]]) -> Table:
    """Make a table for programs; an interval takes two columns."""
    rows = []
    for one in records:
        low, high = one.get("ci") or (None, None)
        others = {name: value for name, value in one.items() if name != "ci"}
        rows.append(others | {"ci_low": low, "ci_high": high})
    return records_table(rows)
