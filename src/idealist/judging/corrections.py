"""Corrected numbers: means and differences, with what they rest on and what they saved."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from idealist.conventions.signature import Signature
from idealist.evaluating.evaluation import Evaluation
from idealist.notation import many
from idealist.rendering import doubt_words
from idealist.rendering.document import (
    COUNT,
    EFFECT,
    SIGNED,
    TEXT,
    VALUE,
    Block,
    Column,
    Document,
    Doubts,
    Estimate,
    Format,
    Signatures,
    Table,
    Text,
)
from idealist.rendering.doubt import Doubt
from idealist.rendering.plain_data import record, records_table
from idealist.rendering.result import Result
from idealist.rendering.wording import few, number, shared_signatures, signed
from idealist.significance.prediction_powered import EstimatedMean, PredictionPowered

#: With fewer queries than this, intervals hold less often than they say, as Student's does.
FEW = 50

#: Doubts about the evaluations by people that are none here, or are said of the model's queries.
SAID = ("missing-queries", "failed-queries", "unjudged-traffic", "unknown-queries")


@dataclass(frozen=True)
class CorrectedMean:
    """The mean of a measure for a run, or its difference from that of the `baseline`.

    `corrected` is made of what people and the model judged, `human` of what people judged alone,
    and `predicted` of the model's labels alone, for all queries. `limits` are the values there can
    be.
    """

    run: str
    measure: str
    baseline: str
    found: PredictionPowered
    limits: tuple[float, float]
    confidence: float = 0.95

    @property
    def n(self) -> int:
        """The number of queries that people and the model judged."""
        return self.found.n

    @property
    def corrected(self) -> EstimatedMean:
        """The mean of all that is known."""
        return self.found.corrected

    @property
    def human(self) -> EstimatedMean:
        """The mean of what people judged."""
        return self.found.labelled

    @property
    def predicted(self) -> EstimatedMean:
        """The mean of the model's labels."""
        return self.found.predicted

    @property
    def helped(self) -> bool:
        """Whether the model's labels made the interval shorter."""
        return self.found.tuning > 0

    @property
    def value(self) -> float:
        """The corrected mean, or the nearest value that there can be."""
        return self._within(self.corrected.value)

    def interval(self, mean: EstimatedMean | None = None) -> tuple[float, float]:
        """Return the interval of a mean, of the corrected one unless told, cut to what can be.

        Where all queries have the same value, nobody knows how much others would vary: it is NaN.
        """
        one = mean or self.corrected
        if not one.se:
            return math.nan, math.nan
        low, high = one.interval(self.confidence)
        return self._within(low), self._within(high)

    def _within(self, value: float) -> float:
        return min(max(value, self.limits[0]), self.limits[1])

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        found = self.found
        named = {"run": self.run, "measure": self.measure}
        named |= {"baseline": self.baseline} if self.baseline else {}
        return record({
            **named, "corrected": self._data(self.corrected), "human": self._data(self.human),
            "model": self._data(self.predicted),
            "bias": {"value": found.bias.value, "ci": found.bias.interval(self.confidence)},
            "lambda": found.tuning, "correlation": found.correlation, "queries": found.n,
            "model_queries": found.others, "worth": found.worth, "saved": found.saved,
        })  # fmt: skip

    def _data(self, mean: EstimatedMean) -> dict[str, Any]:
        return {"value": self._within(mean.value), "ci": self.interval(mean), "se": mean.se}


