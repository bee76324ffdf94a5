"""Marks of significance: which differences are significant, and which are marked so."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from idealist.comparing import Comparison, compare_evaluations
from idealist.comparing.compare_options import TESTS as OTHERS
from idealist.comparing.pair import Pair
from idealist.errors import UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.notation import many
from idealist.rendering.wording import few, p_words
from idealist.verifying.checked_numbers import CheckedNumber
from idealist.verifying.mark_meanings import (
    TESTS,
    MarkMeaning,
    Notes,
    Test,
    letters_in,
    parts_of,
)
from idealist.verifying.printed_tables import SIGNS
from idealist.verifying.table_claims import TableClaims

#: A p-value that rests on random draws says nothing within so many of its standard errors of alpha.
ERRORS = 3
#: What a mark says of its value, in a word.
WAYS = {1: "better", 0: "different", -1: "worse"}


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

    `readings` gathers how marks were read, `unread` what was not understood and is not checked.
    """

    claims: TableClaims
    checked: Sequence[CheckedNumber]
    evaluations: Mapping[str, Evaluation]
    run: Callable[[str], str | None]
    baseline: str = ""
    test: Test | None = None
    alpha: float | None = None
    unread: list[str] = field(default_factory=list)
    readings: list[str] = field(default_factory=list)
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
        names = {name: self.run(name) or "" for name in (*self.runs, *self.labels.values())}
        self.names = {name: run for name, run in names.items() if run}
        notes = Notes.of(self.claims.notes, self.names, self.test, self.alpha)
        self.notes = replace(notes, problem=self.claims.strange or notes.problem)
        self.parts = {
            key: parts_of(one.claim.number.marks) for key, one in self.cells.items()
        }  # fmt: skip

    def check(self) -> list[CheckedMark]:
        """Check all marks that are understood."""
        if not self.cells:
            return []
        used = {part for some in self.parts.values() for part in some if part[0] in SIGNS}
        read = {
            sign: self.notes.meaning(sign, self.baseline if sign in used else "")
            for sign in sorted(used | self.notes.explained)
        }
        meanings = {sign: one for sign, one in read.items() if isinstance(one, MarkMeaning)}
        found = [*self._signs(meanings), *self._letters()]
        self.unread += self._left(found, read)
        return found

    def _left(
        self, found: Sequence[CheckedMark], read: Mapping[str, MarkMeaning | str]
    ) -> Iterator[str]:
        """Say which marks are not checked, and why."""
        done = {(one.run, one.measure, one.sign) for one in found}
        left = Counter(
            sign for key, some in self.parts.items() for sign in some if (*key, sign) not in done
        )
        for sign, count in left.items():
            why: str | MarkMeaning = (
                "it is a baseline's, or a measure's that has no better and worse"
            )
            if isinstance(reason := read.get(sign, why), str):
                why = reason
            if sign[0] not in SIGNS:
                why = why if self.named.get(sign) else "it stands for no run here"
                unclear = "whether a letter means better or worse is not clear"
                why = self.notes.problem or (unclear if self.notes.way_of_letters is None else why)
            where = many(count, "number", "numbers")
            yield f"the mark {sign} of {where} is not checked: {why}"

    # --- signs such as †

    def _signs(self, meanings: Mapping[str, MarkMeaning]) -> Iterator[CheckedMark]:
        """Check signs of which it is known what they mean."""
        for meaning in meanings.values():
            if meaning.baseline not in self.runs or len(self.runs) < 2:
                continue
            self._read(meaning.sign, meaning.baseline, meaning.alpha, meaning.way)
            comparison = self._compared(meaning.baseline, meaning.alpha)
            for (run, measure), some in self.parts.items():
                if run != meaning.baseline and not _is_implied(meaning, some, meanings):
                    pair = _pair(comparison, measure, run, meaning.baseline)
                    yield from self._one(pair, run, meaning, meaning.sign in some)

    def _read(self, sign: str, baseline: str, alpha: float, way: int) -> None:
        """Note how a mark was read."""
        against = f" against {baseline}" if baseline else ""
        unsaid = "" if self.notes.is_test_said else " (no note names a test)"
        self.readings.append(
            f"{sign} is checked{against} {TESTS[self.notes.test]}{unsaid}, at {alpha:g}; "
            f"it is read as {WAYS[way]}"
        )

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
        word = WAYS[meaning.way]
        if not right_way:
            difference = pair.difference if pair.baseline == meaning.baseline else -pair.difference
            return f"it is not {word} {against}: the difference is {difference:+.4f}"
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

    def _letters(self) -> list[CheckedMark]:
        """Check letters: better than the run of the letter, or different.

        Where several runs may have been the baseline, it is the one with the fewest wrong marks.
        """
        beaten = [
            (run, self.named[letter])
            for (run, _), some in self.parts.items()
            for letter in letters_in(some, self.named)
        ]
        alpha, way = self.notes.alpha, self.notes.way_of_letters
        if not beaten or len(self.runs) < 2 or self.notes.problem or alpha is None or way is None:
            return []
        said = bool(self.baseline) or self.notes.all_pairs or self.notes.ours
        if not said:
            words = "which runs were compared is not said: missing letters are not checked"
            self.unread.append(words)
        baselines = self._baselines(beaten)
        tried = [list(self._lettered(one, alpha, way, said)) for one in baselines]
        wrong = [sum(not one.holds for one in found) for found in tried]
        place = wrong.index(min(wrong))
        self._read("a letter", baselines[place], alpha, way)
        return tried[place]

    def _lettered(self, baseline: str, alpha: float, way: int, said: bool) -> Iterator[CheckedMark]:
        """Check letters that compare with a baseline, or all runs with each other."""
        for (run, measure), some in self.parts.items():
            marked = letters_in(some, self.named)
            for letter, other in self.named.items():
                within = not baseline or baseline in (run, other)
                if other in self.runs and other != run and (letter in marked or (said and within)):
                    comparison = self._compared(baseline if within else "", alpha)
                    pair = _pair(comparison, measure, run, other)
                    meaning = MarkMeaning(letter, other, way, alpha)
                    yield from self._one(pair, run, meaning, letter in marked)

    def _baselines(self, beaten: Sequence[tuple[str, str]]) -> list[str]:
        """Find the runs that letters may compare with; nothing stands for all pairs."""
        if self.baseline:
            return [self.baseline]
        if self.notes.all_pairs:
            return [""]
        counts = Counter(run for pair in beaten for run in pair)
        most = max(counts.values())
        common = [run for run in self.runs if counts[run] == most]
        return common if self.notes.ours and common else [*common, ""]

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


def _is_implied(
    meaning: MarkMeaning, some: Collection[str], meanings: Mapping[str, MarkMeaning]
) -> bool:
    """Whether a mark that is not there is implied by one of a stricter level."""
    others = (meanings[sign] for sign in some if sign in meanings)
    return meaning.sign not in some and any(
        (one.baseline, one.way) == (meaning.baseline, meaning.way) and one.alpha < meaning.alpha
        for one in others
    )


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
