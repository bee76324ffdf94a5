"""Baselines: a run's values per query and its top documents, kept in a file for later."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from idealist import files
from idealist._version import __version__
from idealist.conventions.signature import Signature
from idealist.data import Rows, Run
from idealist.errors import Faults, UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import borrowed_run
from idealist.formats.source import Source
from idealist.gating.checks import checked_looks
from idealist.measures.instrument import Instrument
from idealist.ranking.ranked import listing
from idealist.rendering.plain_data import finite


def top_rows(evaluator: Evaluator, run: Run, evaluation: Evaluation) -> Rows:
    """Keep the rows down to the deepest cutoff, or all where a measure looks at whole lists."""
    rows, depths = run.rows(), [_depth(one) for one in evaluator.instruments.values()]
    if None in depths:
        return rows
    kept = _cut(rows, evaluator, max(depth for depth in depths if depth is not None))
    again = evaluator(Run(kept, run.name))
    same = all(
        np.array_equal(again.values[label], evaluation.values[label], equal_nan=True)
        for label in evaluation
    )
    return kept if same else rows


def _depth(instrument: Instrument) -> int | None:
    """Find the last rank that a measure looks at; None if it may look at all."""
    measure, protocol = instrument.measure, instrument.protocol
    moves = "drop" in (protocol.unjudged, protocol.negative) or protocol.collapse != "none"
    budget = isinstance(protocol.depth, str) and protocol.depth != "none"
    return None if moves or budget or measure.list_only else measure.cutoff


def _cut(rows: Rows, evaluator: Evaluator, depth: int) -> Rows:
    """Keep the documents that some protocol ranks above `depth`, with the whole tie they are in.

    A protocol's own depth cuts ties by today's judgments, so it is left out here.
    """
    protocols = {replace(one.protocol, depth="none") for one in evaluator.instruments.values()}
    kept: dict[str, set[str]] = {query: set() for query in rows.queries}
    for protocol in protocols:
        for query, ranking in listing(Run(rows, rows.name), protocol, rows.queries).items():
            kept[query].update(compress(ranking.documents, ranking.first <= depth))
    rankings = {}
    for query, columns in _rankings(rows):
        stays = [document in kept[query] for document in columns["documents"]]
        rankings[query] = {name: [*compress(one, stays)] for name, one in columns.items()}
    return _rows(rankings, rows.name)


SCHEMA = 1
#: The key that a baseline starts with, which tells it from a run in JSON.
KEY = "idealist-baseline"
HINT = "save it anew: idealist gate QRELS RUN --save FILE"
#: How much the values of one ranking may differ between machines.
TOLERANCE = 1e-9
#: What may differ when a baseline is rescored.
RENEWED = {"qrels": "the judgments", "rules": "the rules of idealist"}


@dataclass(frozen=True, eq=False)
class Baseline:
    """An evaluation with the rankings it was made of, and the axes that were set for it.

    `looks` is how many runs may be checked against it at the level of one.
    """

    evaluation: Evaluation
    run: Run
    axes: Mapping[str, Any]
    name: str = "baseline"
    looks: int = 1

    @classmethod
    def of(
        cls, evaluator: Evaluator, run: Any, axes: Mapping[str, Any], looks: int = 1
    ) -> Baseline:
        """Evaluate a run, and keep the part of its rankings that its values depend on."""
        held = borrowed_run(run).held()
        evaluation = evaluator(held)
        kept = Run(top_rows(evaluator, held, evaluation), held.name)
        plain = {key: one for key, one in axes.items() if isinstance(one, (str, int, float))}
        return cls(evaluation, kept, plain, looks=looks)

    def save(self, path: str | Path) -> None:
        """Write it, compressed if the file's name says so."""
        found = self.evaluation
        data = {
            KEY: SCHEMA,
            "version": __version__,
            "run": found.run,
            "convention": found.convention,
            "axes": dict(self.axes),
            "looks": self.looks,
            "qrels": next(iter(found.signatures.values())).qrels,
            "signatures": {label: str(one) for label, one in found.signatures.items()},
            "values": {label: finite(found.by_query(label)) for label in found},
            **({"weights": dict(found.weights)} if found.weights else {}),
            "rankings": dict(_rankings(self.run.rows())),
        }
        written = json.dumps({**data, "checksum": _checksum(data)}, ensure_ascii=False, indent=0)
        files.write(path, files.compressed(path, (written + "\n").encode()))

    @classmethod
    def load(cls, path: str | Path) -> Baseline:
        """Read a saved baseline, and refuse one that was changed."""
        faults, source = Faults(str(path)), Source.of(path)
        try:
            data = json.loads(source.read())
            stated = data.pop("checksum")
            if data[KEY] != SCHEMA:
                faults.fail("bad-shape", f"a baseline of schema {data[KEY]!r:.20} is unknown", HINT)
            if stated != _checksum(data):
                message = "the baseline was changed after it was saved: its checksum does not match"
                faults.fail("checksum", message, HINT)
            _check_types(data)
            run = Run(_rows(data["rankings"], data["run"]), data["run"])
            looks = checked_looks(data.get("looks", 1))  # files without a budget are for one look
            return cls(_evaluation(data), run, data["axes"], str(path), looks)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, UsageError):
            faults.fail("bad-shape", "this is not a saved baseline", HINT)

    def check(self, evaluator: Evaluator, rescore: bool) -> None:
        """Refuse an evaluator whose rules or judgments are not those of the stored values.

        With `rescore`, the judgments may have grown.
        """
        for label, signature in evaluator.signatures.items():
            if label not in self.evaluation:
                hint = "it has " + ", ".join(self.evaluation) + "; or save it anew"
                raise UsageError(f"{self.name} has no values of {label}", hint)
            unlike = self.evaluation.signatures[label].diff(signature)
            if unlike.keys() - (RENEWED.keys() if rescore else set()):
                raise self._unlike(label, unlike)

    def check_values(self, measured: Evaluation) -> None:
        """Refuse stored values that do not follow from the stored rankings."""
        for label in measured:
            now, then = measured.by_query(label), self.evaluation.by_query(label)
            for query in sorted(now.keys() | then.keys()):
                if not _alike(then.get(query), now.get(query)):
                    stored = f"the baseline's {label} of query {query!r}"
                    message = f"{stored} does not follow from its ranking"
                    Faults(self.name).fail("checksum", message, HINT)

    def budget(self, given: int | None) -> int:
        """Return how many looks share the level; what the file states is not overruled."""
        if given not in (None, self.looks) and self.looks > 1:
            hint = "leave out --looks (looks=), or save it anew with another budget"
            raise UsageError(f"{self.name} is for {self.looks} looks, not {given}", hint)
        return self.looks if given is None else given

    def dropped(self, measured: Evaluation) -> tuple[str, ...]:
        """Name the queries that have stored values but are no longer judged."""
        return tuple(sorted({*self.evaluation.queries} - {*measured.queries}))

    def _unlike(self, label: str, unlike: Mapping[str, tuple[str, str]]) -> UsageError:
        if unlike.keys() <= RENEWED.keys():
            what = " and ".join(RENEWED[key] for key in unlike)
            hint = "--rescore (rescore=True) measures its rankings again; or save it anew"
            return UsageError(f"{what} have changed since {self.name} was saved", hint)
        hint = "use the settings it was saved with, or save it anew"
        words = ", ".join(
            f"{key} {one} there, {other} here" for key, (one, other) in unlike.items()
        )
        return UsageError(f"{label} is not what {self.name} holds: {words}", hint)


