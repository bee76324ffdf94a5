"""Fusing: runs and a method in, one ranking out, block by block of queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from idealist import files, kernel
from idealist.data import Qrels, Run
from idealist.data.remarks import Remark
from idealist.errors import UsageError
from idealist.formats import read_qrels, several_runs
from idealist.formats.compression import KINDS
from idealist.formats.encode import begins_as_trec
from idealist.formats.writing import is_trec_file, left_out, tag_of, write_run
from idealist.fusing.fused_run import FusedRun, best_first, joined
from idealist.fusing.fusion import Fusion, Learnt
from idealist.fusing.methods import as_fusion
from idealist.fusing.ranked_runs import RankedRuns
from idealist.notation import DEEPEST, many
from idealist.protocol import RULES, UNORDERED, Protocol
from idealist.ranking.document_lists import ALL, DocumentLists

#: The suffixes of compressed files.
COMPRESSED = frozenset(kind.suffix for kind in KINDS)
#: The normalisations that do more than to scale scores: they change ranks, or who has an opinion.
NO_SCALES = ("none", "min-max-inverted", "borda")


def fuse(
    runs: Any,
    method: Any = "rrf",
    *,
    qrels: Any = None,
    window: int | None = None,
    keep: int | None = None,
    missing: str = "error",
    name: str = "",
    **parameters: Any,
) -> Run:
    """Make one run of several.

    `method` is one of ``idealist fuse --list``, such as ``rrf`` or ``wsum``, and `parameters` are
    its own (``k=10``, ``norm="z-score"``, ``weights={"bm25": 0.3, "dense": 0.7}``) or rules of the
    protocol that ranks the runs (``duplicates="first"``). `window` is how many documents of each
    run are looked at, `keep` how many of each fused list are kept. `missing` says what of a query
    that some runs do not have: an ``error``, or they found nothing for it (``empty``), or it is
    left out (``skip``). A method that learns needs judgments, `qrels`: not those that you evaluate
    with, unless by `tune`, which keeps them apart.

    >>> fused = fuse([{"q": {"a": 9.0, "b": 7.0}}, {"q": {"b": 0.8, "c": 0.7}}])
    >>> fused.rows().documents, fused.name
    (['b', 'a', 'c'], 'RRF')
    """
    return Fusing.of(
        runs, method, qrels=qrels, window=window, keep=keep, missing=missing, **parameters
    ).run(name)


@dataclass(frozen=True, eq=False)
class Fusing:
    """Runs that are ranked, a method, and what it learnt."""

    ranked: RankedRuns
    method: Fusion
    learnt: Learnt = ()
    keep: int = ALL
    remarks: tuple[Remark, ...] = ()

    @classmethod
    def of(
        cls, runs: Any, method: Any, *, qrels: Any = None, window: int | None = None,
        keep: int | None = None, missing: str = "error", **parameters: Any,
    ) -> Fusing:  # fmt: skip
        """Rank the runs, and teach the method."""
        found = check_runs(runs)
        rules = {key: parameters.pop(key) for key in RULES if key in parameters}
        fusion = as_fusion(method, [run.name for run in found], **parameters)
        windows = checked_size("window", window), checked_size("keep", keep)
        check_method(fusion, len(found), windows[0])
        protocol = Protocol(**rules)
        if protocol.ties in UNORDERED:
            hint = "say which of equal scores comes first, such as ties=docid-asc"
            raise UsageError(f"lists to fuse need an order: ties cannot be {protocol.ties}", hint)
        judged = _judgments(fusion, qrels)
        ranked = RankedRuns.of([run.held() for run in found], windows[0], missing, protocol)
        made = cls(ranked, fusion, keep=windows[1] or ALL)
        if fusion.needs_scores:
            ranked.check_scores()
        return made if judged is None else made.taught(judged, protocol)

    def taught(self, qrels: Qrels, protocol: Protocol) -> Fusing:
        """Let the method learn from judgments."""
        fused = set(self.ranked.queries)
        some = np.array([query in fused for query in qrels.queries])
        if not (known := int(np.count_nonzero(some))):
            hint = "`idealist audit QRELS RUN` says why"
            raise UsageError("no judged query is in the runs", hint)
        if qrels.grades.max(initial=0.0) <= 0:
            nothing = f"{self.method} has nothing to learn from: no document is relevant"
            raise UsageError(nothing, "every grade of the judgments is 0 or less")
        placed = self.ranked.placed(qrels, protocol)
        words = (
            f"{self.method} learnt from the judgments of {many(known, 'query', 'queries')}: "
            "on these queries its values are too good; `tune` measures it on others"
        )
        told = Remark("learnt", words, known, "warning")
        return replace(self, learnt=self.method.learn(placed, some), remarks=(told,))

    @property
    def told(self) -> tuple[Remark, ...]:
        """What is doubtful about the runs and what was learnt of them."""
        return self.ranked.remarks + self.remarks

    @property
    def summary(self) -> str:
        """What is fused, in one line."""
        runs, queries = len(self.ranked.runs), len(self.ranked.queries)
        told = f"{self.method} of {runs} runs, {many(queries, 'query', 'queries')}"
        if self.method.uses == "scores" or self.method.norm in NO_SCALES:
            return told
        return f"{told}; it looks at ranks alone, so that norm={self.method.norm} changes nothing"

    def lists(self, first: int, last: int) -> DocumentLists:
        """Fuse some queries."""
        met = self.ranked.met(first, last)
        return best_first(met, self.method.scores(met.candidates, self.learnt), self.keep)

    def _blocks(self) -> Iterator[tuple[int, int, DocumentLists]]:
        """Fuse block by block, as many at once as there are threads."""
        blocks = list(self.ranked.blocks())
        with ThreadPoolExecutor(kernel.threads()) as team:
            for (first, last), lists in zip(
                blocks, team.map(lambda ends: self.lists(*ends), blocks), strict=True
            ):
                yield first, last, lists

    def run(self, name: str = "") -> Run:
        """Fuse all queries."""
        lists = joined([part for _, _, part in self._blocks()], self.keep)
        name = name or str(self.method)
        return Run(FusedRun(self.ranked.queries, lists, name, self.told), name)

    def write(self, path: str | Path, *, name: str = "", to: str = "") -> list[str]:
        """Write the fused run in the format of the suffix, or in the one named `to`.

        TREC text goes to a file block by block, so that the fused run is never held whole. Return
        what the format cannot hold, as `write_run` does.
        """
        is_trec = to == "trec" or (not to and is_trec_file(path))
        if is_trec and (module := kernel.native()) is not None:
            with suppress(Unwritable):
                blocks = self._lines(module, tag_of(name or str(self.method)))
                is_whole = str(path) == "-" or files.is_in_place(Path(path))
                if is_whole or Path(path).suffix.lower() in COMPRESSED:
                    blocks = iter([files.compressed(path, b"".join(blocks))])
                files.write(path, blocks)
                empty = int(np.count_nonzero(self.ranked.entries == 0))
                return list(filter(None, [left_out(empty, "query", "without any document")]))
        return write_run(self.run(name), path, to=to)

    def _lines(self, module: Any, tag: str) -> Iterator[bytes]:
        """Write block by block; stop at ids that TREC text cannot hold, which `write_run` names."""
        begun = False
        for first, last, lists in self._blocks():
            lines = module.lines_of_lists(self.ranked.queries[first:last], lists.columns, tag)
            if lines is None or not (begun or begins_as_trec(lines)):
                raise Unwritable
            begun = begun or bool(lines)
            yield lines


class Unwritable(Exception):
    """TREC text cannot hold these ids."""


def _judgments(fusion: Fusion, qrels: Any) -> Qrels | None:
    """Return the judgments that a method learns from; refuse too many and too few."""
    if fusion.learns and qrels is None:
        hint = "give qrels=, or --train QRELS: judgments of queries that you do not evaluate with"
        raise UsageError(f"{fusion.name} learns from judgments", hint)
    if not fusion.learns and qrels is not None:
        raise UsageError(f"{fusion.name} does not learn from judgments", "leave them out")
    return None if qrels is None else read_qrels(qrels)


def check_method(method: Fusion, runs: int, window: int | None) -> None:
    """Refuse weights that do not fit the runs, and what a window does not go with."""
    method.weight(runs)
    if window is not None and method.norm == "min-max-inverted":
        hint = "negate the scores instead, so that the best documents come first"
        raise UsageError(f"the first {window} of a list are not its lowest scores", hint)


def checked_size(name: str, given: Any) -> int | None:
    """Refuse what is no number of documents; None stays."""
    if given is None:
        return None
    fits = isinstance(given, (int, np.integer)) and given is not True and 1 <= given <= DEEPEST
    if not fits:
        hint = f"give a whole number from 1 to {DEEPEST:,}"
        raise UsageError(f"{name} cannot be {given!r}", hint)
    return int(given)


def check_runs(runs: Any) -> list[Run]:
    """Read several runs; refuse a single one."""
    runs = [runs] if isinstance(runs, (str, Path, Run)) else runs
    found = several_runs(runs) if isinstance(runs, Iterable) else []
    if len(found) < 2:
        given = many(len(found), "run", "runs")
        raise UsageError(f"{given} cannot be fused", "give at least two")
    return found
