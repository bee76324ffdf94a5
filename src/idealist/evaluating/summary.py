"""Summaries of evaluations: one row a run, the doubts below it, the signatures last."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from idealist.report.draw import Grid, plain, web

if TYPE_CHECKING:
    from idealist.evaluating.evaluation import Evaluation


def number(value: float, digits: int = 4) -> str:
    """Write a value for people: counts whole, values with four digits, nothing for undefined.

    >>> number(0.43125), number(30.0, 0), number(float("nan"))
    ('0.4313', '30', '-')
    """
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def p_words(p: float) -> str:
    """Write a p-value for people; a small one has no digits worth printing.

    >>> p_words(0.03031), p_words(2e-7)
    ('p=0.0303', 'p<0.0001')
    """
    return "p<0.0001" if p < 0.0001 else f"p={p:.4f}"


def runs_grid(evaluations: Sequence[Evaluation]) -> Grid:
    """Tabulate aggregates with their 95 % intervals, one row a run."""
    labels = list(evaluations[0].aggregates)
    rows = [[one.run, *(_cell(one, label) for label in labels)] for one in evaluations]
    return Grid(["run", *labels], rows, "\n".join(signature_lines(evaluations)))


def _cell(evaluation: Evaluation, label: str) -> str:
    value = evaluation.aggregates[label]
    counts = dict(evaluation.signatures[label].settings)["aggregate"] == "sum"
    shown = number(value, 0 if counts and value.is_integer() else 4)
    low, high = evaluation.interval(label)
    return shown if math.isnan(low) else f"{shown} ± {number((high - low) / 2)}"


def queries_grid(evaluations: Sequence[Evaluation]) -> Grid:
    """Tabulate the values of every query, one row a run and query."""
    labels = list(evaluations[0].aggregates)
    rows = [
        [one.run, query, *(number(float(one.values[label][i])) for label in labels)]
        for one in evaluations
        for i, query in enumerate(one.queries)
    ]
    return Grid(["run", "query", *labels], rows, words=2)


def long_grid(evaluations: Sequence[Evaluation], per_query: bool) -> Grid:
    """Tabulate for programs: run, query (``all`` for aggregates), measure, value in full."""
    rows = []
    for one in evaluations:
        for label, value in one.aggregates.items():
            if per_query:
                pairs = zip(one.queries, one.values[label].tolist(), strict=True)
                rows += [[one.run, query, label, _full(each)] for query, each in pairs]
            rows.append([one.run, "all", label, _full(value)])
    return Grid(["run", "query", "measure", "value"], rows, words=3)


def _full(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


def doubt_lines(evaluations: Sequence[Evaluation]) -> list[str]:
    """List what is doubtful, run by run; what all runs share is said once."""
    shared = [
        doubt.message
        for doubt in evaluations[0].doubts
        if all(doubt in one.doubts for one in evaluations)
    ]
    lines = [f"doubt: {message}" for message in shared]
    for one in evaluations:
        own = [doubt.message for doubt in one.doubts if doubt.message not in shared]
        lines += [f"doubt: {one.run}: {message}" for message in own]
    return lines


def signature_lines(evaluations: Sequence[Evaluation]) -> list[str]:
    """List the signatures, short."""
    one = evaluations[0]
    return shared_lines(map(one.short_signature, one.aggregates))


def shared_lines(signatures: Iterable[str]) -> list[str]:
    """List short signatures; measures that share all but the name share a line."""
    sharing: dict[str, list[str]] = {}
    for signature in signatures:
        measure, _, rest = signature.partition("|")
        sharing.setdefault(rest, []).append(measure)
    return [
        f"signature: {measures[0]}|{rest}"
        if len(measures) == 1
        else f"signature: MEASURE|{rest} for {', '.join(measures)}"
        for rest, measures in sharing.items()
    ]


def heading(evaluations: Sequence[Evaluation]) -> str:
    """Say what the numbers are made of."""
    counts = {int(counted.sum()) for one in evaluations for counted in one.counted.values()}
    least, most = min(counts), max(counts)
    words = f"{most} queries" if least == most else f"{least} to {most} queries"
    intervals = any(not math.isnan(one.interval(label)[0]) for one in evaluations for label in one)
    weighted = any(map(_weighted, evaluations))
    mean = "weighted mean" if weighted else "mean"
    plus_minus = f"; ± is half a 95 % t-interval of the {mean}" if intervals else ""
    words = "1 query" if (least, most) == (1, 1) else words
    words = f"{words}, weighted" if weighted else words
    return f"{words}, convention {evaluations[0].convention}{plus_minus}"


def _weighted(evaluation: Evaluation) -> bool:
    used = (dict(one.settings)["aggregate"] for one in evaluation.signatures.values())
    return any(aggregate.startswith("weighted(") for aggregate in used)


def fitting_grid(evaluations: Sequence[Evaluation], width: int) -> Grid:
    """Tabulate one row a run or, where that is too wide, one row a measure or a row for each."""
    wide = runs_grid(evaluations)
    names = [one.run for one in evaluations]
    columns = [list(cells) for cells in zip(*(row[1:] for row in wide.rows), strict=True)]
    pairs = list(zip(wide.headers[1:], columns, strict=True))
    tall = Grid(["measure", *names], [[label, *cells] for label, cells in pairs])
    rows = [
        [run, label, cell] for label, cells in pairs for run, cell in zip(names, cells, strict=True)
    ]
    longest = Grid(["run", "measure", "value"], rows, words=2)
    return next((grid for grid in (wide, tall) if grid.width <= width), longest)


def text_summary(evaluations: Sequence[Evaluation]) -> str:
    """Write evaluations for people: table, doubts, signatures."""
    notes = [*doubt_lines(evaluations), *signature_lines(evaluations)]
    return "\n".join([plain(runs_grid(evaluations)), "", heading(evaluations), *notes])


def html_summary(evaluations: Sequence[Evaluation]) -> str:
    """Write evaluations for a notebook."""
    import html  # here, because its table of entities takes long to load

    doubts = "".join(f"<li>{html.escape(line)}</li>" for line in doubt_lines(evaluations))
    listed = f"<ul>{doubts}</ul>" if doubts else ""
    signed = "<br>".join(html.escape(line) for line in signature_lines(evaluations))
    words = (
        f"<p>{html.escape(heading(evaluations))}</p>{listed}<small><code>{signed}</code></small>"
    )
    return web(runs_grid(evaluations)) + words
