"""What a table calls runs and measures, and which of ours these are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

from idealist.errors import UsageError, nearest
from idealist.measures import Measure, parse
from idealist.rendering.wording import few, seen
from idealist.verifying.printed_tables import PrintedCell

_PERCENT = re.compile(
    r"\s*(?:[(\[]\s*(?:in\s+)?%\s*[)\]]|(?:in\s+)?%|[x×*]\s*100)\s*$", re.IGNORECASE
)
_ARROWS = re.compile(r"[↑↓▲▼]|\((?:↑|↓)\)")
#: What heads a column of runs.
LABELS = frozenset({"run", "system", "model", "method", "name", "approach"})
#: How tables shorten names of measures in ways that nothing else has.
OTHERS = {"prec": "P", "prec.": "P", "r-prec": "Rprec", "r-prec.": "Rprec", "s": "Success"}
_USUAL = re.compile(r"^(?:prec\.?|r-prec\.?|s)(?=@\d|$)", re.IGNORECASE)
#: What a name may have behind it that is not part of it: (ours), and what is cited. Anything else
#: may name another system: T5 (zero-shot).
_BEHIND = re.compile(
    r"\s*(?:\((?:ours?|our \w+|this (?:work|paper)|proposed|baseline)\)|\[[\d,;\s–-]+\]"
    r"|[(\[](?:[^()\[\]]*(?:,|\bet al\b\.?)\s*)?(?:19|20)\d\d[a-z]?[)\]])\s*$",
    re.IGNORECASE,
)
#: Signs at an end of a name that make it another one: BERT++, + BERT, - BERT.
_ADDED = re.compile(r"^[+−–-]|[+'′]+$")
#: Heads that mean something else as often as a measure: p-values, ROUGE, a set, accuracy.
_UNSURE = re.compile(r"[a-z]|[Ss]et|[Aa]ccuracy|(?!F1$)[FS][\s_-]*\d+|[PR][\s_-]*[1-4]", re.ASCII)
#: What a name may have in front of it: a., (b).
_BEFORE = re.compile(r"\(?(?P<letter>[a-z]|\d{1,3})[).:]\s*(?P<name>\S.*)")


@lru_cache(10_000)
def folded(name: str) -> str:
    """Leave out case, blanks and punctuation.

    >>> folded("TU_Vienna-TKL 2") == folded("tu vienna tkl_2")
    True
    """
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def _key(name: str) -> str:
    """Fold a name, but for what makes it another one.

    >>> [_key(name) for name in ("BERT_2", "Bert-2++", "+ BERT 2")]
    ['bert2', 'bert2++', '+bert2']
    """
    name = name.strip()
    before, after = (_ADDED.search(one) for one in (name[:1], name[1:]))
    return f"{before[0] if before else ''}{folded(name)}{after[0] if after else ''}"


def pairs_of(words: Iterable[str], kind: str, is_ours: Callable[[str], bool]) -> dict[str, str]:
    """Read ``THEIRS=OURS`` words; each side may hold a = itself.

    >>> pairs_of(["RBP(p=.5)=RBP(p=0.5)"], "measure", lambda text: text == "RBP(p=0.5)")
    {'RBP(p=.5)': 'RBP(p=0.5)'}
    """
    found = {}
    for word in words:
        cuts = [i for i, sign in enumerate(word) if sign == "="]
        pairs = [(word[:i].strip(), word[i + 1 :].strip()) for i in cuts]
        known = [(theirs, ours) for theirs, ours in pairs if theirs and is_ours(ours)]
        if not known:
            hint = f"write --{kind} 'NAME IN THE TABLE=OURS'"
            raise UsageError(f"--{kind} {word!r} names no {kind} that is known", hint)
        theirs, ours = known[0]
        found[theirs] = ours
    return found


def is_measure(text: str) -> bool:
    """Whether a text is a measure."""
    with suppress(UsageError):
        parse(text)
        return True
    return False


@dataclass(frozen=True)
class TableNames:
    """The runs there are, and what tables call runs and measures beyond what can be guessed.

    >>> names = TableNames(["bm25", "mono-t5"], {}, {"M": parse("AP")})
    >>> names.run(PrintedCell("MonoT5 (ours)")), names.measure("nDCG 10 (%)"), names.measure("M")
    ('mono-t5', (nDCG@10, True), (AP, False))
    >>> names.run(PrintedCell("MonoT5 (zero-shot)")), names.measure("p"), names.measure("R2")
    (None, None, None)
    """

    runs: Sequence[str]
    run_names: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, Measure] = field(default_factory=dict)

    def run(self, cell: PrintedCell) -> str | None:
        """Find the run that a cell names: by its name, or by this without case and punctuation.

        A name that the user gave to no run is "".
        """
        exact = self.exact_run(cell)
        if exact is not None:
            return exact
        return next(filter(None, map(self._alike, self._bare(cell.text))), None)

    def exact_run(self, cell: PrintedCell) -> str | None:
        """Find the run that a cell names as it is, or as the user said."""
        shown = {seen(" ".join(run.split())): run for run in self.runs}
        texts = [cell.raw, cell.text, f"{cell.text}{cell.raised}"]
        for text in filter(None, texts):
            if text in self.run_names:
                return self.run_names[text]
            if text in self.runs or text in shown:
                return text if text in self.runs else shown[text]
        return None

    def runs_of(self, cells: Sequence[PrintedCell]) -> list[str]:
        """Find the run of each row, or "": a name that is only like a run's yields to the run's."""
        exact = [self.exact_run(cell) for cell in cells]
        taken = {run for run in exact if run}
        found = [self.run(cell) or "" for cell in cells]
        return [
            run if own or run not in taken else "" for run, own in zip(found, exact, strict=True)
        ]

    def _bare(self, text: str) -> list[str]:
        """Give a name as it is, without what stands behind it, and without a letter before it."""
        bare = _BEHIND.sub("", text)
        lettered = _BEFORE.fullmatch(bare)
        return [text, bare, *([lettered["name"]] if lettered else [])]

    def _alike(self, text: str) -> str | None:
        found = self._all_alike(text)
        return found.pop() if len(found) == 1 else None

    def _all_alike(self, text: str) -> set[str]:
        wanted = _key(text)
        known = {**{run: run for run in self.runs}, **self.run_names}
        return {run for name, run in known.items() if run and wanted and _key(name) == wanted}

    def measure(self, header: str) -> tuple[Measure, bool] | None:
        """Find the measure that a header names, and whether it says that values are in percent."""
        text = " ".join(_ARROWS.sub("", header).split())
        plain = _PERCENT.sub("", text)
        for name in (text, plain):
            if name in self.measures:
                return self.measures[name], name != text
        if _UNSURE.fullmatch(plain):
            return None
        joined = _joined(plain)
        for written in (plain, joined, _USUAL.sub(lambda one: OTHERS[one[0].lower()], joined)):
            with suppress(UsageError):
                return parse(written), plain != text
        return None

    def nearest_run(self, label: str) -> str:
        """Suggest the runs whose names come closest, or say which ones a name may mean."""
        alike = sorted({run for text in self._bare(label) for run in self._all_alike(text)})
        if len(alike) > 1:
            return f"it is ambiguous: {few(alike)}; --run says which one it is"
        return nearest(label, self.runs, else_=[few([*self.runs])])


def nearest_measure(header: str) -> str:
    """Suggest measures for a head that may be a slip; nothing where none is close.

    >>> nearest_measure("nDGC@10"), nearest_measure("ms")
    ('did you mean nDCG or RnDCG?', '')
    """
    if _UNSURE.fullmatch(header):
        return f"--measure '{header}=…' says which one it is, if it is one"
    try:
        parse(_joined(header))
    except UsageError as error:
        hint = str(error.hint)
        return hint if hint.startswith("did you mean") else ""
    return ""


def _joined(text: str) -> str:
    """Write a cutoff as we do: ``nDCG 10``, ``P-5``, ``R@1k`` and ``Recall@1,000``.

    >>> _joined("NDCG10"), _joined("R@1k"), _joined("Recall @ 1,000"), _joined("MAP")
    ('NDCG@10', 'R@1000', 'Recall@1000', 'MAP')
    """
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    text = re.sub(r"(?<=\d)\s*[kK]$", "000", text)
    found = re.fullmatch(r"(.*?[^\d\s@_-])\s*[@ _-]*\s*(\d+)", text)
    return f"{found[1]}@{found[2]}" if found else text


def lettered(cell: PrintedCell) -> str:
    """Return the letter that a label carries, if it does: ``a. bm25`` or a raised one."""
    found = _BEFORE.fullmatch(cell.text)
    return found["letter"] if found else cell.raised
