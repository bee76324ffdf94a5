"""What verbs are given: runs, judgments, files that hold both, bundles and queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.data import Qrels, Queries, Run
    from idealist.evaluating.evaluation import Evaluation
    from idealist.evaluating.latencies import Latencies
    from idealist.formats.reading import ReadOptions


def latencies_of(beside: Sequence[str], runs: Sequence[Run]) -> Latencies | None:
    """Read how long queries took, if that is wanted."""
    from idealist.evaluating.latencies import Latencies

    return Latencies.of(runs) if beside else None


def check_inputs(paths: Sequence[str | None]) -> None:
    """Refuse to read standard input twice; None stands for a file that was not given."""
    if list(paths).count("-") > 1:
        raise UsageError("standard input (-) can be read only once", "give files for the others")


def runs_of(
    paths: Sequence[str], reading: ReadOptions, queries: Queries | None = None,
    *, one_each: bool = False,
) -> list[Run]:  # fmt: skip
    """Read runs, each under the name that tells it from the others.

    A bundle stands for all of its runs; with `one_each`, every path must be one run.
    """
    from idealist.formats import read_run
    from idealist.formats.bundle_files import is_bundle, opened
    from idealist.formats.source import distinct, run_names

    found: list[Run] = []
    for path, name in zip(paths, run_names(paths), strict=True):
        if is_bundle(path) and not one_each:
            found += opened(path).runs
        else:
            found.append(read_run(reading.of(path), queries=queries, name=name))
    names = distinct([run.name for run in found])
    return [run.renamed(name) for run, name in zip(found, names, strict=True)]


def _bundled_sides(
    qrels: str, paths: Sequence[str], reading: ReadOptions
) -> tuple[Qrels, list[Run]]:
    """Take the judgments of a bundle, and its runs, unless others of it are named behind it."""
    from idealist.formats import read_qrels
    from idealist.formats.source import parted

    file, run = parted(qrels)
    named = not run and any(parted(path)[0] == file for path in paths)
    return read_qrels(reading.of(qrels)), runs_of(paths if named else [qrels, *paths], reading)


def bundle_of(path: str) -> str:
    """Return the bundle that a run is named behind; it stands for its judgments too."""
    from idealist.formats.bundle_files import is_bundle
    from idealist.formats.source import parted

    file, run = parted(path)
    return str(file) if run and is_bundle(path) else ""


def judgments_beside(qrels: str, reading: ReadOptions) -> Any:
    """Describe judgments beside which the runs are given; refuse a run of a bundle for them."""
    from idealist.formats.source import BUNDLE, parted

    file, run = parted(qrels)
    if run and file.suffix == BUNDLE:
        message = f"{qrels} names a run of a bundle where judgments are wanted"
        raise UsageError(message, f"give the bundle: {file}")
    return reading.of(qrels)


def baseline_name(
    baseline: str | None, qrels: str | None, paths: Sequence[str], runs: Sequence[Run]
) -> str | None:
    """Name the baseline, where it is given as a file among the arguments."""
    files = paths if len(runs) == len(paths) else (qrels, *paths)
    return runs[files.index(baseline)].name if baseline in files else baseline


def with_ids_met(
    evaluations: Sequence[Evaluation], qrels: Qrels, runs: Sequence[Run], **settings: Any
) -> Sequence[Evaluation]:
    """Refuse evaluations of which not one id meets, with the command that repairs them."""
    if not any(doubt.comes_first for one in evaluations for doubt in one.doubts):
        return evaluations
    from idealist.auditing import met

    return met(evaluations, qrels, runs, click.get_current_context().obj, **settings)


def sides_of(
    qrels: str, paths: Sequence[str], reading: ReadOptions, queries: Queries | None = None,
    *, faulty: bool = False,
) -> tuple[Any, list[Run]]:  # fmt: skip
    """Find the judgments and the runs; a file may hold both sides.

    Where every file does, each is a run, and all must hold the same judgments. Judgments that may
    be `faulty` are left to the audit, which says what is wrong with them.
    """
    from idealist.formats import read_pairs, read_qrels
    from idealist.formats.bundle_files import is_bundle
    from idealist.formats.pair_files import holds_both
    from idealist.formats.source import run_names

    if is_bundle(qrels):
        return _bundled_sides(qrels, paths, reading)
    files = list(dict.fromkeys([qrels, *paths]))
    if paths and (len(files) == 1 or not all(holds_both(reading.of(path)) for path in files)):
        described = reading.of(qrels)
        judged = described if faulty else read_qrels(described)
        return judged, runs_of(paths, reading_beside(judged, reading), queries)
    named = zip(files, run_names(files), strict=True)
    pairs = {path: read_pairs(reading.of(path), name=name) for path, name in named}
    judged = pairs[qrels][0]
    for path, (other, _) in pairs.items():
        if other.hash != judged.hash:
            hint = f"idealist convert {qrels} qrels.json --kind qrels writes those of one file"
            raise UsageError(f"{path} holds other judgments than {qrels}", hint)
    return judged, [run for _, run in pairs.values()]


def reading_beside(judged: Any, reading: ReadOptions) -> ReadOptions:
    """Say how runs are read: beside evidence, their rows are parts of documents."""
    return reading.of_spans if getattr(judged, "cover", "") else reading


def one_run(
    qrels: str, run: str | None, reading: ReadOptions, queries: Queries | None = None
) -> tuple[Qrels, Run]:
    """Find the judgments and the one run; without a run, the judgments' file holds both sides."""
    from idealist.formats import read_qrels

    if run is not None:
        judged = read_qrels(judgments_beside(qrels, reading))
        beside = reading_beside(judged, reading)
        return judged, runs_of([run], beside, queries, one_each=True)[0]
    judged, found = sides_of(qrels, (), reading)
    if len(found) > 1:
        hint = f"name it: {qrels}#{found[0].name}"
        raise UsageError(f"{qrels} is a bundle of {len(found)} runs, and one is wanted", hint)
    return judged, found[0]


def queries_of(path: str | None) -> Queries | None:
    """Read a file of queries, if there is one."""
    from idealist.formats import read_queries

    return None if path is None else read_queries(path)
