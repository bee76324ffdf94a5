"""What the sentences around a table say, as far as every word of them is understood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from idealist.verifying.printed_tables import SIGNS

Thing = TypeVar("Thing")

#: Words that say nothing by themselves.
_GLUE = """
    a all also an and any are as at be between both by column columns compared comparing denote
    denoted denotes each effectiveness every for from given in indicate indicated indicates is it
    its mark marked marker marking marks mean means measure measures metric metrics model models
    obtained of on or our over per performance quality queries ranker rankers reported represent
    represents resp respective respectively result results retrieval run runs same score scores set
    show shown shows sign signs stand stands symbol symbols system systems table test tests than
    that the their them these they this those to topics use used using value values versus vs was
    we were when where which with wrt
"""
#: Words about differences, tests and their levels. No word of negation is among them, nor a test
#: that we do not make, nor a side: a sentence that has one is not understood.
_SIGNIFICANCE = """
    according against alpha based baseline baselines benjamini better bonferroni bootstrap
    comparison comparisons compares confidence correct corrected correcting correction
    corresponding decrease decreases degradation degradations degrade degrades differ difference
    differences different differs drop drops fisher fisher's gain gains greater higher hochberg
    holm improve improved improvement improvements improves improving increase increased increases
    index indexes less letter letters level levels loss losses lower method methods most multiple
    number numbers other others outperform outperformed outperforming outperforms p paired pair
    pairs pairwise permutation randomisation randomised randomization randomized rank relative
    respect row rows sided signed significance significant significantly smaller statistical
    statistically student student's students superscript superscripts t tailed testing two under
    wilcoxon worse α below
"""
#: Words about what is bold or underlined.
_BEST = """
    best block blocks bold bolded boldface boldfaced face font group groups highest lowest
    highlighted overall performing print row rows runner second section sections top type underline
    underlined underlining up
