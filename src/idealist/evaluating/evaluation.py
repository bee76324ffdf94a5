"""An evaluation: the values of one run, per query and together, with doubts and signatures."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from idealist import files
from idealist.conventions import DEFAULT
from idealist.conventions.signature import Signature
from idealist.data.columns import Bools, Floats
from idealist.errors import Faults, UsageError
from idealist.measures import as_measure, parse
from idealist.notation import many
from idealist.rendering import plain_data
from idealist.rendering.document import Document, Table
from idealist.rendering.doubt import Doubt
from idealist.rendering.plain_data import as_number, as_text, finite
from idealist.rendering.result import Figures, Result, form_of
from idealist.rendering.wording import number
from idealist.significance.means import effective, mean_interval

if TYPE_CHECKING:
    pass

SCHEMA = 1


T = TypeVar("T")


class ByMeasure(dict[str, T]):
    """A mapping by measure, in any spelling of it.

    >>> ByMeasure({"ndcg@10": 0.5})[as_measure("nDCG@10")]
    0.5
    """

    def __missing__(self, measure: Any) -> T:
        return self[label_of(measure, self)]

    def __contains__(self, measure: object) -> bool:
        try:
            label_of(measure, self)
        except UsageError:
            return False
        return True


def label_of(measure: Any, labels: Iterable[str]) -> str:
    """Find a measure among labels as they were typed."""
    known = list(labels)
    if str(measure) in known:
        return str(measure)
    wanted = as_measure(measure)
    for label in known:
        with suppress(UsageError):  # a user's own measure is known by its name only
            if as_measure(label) == wanted:
                return label
    raise UsageError(f"{wanted} was not evaluated", "evaluated: " + ", ".join(known))


@lru_cache(maxsize=256)
def _range_of(measure: str) -> tuple[float, float]:
    try:
        return parse(measure).bounds(-1.0)
    except UsageError:  # a user's own measure is known by its name only
        return -math.inf, math.inf


def range_of(signature: Signature) -> tuple[float, float]:
    """Return the range of a measure's values, whatever the grades are.

    >>> from idealist.evaluating.evaluator import Evaluator
    >>> signatures = Evaluator({"q": {"d": 1}}, ["AP", "DCG"]).signatures
    >>> [range_of(one) for one in signatures.values()]
    [(0.0, 1.0), (0.0, inf)]
    """
    return _range_of(signature.measure)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Result):
    """What an evaluation found. ``result[nDCG @ 10]`` is the number, ``print(result)`` a table.

    `values` holds a value per measure and query, NaN where undefined; `counted` says which of them
    the aggregate is made of, and `weights` what they weigh, where they do not weigh the same.
    """

    run: str
    queries: tuple[str, ...]
    values: Mapping[Any, Floats]
    counted: Mapping[Any, Bools]
    aggregates: Mapping[Any, float]
    signatures: Mapping[Any, Signature]
    doubts: tuple[Doubt, ...] = ()
    convention: str = DEFAULT
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("values", "counted", "aggregates", "signatures"):
            object.__setattr__(self, name, ByMeasure(getattr(self, name)))

    def label(self, measure: Any) -> str:
        """Find the measure as it was typed."""
        return label_of(measure, self.aggregates)

    def __getitem__(self, measure: Any) -> float:
        return self.aggregates[measure]

    def __iter__(self) -> Iterator[str]:
        return iter(self.aggregates)

    def __contains__(self, measure: object) -> bool:
        return measure in self.aggregates

    @property
    def per_query(self) -> dict[str, list[Any]]:
        """The values as columns: ``query`` and one per measure, in the order of the queries."""
        columns = {label: values.tolist() for label, values in self.values.items()}
        return {"query": list(self.queries), **columns}

    def by_query(self, measure: Any) -> dict[str, float]:
        """Give the values that a measure's aggregate is made of."""
        label = self.label(measure)
        pairs = zip(self.queries, self.values[label].tolist(), strict=True)
        return dict(compress(pairs, self.counted[label].tolist()))

    def interval(self, measure: Any, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of a mean over queries; NaN for other aggregates or one query.

        It is cut to the values that the measure can have.
        """
        label = self.label(measure)
        values, weights = self.values[label][self.counted[label]].tolist(), self._weights(label)
        if not weights and dict(self.signatures[label].settings)["aggregate"] != "mean":
            return math.nan, math.nan
        low, high = mean_interval(values, weights, confidence)
        least, most = range_of(self.signatures[label])
        return max(low, least), min(high, most)

    def _weights(self, label: str) -> list[float] | None:
        """Return what the queries of a mean weigh; None where they weigh the same."""
        if not dict(self.signatures[label].settings)["aggregate"].startswith("weighted("):
            return None
        counted = compress(self.queries, self.counted[label].tolist())
        return [self.weights.get(query, math.nan) for query in counted]

    @property
    def alike(self) -> float:
        """The queries of equal weight that make a mean as sure; NaN if no mean is weighted."""
        known = filter(None, map(self._weights, self.signatures))
        return min(map(effective, known), default=math.nan)

    @property
    def unmatched(self) -> bool:
        """Whether not one id of the run met one of the judgments, so that nothing was measured."""
        return any(one.code == "nothing-matches" and one.severity == "error" for one in self.doubts)

    def short_signature(self, measure: Any) -> str:
        """Give a measure's signature by its convention's name."""
        return self.signatures[measure].by(self.convention)

    @property
    def summary(self) -> str:
        """The values and what they are the mean of, in one sentence; or that there are none."""
        if self.unmatched:
            return f"{self.run}: {next(one.finding for one in self.doubts if one.comes_first)}"
        values = ", ".join(f"{label} {number(value)}" for label, value in self.aggregates.items())
        return f"{self.run}: {values} over {many(len(self.queries), 'query', 'queries')}"

    def report(self) -> Document:
        """Describe the values, with their intervals, doubts and signatures."""
        from idealist.evaluating.evaluations import Evaluations  # which is made of these

        return Evaluations((self,)).report()

    @property
    def figures(self) -> Figures:
        """The figures that can be made of it, by kind."""
        from idealist.evaluating import evaluation_figures  # which looks at these

        return evaluation_figures.figures_of((self,))

    def table(self) -> Table:
        """Return the values of every query, one row each."""
        rows = zip(*self.per_query.values(), strict=True)
        return Table.of(["query"], list(self.values), list(rows))

    def to_pandas(self) -> Any:
        """Turn the values of every query into a pandas data frame, indexed by query."""
        return super().to_pandas().set_index("query")

    def data(self) -> dict[str, Any]:
        """Return everything as plain data; undefined values are None."""
        rows = zip(*self.per_query.values(), strict=True)
        per_query = {query: finite(dict(zip(self, row, strict=True))) for query, *row in rows}
        return {**self.aggregate_data(), "per_query": per_query}

    def aggregate_data(self) -> dict[str, Any]:
        """Return what holds for all queries together as plain data."""
        return {
            "run": self.run,
            "values": finite(dict(self.aggregates)),
            "intervals": {label: finite(self.interval(label)) for label in self.aggregates},
            "queries": len(self.queries),
            "doubts": [doubt.data() for doubt in self.doubts],
        }

    def save(self, path: str | Path) -> None:
        """Write it in the form that the suffix names; JSON can be loaded and compared later."""
        if form_of(path) in ("json", "table"):
            files.write(path, f"{plain_data.to_json(self._saved())}\n".encode())
        else:
            super().save(path)

    def _saved(self) -> dict[str, Any]:
        uncounted = {
            label: [query for query, counts in zip(self.queries, mask, strict=True) if not counts]
            for label, mask in self.counted.items()
        }
        return {
            "idealist": SCHEMA,
            "convention": self.convention,
            **self.data(),
            "uncounted": {label: queries for label, queries in uncounted.items() if queries},
            "signatures": {label: str(one) for label, one in self.signatures.items()},
            **({"weights": dict(self.weights)} if self.weights else {}),
        }

    @classmethod
    def of(cls, given: Any) -> Evaluation:
        """Return an evaluation, that of a meter, or one that was saved."""
        if isinstance(given, Evaluation):
            return given
        if hasattr(given, "evaluation"):
            return given.evaluation()  # type: ignore[no-any-return]  # of idealist.tensors
        return cls.load(given)

    @classmethod
    def load(cls, path: str | Path) -> Evaluation:
        """Read a saved evaluation."""
        faults = Faults(str(path))
        try:
            data = json.loads(Path(path).read_text("utf-8"))
            return cls._from_json(data)
        except OSError as error:
            faults.fail("no-file", f"cannot be read: {error.strerror}", "check the path")
        except (ValueError, KeyError, TypeError, AttributeError, UsageError):
            hint = "give a file that Evaluation.save() wrote"
            faults.fail("bad-shape", "this is not a saved evaluation", hint)

    @classmethod
    def _from_json(cls, data: dict[str, Any]) -> Evaluation:
        if data["idealist"] != SCHEMA:
            raise ValueError(data["idealist"])
        rows, labels = data["per_query"], list(data["values"])
        skipped = {label: set(queries) for label, queries in data["uncounted"].items()}
        signatures = {label: Signature.parse(data["signatures"][label]) for label in labels}
        now = {label: as_number(value) for label, value in data["values"].items()}
        for one in signatures.values():
            if not {"aggregate", "missing"} <= dict(one.settings).keys():
                raise ValueError(one)
        return cls(
            run=as_text(data["run"]),
            queries=tuple(rows),
            values={
                label: np.array([as_number(row[label]) for row in rows.values()])
                for label in labels
            },
            counted={
                label: np.array([query not in skipped.get(label, ()) for query in rows], dtype=bool)
                for label in labels
            },
            aggregates=now,
            signatures=signatures,
            doubts=tuple(Doubt.of_data(one, as_text(data["run"]), now) for one in data["doubts"]),
            convention=as_text(data["convention"]),
            weights={query: as_number(weight) for query, weight in data.get("weights", {}).items()},
        )
