"""What trec_eval would print: values per query and over all, in its order and arithmetic."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from idealist.conventions import CONVENTIONS
from idealist.data import Qrels, Run
from idealist.data.columns import Floats, Ints, is_number
from idealist.dropin.arguments import JUDGMENTS, Options, Stop
from idealist.dropin.entries import Column, columns, marked
from idealist.dropin.printed import query_lines, summary_line
from idealist.errors import Defect, Faults, InputError, UsageError
from idealist.formats import contents, read_preferences, read_qrels
from idealist.formats.run_sources import FileRun
from idealist.formats.source import HEAD, Source, run_name
from idealist.measures import Measure, parse
from idealist.measures.instrument import Instrument
from idealist.notation import many
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import rank


def read_judgments(path: str, kind: str) -> Qrels:
    """Read judgments of a kind; plain qrels must judge each document only once."""
    if kind == "prefs":
        return read_preferences(path)
    qrels = read_qrels(path)
    if qrels.preferences is not None:
        message = f"{qrels.name}: these are preferences, but {kind} have four columns"
        raise Stop(2, message, "use -R prefs and preference measures")
    if kind == "qrels" and (qrels.repeats or qrels.subtopics is not None):
        rows = len(qrels) if qrels.subtopics is None else len(qrels.subtopics.pair)
        times = qrels.repeats + rows - len(qrels)
        message = f"{qrels.name}: {many(times, 'document is', 'documents are')} judged twice"
        raise Stop(4, message, "judge each document once, or use groups of judges: -R qrels_jg")
    return qrels


def last_tag(source: Source) -> str:
    """Return the tag on the last line of the run, which trec_eval uses as its name."""
    if not contents.is_trec(source):
        return run_name(source.name)
    for line in reversed(_tail(source).split(b"\n")):
        words = line.split(None, 6)
        if len(words) >= 6 and not words[0].startswith(b"#"):
            return words[5].decode(errors="replace")
    return run_name(source.name)


def _tail(source: Source) -> bytes:
    """Return the last bytes of a run, decompressed."""
    if source.is_plain:
        with source.descriptor() as (file, size):
            os.lseek(file, max(size - HEAD, 0), os.SEEK_SET)
            return os.read(file, HEAD)
    last = b""
    for block in source.blocks():
        last = (last + block)[-HEAD:]
    return last


#: The z-score if the reference lacks the measure or has a standard deviation of 0.
MISSING = -1000000.0

Reference = Mapping[tuple[str, str], tuple[float, float]]


def read_zscores(path: str) -> Reference:
    """Read lines of query, measure, mean and standard deviation."""
    source = Source.of(path)
    faults, found = Faults(source.name), {}
    for line, text in enumerate(source.read().decode().split("\n"), 1):
        words = text.split()
        if not words:
            continue
        if len(words) != 4 or not (is_number(words[2]) and is_number(words[3])):
            hint = "each line holds a query, a measure, a mean and a standard deviation"
            faults.add("columns", f"cannot read {text[:60]!r}", hint, line)
        else:
            found[words[0], words[1]] = float(words[2]), float(words[3])
    faults.check()
    return found


def as_zscores(values: Floats, label: str, queries: Sequence[str], reference: Reference) -> Floats:
    """Express the values of a measure in standard deviations from the reference means."""
    known = [reference.get((query, label), (math.nan, math.nan)) for query in queries]
    mean, spread = np.array(known).reshape(-1, 2).T
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = (values - mean) / spread
    flat = np.where(values == mean, 0.0, MISSING)
    scores = np.where(spread == 0, flat, scores)
    return np.where(np.isnan(mean), MISSING, scores)


#: The lowest value that enters a geometric mean.
FLOOR = 0.00001


def report(options: Options) -> Iterator[str]:
    """Yield the output piece by piece; raise `Stop` where trec_eval would stop."""
    names = marked(options.measures, options.version)
    if options.judgments not in JUDGMENTS:
        hint = "use one of " + ", ".join(JUDGMENTS)
        raise Stop(2, f"-R {options.judgments}: unknown judgment format", hint)
    qrels = read_judgments(options.files[0], options.judgments)
    source = Source.of(options.files[1])
    asked = _columns(names, options)
    _check_kinds(asked, options.judgments)
    reference = _reference(options.zscores)
    protocol = _protocol(asked, options)
    placements = rank(qrels, Run(FileRun(source), source.name), [protocol])[protocol]
    table = Table(options, placements, asked, reference)
    yield from table.by_query()
    if options.summary:
        yield "".join(table.summary(source))


def _columns(names: Mapping[str, str], options: Options) -> list[Column]:
    """Lay out the output, with measures set as the options and the version say."""
    try:
        asked = columns(names)
    except UsageError as error:
        raise Stop(2, error.message, error.hint) from None
    return [
        replace(one, measure=_instrument(one.measure, options).measure) if one.measure else one
        for one in asked
    ]


def _instrument(measure: Measure, options: Options) -> Instrument:
    """Set up a measure as trec_eval does; -l only applies to measures of binary relevance."""
    own = {"rel": options.level, "documents": options.documents}
    asks = {"rel": "rel_op", "documents": "documents"}
    settings = {key: own[key] for key in own if asks[key] in measure.parameters()}
    convention = CONVENTIONS["trec_eval" if options.version >= 10 else "trec_eval-9"]
    return convention.instrument(replace(measure, **settings))


def _protocol(asked: Sequence[Column], options: Options) -> Protocol:
    """Choose how the run is ranked; preferences ignore -J."""
    measure = next((one.measure for one in asked if one.measure), parse("AP"))
    judged_only = options.judged_only and "prefs" not in options.judgments
    return replace(
        _instrument(measure, options).protocol,
        depth=options.depth or "none",
        nonfinite="as_is",
        unjudged="drop" if judged_only else "zero",
        negative="drop" if judged_only else "allow",
    )


def _reference(path: str | None) -> Reference | None:
    try:
        return None if path is None else read_zscores(path)
    except InputError as error:
        raise Stop(255, error.message, error.hint) from None


def _check_kinds(asked: Sequence[Column], judgments: str) -> None:
    kind = "prefs" if judgments == "qrels_prefs" else judgments
    for column in asked:
        if column.entry.judgments not in (kind, "any"):
            wanted = f"-R {column.entry.judgments}".replace("prefs", "prefs or -R qrels_prefs")
            message = f"{column.label} cannot be computed from {judgments}"
            raise Stop(4, message, f"use {wanted} with judgments of that kind")


@dataclass(frozen=True)
class Table:
    """The values of some measures for the queries that trec_eval evaluates."""

    options: Options
    placed: Placements
    columns: Sequence[Column]
    reference: Reference | None
    computed: dict[Measure, Floats] = field(default_factory=dict)

    @property
    def qrels(self) -> Qrels:
        """The judgments."""
        return self.placed.qrels

    @cached_property
    def placements(self) -> Placements:
        """The ranking; in version 10 a query missing from the run has one unjudged document."""
        if self.options.version < 10 or self.placed.protocol.unjudged == "drop":
            return self.placed
        retrieved = np.where(self.placed.in_run, self.placed.retrieved, 1)
        return replace(self.placed, retrieved=retrieved)

    @cached_property
    def rows(self) -> Ints:
        """The queries that count, in the order of their ids."""
        every = np.arange(len(self.qrels.queries))
        if self.options.only is not None:
            every = every[[query == self.options.only for query in self.qrels.queries]]
        if self.options.version >= 10 and self.options.complete:
            return every
        found = self.placed.in_run[every]
        if self.options.version < 10 or found.all():
            return every[found]
        return every[: int(np.argmin(found))]  # it stops at the first that the run lacks

    def by_query(self) -> Iterator[str]:
        """Yield the lines of each query if asked for; stop where trec_eval does."""
        shown = [one for one in self.columns if one.entry.summary != "geometric"]
        shown = [one for one in shown if one.measure or one.entry.name == "relstring"]
        names = [self.qrels.queries[i] for i in self.rows.tolist()]
        if self.options.per_query and shown:
            cells = [self._cells(one) for one in shown]
            yield from query_lines(shown, names, cells, self._prefixed)
        self._check_queries()

    def _check_queries(self) -> None:
        ignores = self.options.version < 10 or self.options.complete or self.options.only
        if not ignores and len(self.rows) < len(self.qrels.queries):
            query = self.qrels.queries[len(self.rows)]
            hint = "count such queries as 0 with -c, or leave them out with --as 9.0.8"
            raise Stop(4, f"the run lacks the judged query {query!r}", hint)
        if not len(self.rows):
            hint = "check that both files write query ids the same way"
            raise Stop(7, "no query is both judged and in the run", hint)

    def _cells(self, column: Column) -> Sequence[object]:
        if column.measure is None:
            return self._relstrings(column)
        cells: list[object] = self.values(column)[self.rows].tolist()
        return cells

    def values(self, column: Column) -> Floats:
        """Return the values of a column for every judged query."""
        values = self._known(column.measure)
        if column.entry.name == "Rndcg":
            relevant = self._known(parse(f"NumRel(rel={self.options.level})"))
            values = np.where(relevant > 0, values, 0.0)
        if column.label in ("num_ret", "utility", "rbp_resid") or column.label.startswith("unj"):
            values = np.where(self.placed.in_run, values, 0.0)
        if column.entry.summary == "geometric":
            values = np.log(np.maximum(values, FLOOR))
        if self.reference is not None:
            return as_zscores(values, column.label, self.qrels.queries, self.reference)
        return values

    def _known(self, measure: Measure | None) -> Floats:
        if measure is None:
            raise Defect("a column without a measure has no values")
        if measure not in self.computed:
            self.computed[measure] = measure.values(self.placements)
        return self.computed[measure]

    def _relstrings(self, column: Column) -> list[str]:
        """Write the grades of the first documents: - is unpooled, . is pooled but unjudged."""
        length = min(column.length, int(self.placements.retrieved.max(initial=0)))
        grid = self.placements.grid(max(length, 1))[self.rows, :length]
        grade = grid.filled(np.nan)
        signs = np.where(grade > 9, ord(">"), np.nan_to_num(grade) + ord("0"))
        signs = np.where(grade < 0, ord("."), signs)
        signs = np.where(np.isnan(grade), ord("-"), signs)
        signs = np.where(np.ma.getmaskarray(grid), 0, signs).astype(np.uint8)
        strings = [bytes(row).rstrip(b"\0").decode() for row in signs]
        if column.label != "relstring":
            return strings
        there = self.placed.in_run[self.rows].tolist()
        return [string if known else "" for string, known in zip(strings, there, strict=True)]

    @property
    def _prefixed(self) -> bool:
        """Whether labels mark the values as z-scores."""
        return self.reference is not None and self.options.version >= 10

    def summary(self, source: Source) -> Iterator[str]:
        """Yield the lines over all queries."""
        every = len(self.qrels.queries) if self.options.complete else len(self.rows)
        for column in self.columns:
            name = column.entry.name
            if name == "runid":
                yield summary_line(name, last_tag(source))
            elif name == "num_q":
                yield summary_line(name, float(every) if self._prefixed else every, self._prefixed)
            elif column.measure is not None:
                value = self._over_all(column, every)
                whole = column.entry.is_count and not self._prefixed
                yield summary_line(column.label, int(value) if whole else value, self._prefixed)

    def _over_all(self, column: Column, every: int) -> float:
        """Sum or average a column, adding from left to right as trec_eval does."""
        if column.entry.name == "num_rel" and self.options.complete:
            return float(np.count_nonzero(self.qrels.grades > 0))  # whatever -l says
        values = self.values(column)[self.rows]
        total = float(np.add.accumulate(values)[-1])
        if column.entry.summary == "sum":
            return total
        if column.entry.summary == "mean":
            return total / every
        return math.exp((total + (every - len(values)) * math.log(FLOOR)) / every)