"""
#: Words for what a best value is the best of.
_AMONG = {
    "column": re.compile(r"\b(?:columns?|overall)\b", re.IGNORECASE),
    "block": re.compile(r"\b(?:block|group|section)s?\b", re.IGNORECASE),
    "row": re.compile(r"\brows?\b", re.IGNORECASE),
}
WORDS = {name: frozenset(words.split()) for name, words in (
    ("glue", _GLUE), ("significance", _SIGNIFICANCE), ("best", _BEST),
)}  # fmt: skip
#: What makes a sentence one about significance, whatever else it says.
_ABOUT = re.compile(
    r"signific|\bp[\s-]*(?:values?\b|[<>≤≥=≪])|\bt[- ]?tests?\b|wilcoxon|bootstrap|permutation"
    r"|randomi[sz]ation test|student['’]?s? t\b|welch|tukey|\bhsd\b|anova|nemenyi|mcnemar|friedman"
    r"|\b(?:one|two|single)[- ](?:sided|tailed)|confidence|α\s*=|bonferroni|\bholm|hochberg"
    r"|indistinguishable|%\s+level",
    re.IGNORECASE,
)
#: What means the reverse of its words, or a relation that is no level of a test.
_REVERSED = re.compile(
    r"\bothers?\s+than\b|\b(?:than|over)\s+which\b|\bless\b(?!\s+than\s+[.,]?\d)"
    r"|\b(?:greater|higher|over)\s+(?:than\s+)?(?=[.,]?\d)|\d\s*%?\s*[<≤≪]"
    r"|\b(?:outperform|improv|increas)ed\b"
    r"(?:(?!\b(?:marked|denoted|indicated|shown|represented)\b).)*\bby\b",
    re.IGNORECASE | re.DOTALL,
)
_BOLD = re.compile(r"\bbold|\bunderlin", re.IGNORECASE)
#: Points that end no sentence.
_SHORT = {"w.r.t.": "wrt", "vs.": "vs", "resp.": "resp", "i.e.": "", "cf.": "cf", "et al.": "et al"}
_TOKEN = re.compile(
    r"(?P<level>10\s*\^?[-−]\s*\d+|\d+(?:[.,]\d+)?[eE][-−]\d+|(?:\d+(?:[.,]\d+)?|[.,]\d+)\s*%?)"
    rf"|(?P<sign>([{SIGNS}])\3*)|(?P<command>\\[A-Za-z@]+)|(?P<word>[^\W\d_](?:[^\W_]|['’](?=s))*)|(?P<relation>[<≤=≪])"
    r"|(?P<gap>[\s.,;:!()\[\]{}'’\"“”/+–—-])|(?P<other>.)",
    re.DOTALL,
)  # fmt: skip


@dataclass(frozen=True)
class Sentence:
    """A sentence with the signs, levels and runs that it names, and what was not `understood`."""

    text: str
    signs: tuple[str, ...]
    levels: tuple[float, ...]
    runs: tuple[str, ...]
    strange: tuple[str, ...]

    @property
    def is_about_significance(self) -> bool:
        """Whether it speaks of significance."""
        return _ABOUT.search(self.text) is not None

    @property
    def shown(self) -> str:
        """What is said of it where it is not understood."""
        return f'a note is not understood at "{self.strange[0]}"' if self.strange else ""


def sentences_of(
    text: str, names: Mapping[str, str], words: tuple[str, ...] = ("glue", "significance")
) -> Iterator[Sentence]:
    """Divide a text into sentences and read each; `names` are the runs by what they are called.

    >>> [one] = sentences_of("† is better than BM25 (p < 1%).", {"bm25": "r1"})
    >>> one.signs, one.levels, one.runs, one.strange
    (('†',), (0.01,), ('r1',), ())
    >>> next(sentences_of("† is not significant.", {})).strange
    ('not',)
    """
    text = re.sub(r"\btab(?:le|\.)\s*\d+\s*[.:]?", " ", text, flags=re.IGNORECASE)
    for short, long in _SHORT.items():  # their points end no sentence
        text = text.replace(short, long)
    known = frozenset[str]().union(*(WORDS[one] for one in words))
    for sentence in re.split(r"(?<=[.;!?])\s+", text):
        if sentence.strip():
            yield _read(sentence, names, known)


def _read(sentence: str, names: Mapping[str, str], known: frozenset[str]) -> Sentence:
    folded = {name.casefold(): run for name, run in names.items() if name.strip()}
    listed = sorted(map(re.escape, folded), key=len, reverse=True)
    named = re.compile(rf"(?<![\w-])(?:{'|'.join(listed)})(?![\w-])", re.IGNORECASE)
    signs, levels, runs, strange, at = list[str](), list[float](), list[str](), list[str](), 0
    while at < len(sentence):
        found = named.match(sentence, at) if listed else None
        if found:
            runs.append(folded[found[0].casefold()])
        else:
            found = _TOKEN.match(sentence, at)
            assert found is not None  # one of the alternatives is any character
            kind, token = found.lastgroup, found[0]
            if kind == "sign":
                signs.append(token)
            elif kind == "level" and (level := _level(token)) is not None:
                levels.append(level)
            elif kind in ("level", "command", "other") or (
                kind == "word" and token.casefold().replace("’", "'") not in known
            ):
                strange.append(token)
        at = found.end()
    if not strange and (turned := _REVERSED.search(sentence)):
        strange.append(turned[0].strip())
    return Sentence(sentence, _once(signs), _once(levels), _once(runs), _once(strange))


def _once(some: Iterable[Thing]) -> tuple[Thing, ...]:
    return tuple(dict.fromkeys(some))


def _level(token: str) -> float | None:
    """Read a level; one of confidence is its complement.

    >>> [_level(token) for token in ("0.01", "99 %", "10-3", "1e-2", ".95", "0,01", "43")]
    [0.01, 0.01, 0.001, 0.01, 0.05, 0.01, None]
    """
    text = re.sub(r"\s", "", token).replace(",", ".").replace("−", "-")
    if power := re.fullmatch(r"10\^?(-\d{1,2})", text):
        value = float(f"1e{power[1]}")
    else:
        value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    value = round(1 - value, 12) if 0.8 <= value < 1 else value
    return value if 1e-6 <= value <= 0.2 else None


@dataclass(frozen=True)
class BestMeaning:
    """What a best value is the best of (column, block or row), or why bold does not mean best."""

    among: str = ""
    why: str = ""


def best_meaning(text: str, names: Mapping[str, str]) -> BestMeaning:
    """Find what bold and underlined mean; without a word about it, the best of nobody knows what.

    >>> best_meaning("The best results are bold.", {}), best_meaning("Best per row in bold.", {})
    (BestMeaning(among='', why=''), BestMeaning(among='row', why=''))
    >>> best_meaning("Bold: our results.", {}).why
    'a note says "Bold: our results."'
    >>> best_meaning("Bold denotes a significant improvement.", {}).why
    'a note is not understood at "significant"'
    """
    among: list[str] = []
    for one in sentences_of(text, names, ("glue", "best", "significance")):
        if _BOLD.search(one.text):
            plain = sentences_of(one.text, names, ("glue", "best"))
            strict = one if one.signs else next(plain)
            says = re.search(
                r"\b(?:best|highest|lowest|top|runner|second)", one.text, re.IGNORECASE
            )
            found = [name for name, words in _AMONG.items() if words.search(one.text)]
            among = list(dict.fromkeys([*among, *found]))
            if strict.strange or not says or len(among) > 1:
                return BestMeaning(why=strict.shown or f'a note says "{one.text.strip()}"')
    return BestMeaning("".join(among))
