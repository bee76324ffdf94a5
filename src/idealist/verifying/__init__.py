"""Verifying: whether numbers, best values and marks of a printed table are those of the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from idealist.conventions import DEFAULT, Convention
from idealist.errors import UsageError
from idealist.evaluating.evaluations import Evaluations
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import several_runs
from idealist.measures import as_measure
from idealist.notation import many
from idealist.reconciling.search import Tick
from idealist.rendering.wording import few, told
from idealist.significance.paired import checked_alpha
from idealist.verifying.best_values import BestValue, best_values
from idealist.verifying.caption_words import BestMeaning, best_meaning
from idealist.verifying.checked_numbers import (
    CheckedNumber,
    checked_table,
    columns_of,
    with_origins,
)
from idealist.verifying.mark_meanings import Test
from idealist.verifying.number_origins import OriginFinder
from idealist.verifying.printed_tables import PrintedCell, PrintedTable
from idealist.verifying.significance_marks import MarkChecker, check_baseline
from idealist.verifying.table_claims import ClaimedNumber, TableClaims, check_sentences, claims_of
from idealist.verifying.table_names import TableNames
from idealist.verifying.table_texts import plain_tables, read_tables, sentence_table
from idealist.verifying.verification import Verification

#: For how many rows that are no runs the closest names are looked for.
HINTED = 20

__all__ = ["Verification", "verify"]


def verify(
    table: Any,
    qrels: Any,
    runs: Any,
    *,
    names: Mapping[str, str] | None = None,
    measures: Mapping[str, Any] | None = None,
    only: str = "",
    baseline: str = "",
    alpha: float | None = None,
    test: Test | None = None,
    convention: str | Convention = DEFAULT,
    queries: Iterable[Any] | None = None,
    weights: Any = None,
    tick: Tick = lambda done, total: None,
    **axes: Any,
) -> Verification:
    """Check the numbers of a printed table, its best values and its marks of significance.

    `table` is a file (LaTeX, Markdown, CSV, TSV or JSON), {run: {measure: number}}, or a list of
    claims such as "bm25 nDCG@10 0.4312"; write numbers as text, so that their digits are known.
    `names` and `measures` say what the table calls our runs and measures, where that cannot be
    guessed ("" is no run), and `only` keeps what stands under a title or caption. `baseline`,
    `alpha` and `test` (compare, or one of randomisation, t, wilcoxon, sign and bootstrap, not
    corrected) say how marks were made, where the caption does not. Everything else is as in
    `evaluate`. The result is false where something does not hold.

    >>> found = verify({"mine": {"RR": "0.50"}}, {"q1": {"a": 1}}, {"mine": {"q1": ["b", "a"]}})
    >>> found.summary
    'the only number holds'
    """
    named = several_runs(runs if isinstance(runs, (Mapping, list, tuple)) else [runs])
    known = TableNames([run.name for run in named], names or {}, _measures(measures))
    _check_names(known)
    tables = _tables(table)
    if _is_sentences(table):
        check_sentences(tables[0], known)
    claims = claims_of(tables, known, only)
    checkable = [one for each in claims for one in each.numbers if one.run]
    _check_any(claims, checkable, known)
    own = {str(one.measure): one.measure for one in checkable}
    evaluator = Evaluator(
        qrels, list(own.values()), convention=convention, queries=queries, weights=weights, **axes
    )
    wanted = {one.run for one in checkable}
    ranked = {run.name: evaluator.ranked(run) for run in named if run.name in wanted}
    evaluations = {name: evaluator(run) for name, run in ranked.items()}
    check_baseline(baseline, ranked)
    if alpha is not None:
        alpha = checked_alpha(alpha)
    checked = [checked_table(each, evaluations) for each in claims]
    origins = OriginFinder(evaluator, ranked)
    checked = with_origins(checked, origins, tick)
    best: list[BestValue] = []
    checkers = []
    for each, numbers in zip(claims, checked, strict=True):
        finder = _finder(each, known)
        one = MarkChecker(each, numbers, evaluations, finder, baseline, test, alpha)
        checkers.append(one)
        if not (why := (meant := _best_meaning(each, one.names)).why):
            columns = [(column, _sense(column[0])) for column in columns_of(numbers)]
            best += best_values(columns, meant.among)
        elif each.strange or any(number.cell.stands_out for number in each.numbers):
            one.unread.append(f"what is bold or underlined is not checked: {why}")
    marks = [mark for one in checkers for mark in one.check()]
    return Verification(
        numbers=tuple(one for each in checked for one in each if one.claim.run),
        best=tuple(best),
        marks=tuple(marks),
        unread=(
            *_unread(claims, known),
            *(words for one in checkers for words in one.unread),
            *origins.unread,
        ),
        readings=tuple(words for one in checkers for words in one.readings),
        evaluations=Evaluations(tuple(evaluations.values())),
    )


def _measures(given: Mapping[str, Any] | None) -> dict[str, Any]:
    return {theirs: as_measure(ours) for theirs, ours in (given or {}).items()}


def _tables(table: Any) -> list[PrintedTable]:
    """Read the tables of a file, of plain data, or of claims in words."""
    if isinstance(table, (str, Path)):
        return read_tables(table)
    return [sentence_table(table)] if _is_sentences(table) else plain_tables(table)


def _is_sentences(table: Any) -> bool:
    """Whether claims were typed one by one: then each of them must be understood."""
    listed = isinstance(table, Sequence) and not isinstance(table, str)
    return listed and bool(table) and all(isinstance(one, str) for one in table)


def _check_names(known: TableNames) -> None:
    for theirs, ours in known.run_names.items():
        if ours and ours not in known.runs:
            raise UsageError(f"there is no run {ours!r} for {theirs!r}", known.nearest_run(ours))


def _check_any(
    claims: Sequence[TableClaims], checkable: Sequence[ClaimedNumber], known: TableNames
) -> None:
    """Refuse a table of which nothing can be checked."""
    if checkable:
        return
    labels = dict.fromkeys(one.label for each in claims for one in each.numbers)
    if labels:
        hint = f"--run 'NAME IN THE TABLE=RUN' says which is which; runs: {few([*known.runs])}"
        raise UsageError(f"no run is called {', '.join(map(told, [*labels][:5]))}", hint)
    why = next((words for each in claims for words in each.unread), "there is no number in it")
    hint = (
        "runs and measures name rows and columns; --measure 'NAME=MEASURE' says what a name means"
    )
    raise UsageError(f"the table claims nothing that can be checked: {why}", hint)


# --- best values and marks


def _sense(one: CheckedNumber) -> int:
    """Say whether higher values are better (1), lower ones (-1), or neither."""
    measure = one.claim.measure
    return measure.direction if measure.judges else 0


def _best_meaning(claims: TableClaims, names: Mapping[str, str]) -> BestMeaning:
    """Find what best values are the best of: always all runs by one measure."""
    if claims.strange:
        return BestMeaning(why=claims.strange)
    meant = best_meaning(claims.notes, names)
    if meant.among == ("row" if claims.turned else "column"):
        return BestMeaning("column")
    if meant.among in ("row", "column"):
        return BestMeaning(why=f"the best of each {meant.among} is of several measures")
    return meant


def _finder(claims: TableClaims, known: TableNames) -> Callable[[str], str | None]:
    """Find runs by what this table calls them, or by their own names."""
    labels = {one.label: one.run for one in claims.numbers if one.run}
    return lambda label: labels.get(label) or known.run(PrintedCell.of(label))


def _unread(claims: Sequence[TableClaims], known: TableNames) -> Iterator[str]:
    """Say what is not checked: what was not understood, and what no run is given for."""
    for each in claims:
        if each.numbers and not any(one.run for one in each.numbers):
            numbers = many(len(each.numbers), "number is", "numbers are")
            yield f"{each.place}: no row is a run here: {numbers} not checked"
            continue
        yield from _strangers(each, known)
        yield from each.unread
        if each.strange:
            yield f"marks of significance are not checked: {each.strange}"
        if beside := sum(bool(one.number.beside) for one in each.numbers):
            behind = many(beside, "number", "numbers")
            yield f"what stands behind {behind}, such as ±, is not checked"


def _strangers(claims: TableClaims, known: TableNames) -> Iterator[str]:
    """Name the rows that are no runs here, those with the same hint together."""
    counts = Counter(one.label for one in claims.numbers if not one.run)
    hints: dict[str, list[str]] = {}
    for place, label in enumerate(counts):
        hint = known.nearest_run(label) if place < HINTED else "--run names them"
        hints.setdefault(hint, []).append(label)
    for hint, labels in hints.items():
        numbers = many(sum(counts[label] for label in labels), "number is", "numbers are")
        who = f"{few([*map(told, labels)])} {'is no run' if len(labels) == 1 else 'are no runs'}"
        yield f"{who} here: {numbers} not checked; {hint}"
