"""What marks of significance mean, as far as a caption says it: against what, and which test."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from idealist.verifying.caption_words import Sentence, sentences_of
from idealist.verifying.mark_directions import way_of, way_of_letters, way_of_several
from idealist.verifying.printed_tables import SIGNS

Test = Literal["compare", "randomisation", "t", "wilcoxon", "sign", "bootstrap"]

#: What `compare` writes of its test: in a caption in LaTeX, and below its tables.
_OURS = re.compile(
    r"\((?:two-sided )?(?:exact randomisation test|randomisation test, [\d,]+ sign flips"
    r"|randomised Tukey HSD test of all pairs, [\d,]+ permutations)[^()]*\)"
    r"|alpha \S+, two-sided; randomisation\((?:exact|\d+)\), seed \d+; .*"
)
_OUR_ALPHA = re.compile(r"(?:alpha |α=)([\d.e-]+\d)")
#: How captions name tests.
_NAMED: dict[Test, re.Pattern[str]] = {
    "wilcoxon": re.compile(r"wilcoxon|signed[- ]rank", re.IGNORECASE),
    "sign": re.compile(r"\bsign tests?\b", re.IGNORECASE),
    "bootstrap": re.compile(r"bootstrap", re.IGNORECASE),
    "t": re.compile(r"\bt[- ]tests?\b|student", re.IGNORECASE),
    "randomisation": re.compile(r"randomi[sz]ation|permutation", re.IGNORECASE),
}
_CORRECTED = re.compile(r"bonferroni|holm|hochberg|\bcorrect(?:ed|ion|ing)", re.IGNORECASE)
_ALL = re.compile(r"all pairs|pairwise|superscript|\bletter|\brows?\b", re.IGNORECASE)
_SAYS = re.compile(
    r"differ|improve|better|worse|higher|lower|increase|decrease|degrad|gain|drop|loss|outperform",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:than|over|against|to|with|from|wrt|vs|versus|compared|outperform(?:s|ed|ing)?"
    r"|improv(?:es?|ed|ing))\b(.*)",
    re.IGNORECASE | re.DOTALL,
)
#: The level where nothing says one.
USUAL = 0.05
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
    """What is written around a table: the test of its marks, its level, and what signs mean.

    `problem` says why no mark can be checked. `ours` says that `compare` wrote it, `stricter` that
    p-values were corrected in a way that we do not know, `all_pairs` that letters compare every
    run with every other, and `given` is the level that the user said.
    """

    sentences: tuple[Sentence, ...]
    names: Mapping[str, str]
    test: Test
    is_test_said: bool
    levels: tuple[float, ...]
    given: float | None
    all_pairs: bool
    ours: bool
    stricter: bool
    problem: str

    @classmethod
    def of(
        cls, text: str, names: Mapping[str, str], test: Test | None = None,
        alpha: float | None = None,
    ) -> Notes:  # fmt: skip
        """Read a caption; what the user says is so.

        >>> notes = Notes.of("†: better than bm25 (paired t-test, p < 0.01)", {"bm25": "bm25"})
        >>> notes.test, notes.meaning("†")
        ('t', MarkMeaning(sign='†', baseline='bm25', way=1, alpha=0.01))
        >>> Notes.of("† is significant (Welch's t-test)", {}).problem
        'a note is not understood at "Welch\\'s"'
        """
        own = " ".join(_OURS.findall(text))
        sentences = tuple(sentences_of(_OURS.sub(" ", text), names))
        about = [one for one in sentences if one.is_about_significance] if not own else []
        said = " ".join(one.text for one in about)
        kinds = [name for name, pattern in _NAMED.items() if pattern.search(said)]
        problem = next((one.shown for one in about if one.strange), "")
        if len(kinds) > 1 and test is None and not problem:
            problem = "the notes name several tests; --test says which one it is"
        level = _OUR_ALPHA.search(own)
        found = [float(level[1])] if level else [each for one in about for each in one.levels]
        chosen: Test = test or (kinds[0] if kinds else "compare")
        return cls(
            sentences=sentences,
            names=names,
            test=chosen,
            is_test_said=bool(test or kinds or own),
            levels=tuple(dict.fromkeys(found)),
            given=alpha,
            all_pairs="Tukey" in own if own else _ALL.search(said) is not None,
            ours=bool(own),
            stricter=chosen != "compare" and _CORRECTED.search(said) is not None,
            problem=problem,
        )

    @property
    def alpha(self) -> float | None:
        """The one level that is said, or the usual one; nothing where several are said."""
        if self.given is not None:
            return self.given
        return (self.levels or (USUAL,))[0] if len(self.levels) < 2 else None

    @property
    def explained(self) -> set[str]:
        """The signs that the notes speak of."""
        return {sign for one in self.sentences for sign in one.signs}

    def meaning(self, sign: str, baseline: str = "") -> MarkMeaning | str:
        """Find what a sign means, or why that is not known.

        Without a word about it, a sign means a difference from the `baseline`.
        """
        about = [one for one in self.sentences if sign in one.signs]
        if self.problem or len(about) > 1:
            return self.problem or "several sentences speak of it"
        if not about:
            return _meant(sign, baseline, 0, self.alpha)
        [one] = about
        if one.strange or not (one.is_about_significance or _SAYS.search(one.text)):
            return one.shown or f'a note says "{one.text.strip()}"'
        return self._said(one, one.signs.index(sign), baseline)

    def _said(self, one: Sentence, place: int, baseline: str) -> MarkMeaning | str:
        """Find what a sentence says of one of its signs."""
        several, against = len(one.signs), list(dict.fromkeys(self._against(one)))
        if len(against) not in (0, 1, several):
            return f"a note names several runs; {_NAME_IT}"
        if one.runs and not against:  # it may be what is better
            return f'a note says "{one.text.strip()}"'
        other = against[place if len(against) > 1 else 0] if against else baseline
        way = way_of(one.text) if several == 1 else way_of_several(one.text, place, several)
        if way is None or (way != way_of(one.text) and max(len(against), len(one.levels)) > 1):
            return "whether it means better or worse is not clear"
        return _meant(one.signs[place], other, way, self._level(one, place))

    @property
    def way_of_letters(self) -> int | None:
        """What a letter says of its value: better, worse or different; nothing if not clear."""
        about = [one for one in self.sentences if not one.signs and not one.strange]
        texts = [one.text for one in about if one.is_about_significance or _ALL.search(one.text)]
        return 1 if self.ours or not texts else way_of_letters(" ".join(texts))

    def _level(self, sentence: Sentence, place: int) -> float | None:
        """Find the level of one of the signs of a sentence."""
        levels = sentence.levels
        if self.given is not None or not levels:
            return self.alpha
        if len(levels) not in (1, len(sentence.signs)):
            return None
        return levels[place if len(levels) > 1 else 0]

    def _against(self, sentence: Sentence) -> tuple[str, ...]:
        """Find the runs that a sentence compares with, in order."""
        behind = _AGAINST.search(sentence.text)
        if behind is None:
            return ()
        return next(sentences_of(behind[1], self.names)).runs if behind[1].strip() else ()


def _meant(sign: str, baseline: str, way: int, alpha: float | None) -> MarkMeaning | str:
    if not baseline:
        return _NAME_IT
    return MarkMeaning(sign, baseline, way, alpha) if alpha else "its level is not clear"


_NAME_IT = "name the run it compares with by --baseline"


def parts_of(marks: str) -> list[str]:
    """Divide marks into signs, letters and numbers, each once; equal signs in a row are one.

    >>> parts_of("ab†"), parts_of("1,12"), parts_of("***")
    (['a', 'b', '†'], ['1', '12'], ['***'])
    """
    found = re.finditer(rf"\d+|([{SIGNS}])\1*|[^\s,\d]", marks)
    return list(dict.fromkeys(one[0] for one in found))


def letters_in(parts: Iterable[str], letters: Collection[str]) -> list[str]:
    """Keep the marks that stand for rows.

    >>> letters_in(["†", "a", "b"], {"a": "bm25"})
    ['a']
    """
    return [part for part in parts if part in letters]
