"""The table of a comparison for a paper: runs by measures, the best bold, marks of significance."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from string import ascii_lowercase
from typing import TYPE_CHECKING

from idealist._version import __version__
from idealist.comparing.comparison_report import key_to_marks
from idealist.errors import UsageError
from idealist.rendering import latex, terminal
from idealist.rendering.document import Document, Text
from idealist.rendering.wording import number

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison
    from idealist.comparing.pair import Pair
    from idealist.evaluating.evaluation import Evaluation

#: What marks a value that is better than the baseline's, and one that is worse.
BETTER, WORSE = r"$^{\dagger}$", r"$^{\ddagger}$"
#: How many digits values have behind the point, and in percent.
DIGITS, PERCENT_DIGITS = 4, 2
#: What must stand above a table.
PREAMBLE = r"needs \usepackage{booktabs}"


@dataclass(frozen=True)
class PaperStyle:
    """How a table for a paper is written; `made_by` says in comments what it was made of.

    `caption` is LaTeX, to which a sentence about the marks is added; with it or a `label` there is
    a whole table environment. Runs stay in the order given, unless the `best_first` is asked for.
    """

    caption: str = ""
    label: str = ""
    digits: int | None = None
    percent: bool = False
    best_first: bool = False
    made_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.digits is not None and self.digits not in range(10):
            raise UsageError(f"digits cannot be {self.digits!r}", "give a number from 0 to 9")
        plain = re.sub(r"\\.", "", self.caption)
        depths = [0, *accumulate({"{": 1, "}": -1}.get(sign, 0) for sign in plain)]
        if min(depths) < 0 or depths[-1] or re.search(r"[%&#]|\n\s*\n", plain):
            hint = r"it is LaTeX, and one paragraph: close every brace, and write \%, \& and \#"
            raise UsageError(f"the caption {self.caption!r} would break the table", hint)
        if re.search(r"[\\{}%#~,\s]", self.label):
            raise UsageError(f"{self.label!r} cannot be a label", "write it like tab:runs")


def render(comparison: Comparison, style: PaperStyle) -> str:
    """Write the table; what else there is to know stands above and below it as comments."""
    document = comparison.report()
    key = [Text(line) for line in key_to_marks(comparison)]  # which a terminal and a page have
    document = replace(document, notes=tuple(one for one in document.notes if one not in key))
    answer = [block for block in document.blocks if isinstance(block, Text) and block.strong]
    above = latex.render(Document((*document.front, *answer)))
    rows = _rows(comparison, style)
    says = " ".join(_sentences(comparison, style, rows))
    left = ["the slices are not in this table: -f tsv has them"] * bool(comparison.slices)
    made = [f"idealist {__version__}, {PREAMBLE}", *style.made_by]
    below = latex.comment("\n".join([*terminal.notes(document), *left, *made]))
    return "\n\n".join([above, _environment(_tabular(comparison, rows), says, style), below])


def _environment(tabular: str, says: str, style: PaperStyle) -> str:
    """Put the table into its environment, if it has a caption or a label."""
    caption = rf"\caption{{{' '.join(filter(None, [_sentence(style.caption), says]))}}}"
    if not (style.caption or style.label):
        return f"{latex.comment(caption)}\n{tabular}"
    label = [rf"\label{{{style.label}}}"] if style.label else []
    start = [r"\begin{table}", r"\centering", caption, *label, r"\smallskip"]
    return "\n".join([*start, tabular, r"\end{table}"])


def _sentence(caption: str) -> str:
    """End a caption with a full stop, since another sentence follows it.

    >>> _sentence("One"), _sentence("Which is best?"), _sentence(r"\\emph{One.}")
    ('One.', 'Which is best?', '\\\\emph{One.}')
    """
    ended = caption.rstrip("} \n").endswith((".", "!", "?", ":"))
    return caption if ended or not caption.strip() else f"{caption.rstrip()}."


def _tabular(comparison: Comparison, rows: Sequence[Sequence[str]]) -> str:
    """Write the lines; numbers of one width are set left, so that marks have room."""
    heads = [latex.escaped(label) for label in comparison.measures]
    senses = [comparison[label][0].sense for label in comparison.measures]
    arrows = [r" $\downarrow$" if sense < 0 else "" for sense in senses]
    names = [""] * (len(rows[0]) - 1 - len(heads))
    head = [*names, "run", *(head + arrow for head, arrow in zip(heads, arrows, strict=True))]
    lines = [" & ".join(row).lstrip() + r" \\" for row in (head, *rows)]
    start = rf"\begin{{tabular}}{{@{{}}{'l' * len(head)}@{{}}}}"
    return "\n".join(
        [start, r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}"]
    )


# --- the rows


def _rows(comparison: Comparison, style: PaperStyle) -> list[list[str]]:
    """Write a row for each run: its letter where there are any, its name and its values."""
    shown = _ordered(comparison, style)
    letters = _letters([one.run for one in shown]) if comparison.options.all_pairs else {}
    columns = [_column(comparison, label, shown, letters, style) for label in comparison.measures]
    rows = []
    for one, values in zip(shown, zip(*columns, strict=True), strict=True):
        named = [letters[one.run]] if letters else []
        rows.append([*named, latex.escaped(one.run), *values])
    return rows


def _ordered(comparison: Comparison, style: PaperStyle) -> list[Evaluation]:
    """Order the runs: as they were given, or by the primary measure."""
    known = {one.run: one for one in comparison.evaluations}
    given = [known[run] for run in comparison.given or known]
    if not style.best_first:
        return given
    sense = comparison[comparison.primary][0].sense or 1
    values = {one.run: _value(one, comparison.primary) for one in given}
    return sorted(given, key=lambda one: _worst_last(sense * values[one.run]))


def _worst_last(value: float) -> float:
    return math.inf if math.isnan(value) else -value


def _letters(runs: Sequence[str]) -> dict[str, str]:
    """Name the runs by letters, or by numbers where there are more than letters."""
    numbers = [str(place) for place in range(1, len(runs) + 1)]
    names = ascii_lowercase if len(runs) <= len(ascii_lowercase) else numbers
    return dict(zip(runs, names, strict=False))


def _value(one: Evaluation, label: str) -> float:
    return math.nan if one.unmatched else one[label]


def _column(
    comparison: Comparison, label: str, shown: Sequence[Evaluation], letters: dict[str, str],
    style: PaperStyle,
) -> list[str]:  # fmt: skip
    """Write the values of a measure, with digits below each other, the best bold, and marks."""
    pair = comparison[label][0]
    values = {one.run: _value(one, label) for one in shown}
    if pair.aggregate == "sum" and all(one.is_integer() for one in values.values()):
        style = replace(style, digits=0)  # counts
    written = _written(values, style, in_percent=style.percent and pair.in_unit)
    known = [run for run, value in values.items() if not math.isnan(value)]
    best = (
        max(known, key=lambda run: pair.sense * values[run], default=None) if pair.sense else None
    )
    width = max(map(_before_point, written.values()))
    cells = []
    for run, text in written.items():
        room = width - _before_point(text) if run in known else 0
        padding = rf"\phantom{{{'0' * room}}}" if room else ""
        is_best = best is not None and text == written[best]
        bold = rf"\textbf{{{_signs(text)}}}" if is_best else _signs(text)
        cells.append(padding + bold + _marks(comparison, run, label, letters))
    return cells


def _written(values: Mapping[str, float], style: PaperStyle, *, in_percent: bool) -> dict[str, str]:
    scale, usual = (100, PERCENT_DIGITS) if in_percent else (1, DIGITS)
    digits = usual if style.digits is None else style.digits
    return {run: number(scale * value, digits) for run, value in values.items()}


def _before_point(text: str) -> int:
    return len(text.partition(".")[0])


def _signs(text: str) -> str:
    return "--" if text == "-" else text.replace("-", "$-$")


def _marks(comparison: Comparison, run: str, label: str, letters: dict[str, str]) -> str:
    """Mark a value with what it is significantly better than; or worse, if that is the baseline."""
    beaten = comparison.beaten(run, label)
    if comparison.options.all_pairs:
        order = [letters[one] for one in letters if one in beaten]
        sign = "" if len(letters) <= len(ascii_lowercase) else ","
        return rf"\textsuperscript{{{sign.join(order)}}}" if order else ""
    if run == comparison.baseline:
        return ""
    worse = run in comparison.beaten(comparison.baseline, label)
    return BETTER if beaten else WORSE if worse else ""


# --- what is said of it


def _sentences(
    comparison: Comparison, style: PaperStyle, rows: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Say what is bold, what the marks mean, by which test and on how many queries."""
    if any(r"\textbf" in cell for row in rows for cell in row):
        yield "The best values are bold."
    yield f"{_meaning(comparison, rows)} ({_test(comparison)})."
    first, *others = map(latex.escaped, comparison.measures)
    if others:
        verb = (
            "are corrected together by MaxT" if _is_max_t(comparison) else "are corrected together"
        )
        them = f"The other measures {verb}" if len(others) > 1 else f"{others[0]} is"
        yield f"{them} {'and ' * (len(others) > 1)}marked only where {first} is."
    if _has_other_queries(comparison):
        yield "Runs are tested on queries where all have a value; means are over all their own."
    if style.percent:
        apart = [one for one in comparison.measures if not comparison[one][0].in_unit]
        less = f", except {', '.join(map(latex.escaped, apart))}" if apart else ""
        yield f"Values are in percent{less}."