@dataclass(frozen=True, repr=False)
class Corrected(Result):
    """Numbers of runs that rest on few judgments of people and many of a model.

    `means` has one entry for each run and measure, `differences` for each run but the baseline.
    `people` are the evaluations by what people judged, `names` the two sets of judgments, `labels`
    how many documents of the shared queries each judged.
    """

    people: tuple[Evaluation, ...]
    means: tuple[CorrectedMean, ...]
    differences: tuple[CorrectedMean, ...]
    names: tuple[str, str]
    labels: tuple[int, int]
    signatures: Mapping[str, Signature]
    confidence: float = 0.95
    doubts: tuple[Doubt, ...] = field(default=())

    @property
    def summary(self) -> str:
        """The first number in one sentence: corrected, and by the model alone."""
        one = (self.differences or self.means)[0]
        write = signed if one.baseline else number
        low, high = map(write, one.interval())
        what = f"{one.run} against {one.baseline}" if one.baseline else one.run
        between = f"{low} to {high}" if one.corrected.se else "no interval"
        value = f"{one.measure} {write(one.value)} ({between}), corrected"
        model, people = (write(mean.value) for mean in (one.predicted, one.human))
        return f"{what}: {value}; {model} by the model alone, {people} by people alone"

    def report(self) -> Document:
        """Describe the numbers: corrected, by people and by the model, and what was saved."""
        tables = [self._table("", self.means, VALUE)]
        if self.differences:
            title = f"differences from {self.differences[0].baseline}"
            tables.append(self._table(title, self.differences, SIGNED))
        notes: list[Block] = [Text(line) for line in self._notes()]
        notes.append(Doubts(self._all_doubts))
        lines = [one.by(self.people[0].convention) for one in self.signatures.values()]
        notes.append(Signatures(tuple(shared_signatures(lines))))
        return Document((Text(f"{self.summary}.", strong=True), *tables), tuple(notes))

    @property
    def _all_doubts(self) -> tuple[Doubt, ...]:
        """What is doubtful here and about the evaluations by people, who judge some queries."""
        own = [
            (one.run, [doubt for doubt in one.doubts if doubt.code not in SAID])
            for one in self.people
        ]
        return (*self.doubts, *doubt_words.shared(own))

    def _table(self, title: str, means: tuple[CorrectedMean, ...], form: Format) -> Table:
        rows = [
            (one.run, one.measure, *(self._cell(one, mean) for mean in (one.corrected, one.human)),
             one.predicted.value, one.found.bias.value, one.found.correlation, one.found.tuning,
             one.found.saved)
            for one in means
        ]  # fmt: skip
        columns = (
            Column("run", TEXT, shortens=True), Column("measure", TEXT), Column("corrected", form),
            Column("people alone", form), Column("model alone", form),
            Column("model - people", SIGNED, spare=2), Column("correlation", EFFECT, spare=1),
            Column("λ", EFFECT), Column("queries saved", COUNT),
        )  # fmt: skip
        return Table(columns, tuple(rows), title)

    def _cell(self, one: CorrectedMean, mean: EstimatedMean) -> Estimate:
        low, high = one.interval(mean)
        value = one.value if mean is one.corrected else mean.value
        return Estimate(value, max(high - value, value - low))

    def _notes(self) -> list[str]:
        """Say what the numbers rest on, and what is taken for granted."""
        first = self.means[0]
        judged = many(first.n, "query", "queries")
        share = f"{100 * self.confidence:g} %"
        lines = [
            f"people judged {judged} ({self.names[0]}), the model these and {first.found.others:,} "
            f"more ({self.names[1]}); ± is the longer half of a {share} interval",
            f"assumed: the {judged} are a random sample of all; people and the model judged the "
            "same documents",
            "λ is how much the model's labels count, 0 to 1; saved is how many more queries people "
            "would have to judge to be as sure",
        ]
        if first.n < FEW:
            held = "95 % intervals held in about 94 % of trials, and in fewer where most queries "
            held = f"{held}have the same value, as of RR"
            if self.confidence != 0.95:
                held = "intervals hold a little less often than they say"
            lines.append(f"with fewer than {FEW} queries, {held}")
        same = [one for one in (*self.means, *self.differences) if not one.corrected.se]
        if same:
            lines.append(
                "no ±: by people all queries have the same value there, which says nothing of how "
                "much others vary"
            )
        if len(self.means) > 1:
            lines.append("each interval holds by itself, not all of them at once")
        vain = [f"{one.measure} of {one.run}" for one in self.means if not one.helped]
        if vain:
            alone = "the number is that of people alone" if len(vain) == 1 else (
                "the numbers are those of people alone"
            )  # fmt: skip
            lines.append(f"the model's labels did not help for {few(vain)}: {alone}")
        return lines

    def table(self) -> Table:
        """Return a row for each number, with every digit."""
        return records_table([self._row(one) for one in (*self.means, *self.differences)])

    def _row(self, one: CorrectedMean) -> dict[str, Any]:
        named = {"run": one.run, "measure": one.measure, "baseline": one.baseline or None}
        return named | {key: _flat(value) for key, value in one.data().items() if key not in named}

    def data(self) -> dict[str, Any]:
        """Return the contract of ``correct -f json``."""
        return {
            "means": [one.data() for one in self.means],
            "differences": [one.data() for one in self.differences],
            "human": self.names[0], "model": self.names[1], "confidence": self.confidence,
            "labels": {"human": self.labels[0], "model": self.labels[1]},
            "doubts": [one.data() for one in self._all_doubts],
            "signatures": {label: str(one) for label, one in self.signatures.items()},
        }  # fmt: skip


def _flat(value: Any) -> Any:
    """Give both ends of an interval a name of their own."""
    if not isinstance(value, dict):
        return value
    low, high = value["ci"]
    others = {key: cell for key, cell in value.items() if key != "ci"}
    return others | {"low": low, "high": high}