def find_baseline(given: Any) -> Baseline | None:
    """Read a baseline if the path leads to one; None if it is a run."""
    if isinstance(given, Baseline):
        return given
    if not isinstance(given, (str, Path)) or not Path(given).is_file():
        return None
    start = Source.of(given).head(len(KEY) + 20).lstrip()
    is_one = start.startswith(b"{") and f'"{KEY}"'.encode() in start
    return Baseline.load(given) if is_one else None


def check_run(given: Any) -> None:
    """Refuse a baseline in the place of a run."""
    if find_baseline(given) is not None:
        hint = "give the baseline first, then the new run"
        raise UsageError(f"{given} is a baseline, not a run", hint)


def _alike(one: float | None, other: float | None) -> bool:
    """Whether two values agree up to rounding; None is a query that does not count."""
    if one is None or other is None:
        return one is other
    gaps = math.isnan(one) and math.isnan(other)
    return gaps or math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _check_types(data: Mapping[str, Any]) -> None:
    """Refuse what no baseline holds, whatever its checksum says."""
    numbers, lists = (int, float), data["rankings"].values()
    kinds = (
        all(isinstance(data[name], str) for name in ("run", "convention")),
        all(isinstance(one, (str, *numbers)) for one in data["axes"].values()),
        all(isinstance(one, numbers) for one in data.get("weights", {}).values()),
        data["values"].keys() == data["signatures"].keys(),
        all(isinstance(document, str) for one in lists for document in one["documents"]),
        all(len(column) == len(one["documents"]) for one in lists for column in one.values()),
        len({frozenset(one) for one in lists}) <= 1,
    )
    if not all(kinds):
        raise ValueError(KEY)


def _checksum(data: Mapping[str, Any]) -> str:
    """Digest the content, whatever its layout."""
    content = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()


def _rankings(rows: Rows) -> Iterator[tuple[str, dict[str, list[Any]]]]:
    columns = {name: getattr(rows, name) for name in ("scores", "ranks", "tokens")}
    for query, span in rows.spans().items():
        numbers = {name: one[span].tolist() for name, one in columns.items() if one is not None}
        yield query, {"documents": list(rows.documents[span]), **numbers}


def _rows(rankings: Mapping[str, Mapping[str, list[Any]]], name: str) -> Rows:
    """Build rows from rankings as they are stored."""
    lists = {
        column: [x for one in rankings.values() for x in one[column]]
        for column in ("documents", "scores", "ranks", "tokens")
        if all(column in one for one in rankings.values())
    }
    queries = [query for query, one in rankings.items() for _ in one["documents"]]
    return Rows.build(
        queries, lists["documents"], lists.get("scores"), rank=lists.get("ranks"),
        tokens=lists.get("tokens"), empty=list(rankings), name=name,
    )  # fmt: skip


def _evaluation(data: Mapping[str, Any]) -> Evaluation:
    stored = data["values"]
    queries = tuple(dict.fromkeys(query for own in stored.values() for query in own))
    values = {label: [own.get(query) for query in queries] for label, own in stored.items()}
    counted = {label: [query in own for query in queries] for label, own in stored.items()}
    return Evaluation(
        run=data["run"], queries=queries,
        values={label: np.array(own, dtype=float) for label, own in values.items()},
        counted={label: np.array(own, dtype=bool) for label, own in counted.items()},
        aggregates=dict.fromkeys(values, math.nan),
        signatures={label: Signature.parse(one) for label, one in data["signatures"].items()},
        convention=data["convention"], weights=data.get("weights", {}),
    )  # fmt: skip
