"""Marks of significance: which differences are significant, and which are marked so."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from idealist.comparing import Comparison, compare_evaluations
from idealist.comparing.compare_options import TESTS as OTHERS
from idealist.comparing.pair import Pair
from idealist.errors import UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.notation import many
from idealist.rendering.wording import few, p_words
from idealist.verifying.checked_numbers import CheckedNumber
from idealist.verifying.mark_meanings import TESTS, MarkMeaning, Notes, letters_in, parts_of
from idealist.verifying.printed_tables import SIGNS
from idealist.verifying.table_claims import TableClaims

#: A p-value that rests on random draws says nothing within so many of its standard errors of alpha.
ERRORS = 3


@dataclass(frozen=True)
class CheckedMark:
    """A difference that is marked as significant, or is significant and not marked."""

    label: str
    run: str
    baseline: str
    measure: str
    sign: str
    marked: bool
    holds: bool
    p: float
    p_t: float
    p_randomisation: float
    why: str

    @property
    def said(self) -> str:
        """What the table says of the difference."""
        return f"marked {self.sign}" if self.marked else f"not marked {self.sign}"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "run": self.run, "label": self.label, "measure": self.measure,
            "baseline": self.baseline, "mark": self.sign, "marked": self.marked,
            "holds": self.holds, "p": self.p, "p_t": self.p_t,
            "p_randomisation": self.p_randomisation, "why": self.why,
        }  # fmt: skip


@dataclass
class MarkChecker:
    """Checks the marks of one table; comparisons are made once for each baseline.

    `unread` gathers what was not understood, and so is not checked.
    """

    claims: TableClaims
    checked: Sequence[CheckedNumber]
    evaluations: Mapping[str, Evaluation]
    notes: Notes
    run: Callable[[str], str | None]
    baseline: str = ""
    unread: list[str] = field(default_factory=list)
    known: dict[tuple[str, float], Comparison] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cells = {
            (one.claim.run, str(one.claim.measure)): one for one in self.checked if one.claim.run
        }
        self.runs = list(dict.fromkeys(run for run, _ in self.cells))
        self.measures = list(dict.fromkeys(measure for _, measure in self.cells))
        self.labels = {run: one.claim.label for (run, _), one in self.cells.items()}
        self.named = {
            letter: self.run(label) or "" for letter, label in self.claims.letters.items()
        }

    def check(self) -> list[CheckedMark]:
        """Check all marks that are understood."""
        marks = {key: one.claim.number.marks for key, one in self.cells.items()}
        signs = {sign for some in marks.values() for sign in some if sign in SIGNS}
        names = {*self.labels.values(), *self.runs}
        meanings = self.notes.meanings(signs, self.run, names, self.baseline)
        found = [*self._signs(meanings, marks), *self._letters(marks)]
        self.unread += self._left(found, meanings, marks)
        return found

    def _left(
        self, found: Sequence[CheckedMark], meanings: Collection[str],
        marks: Mapping[tuple[str, str], str],
    ) -> Iterator[str]:  # fmt: skip
        """Say which marks are not checked, and why."""
        done = {(one.run, one.measure, one.sign) for one in found}
        left = Counter(
            sign
            for key, some in marks.items()
            for sign in parts_of(some)
            if (*key, sign) not in done
        )
        for sign, count in left.items():
            why = "it is a baseline's, or a measure's that has no better and worse"
            if sign not in meanings and sign in SIGNS:
                why = "name the run it compares with by --baseline"
            elif sign not in SIGNS and not self.named.get(sign):
                why = "it stands for no run here"
            where = many(count, "number", "numbers")
            yield f"the mark {sign} of {where} is not checked: {why}"

    # --- signs such as †

    def _signs(
        self, meanings: Mapping[str, MarkMeaning], marks: Mapping[tuple[str, str], str]
    ) -> Iterator[CheckedMark]:
        """Check signs of which it is known what they mean."""
        for meaning in meanings.values():
            if meaning.baseline not in self.runs or len(self.runs) < 2:
                continue
            comparison = self._compared(meaning.baseline, meaning.alpha)
            for (run, measure), some in marks.items():
                if run != meaning.baseline:
                    pair = _pair(comparison, measure, run, meaning.baseline)
                    yield from self._one(pair, run, meaning, meaning.sign in some)

    def _one(
        self, pair: Pair | None, run: str, meaning: MarkMeaning, marked: bool
    ) -> Iterator[CheckedMark]:
        """Check whether a difference is significant the way that the sign says.

        Where p-values were corrected in a way that we do not know, a mark needs p itself, and a
        missing one Bonferroni's.
        """
        if pair is None or math.isnan(p := self._p(pair)):
            return
        side = _side(pair, run)
        right_way = side == meaning.way if meaning.way else marked or side > 0
        tests = (len(self.runs) - 1) * len(self.measures) if self.notes.stricter else 1
        significant = right_way and (p if marked else p * tests) < meaning.alpha
        near = right_way and self._is_near(pair, p, meaning.alpha)
        if not (marked or significant):
            return
        holds = marked == significant or near
        why = f"{p_words(p)} is too near {meaning.alpha:g} to tell"
        if not near:
            why = self._why(pair, p, meaning, right_way, significant)
        yield CheckedMark(
            self.labels[run], run, meaning.baseline, pair.measure, meaning.sign, marked, holds, p,
            pair.p_t, pair.p_randomisation, why,
        )  # fmt: skip

    def _why(
        self, pair: Pair, p: float, meaning: MarkMeaning, right_way: bool, significant: bool
    ) -> str:
        against = f"from {meaning.baseline}" if not meaning.way else f"than {meaning.baseline}"
        word = {0: "different", 1: "better", -1: "worse"}[meaning.way]
        if not right_way:
            return f"it is not {word} {against}: the difference is {pair.difference:+.4f}"
        test = TESTS[self.notes.test]
        if significant:
            return f"it is significantly {word} {against}: {p_words(p)} {test}"
        others = {"randomisation test": pair.p_randomisation, "t-test": pair.p_t}
        known = ((name, each) for name, each in others.items() if each < meaning.alpha)
        alone = "".join(f"; by the {name} alone, {p_words(each)}" for name, each in known)
        return f"it is not significantly {word} {against}: {p_words(p)} {test}{alone}"

    def _p(self, pair: Pair) -> float:
        """Return the p-value of the test that decides."""
        ways = {"compare": pair.p_adjusted, "randomisation": pair.p_randomisation, "t": pair.p_t}
        return {**ways, **pair.tests}[self.notes.test]

    def _is_near(self, pair: Pair, p: float, alpha: float) -> bool:
        """Whether another seed could decide otherwise; that of `compare` is the same as ours."""
        if not pair.draws or self.notes.test not in ("compare", "randomisation"):
            return False
        return abs(p - alpha) < ERRORS * math.sqrt(alpha * (1 - alpha) / pair.draws)

    # --- letters of rows

    def _letters(self, marks: Mapping[tuple[str, str], str]) -> Iterator[CheckedMark]:
        """Check letters: better than the run of the letter."""
        found = {key: letters_in(some, self.claims.letters) for key, some in marks.items()}
        beaten = [(key[0], self.named[letter]) for key, some in found.items() for letter in some]
        if not beaten or len(self.runs) < 2:
            return
        baseline = self._common(beaten)
        comparison = self._compared(baseline, self.notes.alpha)
        for (run, measure), some in found.items():
            for letter, other in self.named.items():
                if other in self.runs and other != run and baseline in ("", run, other):
                    meaning = MarkMeaning(letter, other, 1, self.notes.alpha)
                    pair = _pair(comparison, measure, run, other)
                    yield from self._one(pair, run, meaning, letter in some)

    def _common(self, beaten: Sequence[tuple[str, str]]) -> str:
        """Find the baseline that all marks are about, or nothing where all pairs were tested."""
        if self.notes.all_pairs:
            return ""
        if self.baseline:
            return self.baseline
        counts = Counter(run for pair in beaten for run in dict.fromkeys((pair[1], pair[0])))
        run, most = counts.most_common(1)[0]
        alike = most >= max(len(beaten) - 1, 2) or self.notes.corrects
        return run if alike and run in self.runs else ""

    def _compared(self, baseline: str, alpha: float) -> Comparison:
        """Compare all runs of the table with a baseline, or with each other."""
        if (baseline, alpha) not in self.known:
            evaluations = [self.evaluations[run] for run in self.runs]
            against: Any = {"baseline": baseline} if baseline else {"all_pairs": True}
            against["tests"] = [self.notes.test] if self.notes.test in OTHERS else []
            self.known[baseline, alpha] = compare_evaluations(
                evaluations, self.measures, alpha=alpha, **against
            )
        return self.known[baseline, alpha]


def _pair(comparison: Comparison, measure: str, run: str, other: str) -> Pair | None:
    """Find the pair of two runs, whichever of them is the baseline; nothing without a sense."""
    pairs = (pair for pair in comparison[measure] if {pair.run, pair.baseline} == {run, other})
    found = next(pairs, None)
    return found if found is not None and found.sense else None


def _side(pair: Pair, run: str) -> int:
    """Say whether a run is better (1) or worse (-1) than the other one of the pair."""
    return 1 if pair.better == (pair.run == run) else -1


def check_baseline(baseline: str, runs: Collection[str]) -> None:
    """Refuse a baseline that is no run of the table."""
    if baseline and baseline not in runs:
        raise UsageError(f"{baseline} is not in the table", f"it has {few(sorted(runs))}")