def _has_other_queries(comparison: Comparison) -> bool:
    """Whether a mean that is shown is over queries that some other run has no value for."""
    return any(
        one.counted[pair.measure].sum() > pair.n
        for pair in comparison.pairs
        for one in comparison.evaluations
        if not math.isnan(_value(one, pair.measure))
    )


def _is_max_t(comparison: Comparison) -> bool:
    return comparison.options.correction != "tukey"


def _meaning(comparison: Comparison, rows: Sequence[Sequence[str]]) -> str:
    base, all_pairs = latex.escaped(comparison.baseline), comparison.options.all_pairs
    if not any(pair.significant and pair.sense for pair in comparison.pairs):
        other = "better than another" if all_pairs else f"better or worse than {base}"
        return f"No run is significantly {other}"
    if all_pairs:
        sign = "letter" if len(rows) <= len(ascii_lowercase) else "number"
        return f"A {sign} marks a value significantly better than that of the run of this {sign}"
    used = [mark for mark in (BETTER, WORSE) if any(mark in cell for row in rows for cell in row)]
    words = {BETTER: f"significantly better than {base}", WORSE: f"significantly worse than {base}"}
    return "; ".join(f"{mark}: {words[mark]}" for mark in used)


def _test(comparison: Comparison) -> str:
    """Name the test, the correction, alpha, and how many queries there are."""
    options, pair = comparison.options, comparison[comparison.primary][0]
    runs = len(comparison[comparison.primary])
    flips = (
        f"randomisation test, {pair.draws:,} sign flips"
        if pair.draws
        else "exact randomisation test"
    )
    test = {
        "none": f"two-sided {flips}",
        "maxt": f"two-sided {flips}, corrected for {runs} runs by MaxT",
        "tukey": f"randomised Tukey HSD test of all pairs, {pair.draws:,} permutations",
    }[options.correction]
    return rf"{test}, $\alpha={options.alpha:g}$, {_queries(comparison.pairs)}"


def _queries(pairs: Sequence[Pair]) -> str:
    """Count the queries; measures may leave some out.

    Weights are mentioned, since readers would otherwise compute another mean.
    """
    least, most = min(pair.n for pair in pairs), max(pair.n for pair in pairs)
    count = str(most) if least == most else f"{least} to {most}"
    weighted = "" if pairs[0].weights is None else "weighted "
    return f"{count} {weighted}{'query' if count == '1' else 'queries'}"
