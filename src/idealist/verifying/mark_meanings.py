"""What marks of significance mean, as far as a caption says it: against what, and which test."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from idealist.verifying.printed_tables import SIGNS

Test = Literal["compare", "randomisation", "t", "wilcoxon", "sign", "bootstrap"]

_OURS = re.compile(r"randomi[sz]ation\(|MaxT|Tukey|marked only where", re.IGNORECASE)
#: How captions name tests; the first that is named counts.
_NAMED: dict[Test, re.Pattern[str]] = {
    "wilcoxon": re.compile(r"wilcoxon|signed[- ]rank", re.IGNORECASE),
    "sign": re.compile(r"\bsign tests?\b", re.IGNORECASE),
    "bootstrap": re.compile(r"bootstrap", re.IGNORECASE),
    "t": re.compile(r"\bt[- ]tests?\b|student", re.IGNORECASE),
    "randomisation": re.compile(r"randomi[sz]ation|permutation", re.IGNORECASE),
}
_CORRECTED = re.compile(r"bonferroni|holm|\bcorrect(?:ed|ion)", re.IGNORECASE)
_ALL = re.compile(r"Tukey|all pairs|pairwise|of the (?:run|system) of this", re.IGNORECASE)
_ALPHA = re.compile(r"(?:alpha|α)\s*=?\s*(0?\.\d+)", re.IGNORECASE)
_P = re.compile(r"\bp\s*(?:-value)?\s*(?:<|≤|<=)\s*(0?\.\d+)", re.IGNORECASE)
_SAYS = re.compile(r"signific|differ|improve|better|worse|outperform|\bp\s*[<≤]", re.IGNORECASE)
_WORSE = re.compile(r"\b(?:worse|lower|decrease|degrad)", re.IGNORECASE)
_BETTER = re.compile(r"\b(?:better|higher|improve|increase|outperform|gain)", re.IGNORECASE)
_AGAINST = re.compile(
    r"\b(?:than|over|against|to|with|from|w\.r\.t\.|compared|outperforms?)\s+(.*)"
)
#: Words for the tests.
TESTS: dict[Test, str] = {
    "compare": "as idealist compare tests",
    "randomisation": "by the randomisation test, not corrected",
    "t": "by the paired t-test, not corrected",
    "wilcoxon": "by Wilcoxon's test, not corrected",
    "sign": "by the sign test, not corrected",
    "bootstrap": "by the bootstrap, not corrected",
}


@dataclass(frozen=True)
class MarkMeaning:
    """What one sign means: better (1), worse (-1) or different (0) than the `baseline`."""

    sign: str
    baseline: str
    way: int
    alpha: float


@dataclass(frozen=True)
class Notes:
    """What a caption says of all marks: the test, its level, and whether all pairs were tested.

    `corrects` says that `compare` wrote it for a baseline, `stricter` that p-values were corrected
    in a way that we do not know.
    """

    text: str
    test: Test
    alpha: float
    all_pairs: bool
    corrects: bool
    stricter: bool

    @classmethod
    def of(cls, text: str, test: Test | None = None, alpha: float | None = None) -> Notes:
        """Read a caption; what the user says is so.

        >>> Notes.of("†: better than bm25 (paired t-test, p < 0.01)").test
        't'
        """
        ours = _OURS.search(text) is not None
        named = (name for name, pattern in _NAMED.items() if pattern.search(text))
        said: Test = "compare" if ours else next(named, "compare")
        chosen = said if test is None else test
        found = _ALPHA.search(text) or _P.search(text)
        usual = float(found[1]) if found else 0.05
        return cls(
            text=text,
            test=chosen,
            alpha=usual if alpha is None else alpha,
            all_pairs=_ALL.search(text) is not None,
            corrects="MaxT" in text or "no correction" in text,
            stricter=chosen != "compare" and _CORRECTED.search(text) is not None,
        )

    def meanings(
        self, signs: Collection[str], run: Callable[[str], str | None], labels: Collection[str],
        baseline: str = "",
    ) -> dict[str, MarkMeaning]:  # fmt: skip
        """Find the meaning of signs that a table has, and of those that its caption explains.

        `run` finds the run of a label. Without a word about it, a sign means a difference from the
        `baseline`; what its caption explains as something else is left out.
        """
        explained = {sign for sign in SIGNS if sign in self.text} if self.text else set()
        found = {}
        for sign in sorted({*signs, *explained}):
            clause, place = self._clause(sign)
            if clause and not _SAYS.search(clause):
                continue
            named = self._against(clause, place, run, labels)
            against = named or baseline
            way = -1 if _WORSE.search(clause) else 1 if _BETTER.search(clause) else 0
            both = _WORSE.search(clause) and _BETTER.search(clause)
            level = _P.search(clause)
            alpha = float(level[1]) if level else self.alpha
            if against and (sign in signs or named):
                found[sign] = MarkMeaning(sign, against, 0 if both else way, alpha)
        return found

    def _clause(self, sign: str) -> tuple[str, int]:
        """Find the clause about a sign, and which of the signs in it this is."""
        for clause in re.split(r"(?<=[.;!])\s+", self.text):
            if sign in clause:
                signs = [one for one in clause if one in SIGNS]
                return clause, list(dict.fromkeys(signs)).index(sign)
        return "", 0

    def _against(
        self, clause: str, place: int, run: Callable[[str], str | None], labels: Collection[str]
    ) -> str:
        """Find the run that a clause compares with; several signs name several runs in order."""
        behind = _AGAINST.search(clause)
        if behind is None:
            return ""
        rest, found = behind[1], list[tuple[int, int, str]]()
        for label in labels:
            match = re.search(rf"(?<!\w){re.escape(label)}(?!\w)", rest, re.IGNORECASE)
            if match and (name := run(label)):
                found.append((match.start(), -len(label), name))
        names = list(dict.fromkeys(name for _, _, name in _apart(sorted(found))))
        return names[place] if len(names) > place else names[0] if names else ""


def _apart(found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Leave out names that stand within a longer one."""
    kept, end = list[tuple[int, int, str]](), -1
    for start, length, name in found:
        if start >= end:
            kept.append((start, length, name))
            end = start - length
    return kept


def parts_of(marks: str) -> list[str]:
    """Divide marks into signs, letters and numbers, each once.

    >>> parts_of("ab†"), parts_of("1,12")
    (['a', 'b', '†'], ['1', '12'])
    """
    return list(dict.fromkeys(re.findall(r"\d+|[^\s,\d]", marks)))


def letters_in(marks: str, letters: Mapping[str, str]) -> list[str]:
    """Keep the marks that stand for rows."""
    return [part for part in parts_of(marks) if part in letters]
