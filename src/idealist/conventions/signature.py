"""The signature: the identity of the instrument that made a number, as text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import quote, unquote

from idealist._version import RULES, __version__
from idealist.conventions import CONVENTIONS, Convention, convention
from idealist.data import Qrels
from idealist.errors import UsageError
from idealist.measures import parse
from idealist.measures.base import Measure
from idealist.measures.instrument import Instrument, check_axes
from idealist.notation import split, text

WORDS: dict[str, str] = {
    # What a signature holds beside the axes.
    "measure": "these are two different measures",
    "cutoff": "the measure looks at more or fewer ranks",
    "qrels": "the judgments differ",
    "merge": "several judges become one grade by a different rule",
    "corrected": "the mean is corrected by the labels of another model",
    "rules": "idealist itself computes something differently since",
    # The protocol: how a run becomes a ranking, and which queries count.
    "precision": "scores are compared in single or double precision",
    "order": "the list is ordered by something other than its scores",
    "ties": "documents with equal scores come in a different order",
    "duplicates": "a different row of a repeated document counts",
    "nonfinite": "NaN and infinite scores are treated differently",
    "depth": "the list is cut at a different rank before measuring",
    "exclude_self": "a document with its query's own id is left out, or not",
    "unjudged": "unjudged documents keep their rank, or are removed",
    "negative": "documents with negative grades are kept, dropped or refused",
    "grades": "fractional grades are kept or cut; zeros may be dropped",
    "collapse": "chunks count as the document they come from, or not",
    "missing": "judged queries missing from the run count as 0 or not at all",
    "unknown": "queries without judgments are ignored or refused",
    # The aggregate: how the values of queries become one.
    "aggregate": "the values of queries are combined differently",
    "round": "values are rounded to different digits, or at another stage",
    # Grades, gains and ranks.
    ".gain": "a grade is worth more or less",
    ".rel": "a different grade is the lowest that counts",
    ".rel_op": "the grade at the limit counts as relevant, or not",
    ".negative": "negative grades are read differently",
    ".discount": "lower ranks are discounted more or less",
    ".ideal": "the ideal list is built from different documents",
    ".ideal_cut": "the ideal list is cut at a different rank",
    ".ideal_negative": "the ideal list includes negative gains, or not",
    ".denominator": "the sum is divided by something else",
    ".no_relevant": "queries without relevant documents count differently",
    ".positive_score": "documents with a score of 0 or less count, or not",
    ".block_end": "precision is taken at the end of each tie, or not",
    ".max_grade": "a different grade is the highest possible",
    ".probability": "a grade means a different probability to stop",
    ".scale": "gains are divided by the query's highest, or not",
    ".normalise_depth": "the weights of ranks are normalised to a different depth",
    ".alpha": "repeating a subtopic costs more or less",
    # Readers.
    ".p": "readers go on with a different probability",
    ".decay": "readers go on with a different probability",
    ".gamma": "a document that is not relevant weighs more or less",
    "NCU.gamma": "readers go on with a different probability",
    "NRBP.beta": "readers go on with a different probability",
    "nNRBP.beta": "readers go on with a different probability",
    ".beta": "one of two parts weighs more against the other",
    "F.beta": "recall weighs more or less against precision",
    "SET.beta": "returns diminish faster or more slowly",
    ".readers": "readers stop at different ranks",
    ".model": "a different reader is modelled",
    ".report": "a different quantity is reported for the same reader",
    ".cost": "looking at a document costs more or less",
    ".cost_column": "the cost of a document comes from another column",
    ".max_depth": "readers may go to a different rank",
    ".T": "readers want more or less gain",
    ".K": "readers can spend more or less",
    ".L": "readers can spend more or less",
    ".halflife": "readers stop earlier or later",
    ".rate": "later gain is discounted more or less",
    ".stop": "something else makes readers stop",
    ".hb": "gain changes what readers want more or less",
    ".hc": "gain changes what readers will spend more or less",
    ".gain_med": "a different gain leaves goal and budget as they are",
    ".A": "readers expect more or less gain elsewhere",
    ".R1": "the goal decides more or less",
    ".R2": "the rate decides more or less",
    ".b1": "readers go on at their goal with different odds",
    ".b2": "readers leave at that rate with different odds",
    # What single measures have.
    ".a": "a relevant document retrieved is worth more or less",
    ".b": "a non-relevant document retrieved is worth more or less",
    ".c": "a relevant document missed is worth more or less",
    ".d": "a non-relevant document left out is worth more or less",
    ".documents": "the collection is larger or smaller",
    ".all_judged": "a list without unjudged documents has a different value",
    ".of": "different preferences count",
    ".nonrelevant": "different non-relevant documents count",
    ".normalize": "the overlap is divided by the ideal list's, or not",
    ".points": "different recall points are used",
    ".recall": "a different share of the relevant documents is asked for",
    ".rounding": "a share of the relevant documents is rounded differently",
    ".times": "a different multiple of R is looked at",
    ".signal": "a different column of the judgments is used",
    ".unit": "characters of the evidence are counted, or its pieces",
    ".repeats": "text that chunks share counts once, or with each of them",
    ".squash": "the value is squashed to a range, or not",
}


def meaning(axis: str) -> str:
    """Say what it means that an axis differs.

    >>> meaning("nDCG.ideal")
    'the ideal list is built from different documents'
    """
    _, dot, name = axis.rpartition(".")
    return WORDS.get(axis) or WORDS.get(f"{dot}{name}") or "a rule of the measure's own differs"


@dataclass(frozen=True)
class Signature:
    """What made a number: measure, protocol, aggregate, judgments and rules, never the run.

    Its text is the measure with every parameter, then ``key:value`` for everything else, divided
    by ``|``. It is derived from the objects that the computation receives. The short form names a
    convention and what differs from it.

    >>> written = "nDCG@10|trec_eval+unjudged:drop|qrels:2057cbf8e7|rules:1"
    >>> str(Signature.parse(written))[:49]
    'nDCG(gain=linear,rel=none,negative=zero,discount='
    """

    measure: str
    settings: tuple[tuple[str, str], ...]
    qrels: str
    rules: str = str(RULES)
    version: str = field(default=__version__, compare=False)

    @classmethod
    def of(cls, instrument: Instrument, qrels: str) -> Signature:
        """Derive the signature of an instrument used with judgments of a hash."""
        settings = instrument.protocol.written() | instrument.aggregate.written()
        written = tuple((key, text(value)) for key, value in settings.items())
        return cls(_full(instrument.measure), written, qrels)

    def __str__(self) -> str:
        fields = [f"{key}:{_quote(value)}" for key, value in self.settings]
        return "|".join([_quote(self.measure), *fields, *self._ending, f"v:{self.version}"])

    @property
    def _ending(self) -> list[str]:
        return [f"qrels:{self.qrels}", f"rules:{self.rules}"]

    @classmethod
    def parse(cls, written: str) -> Signature:
        """Read a signature in its long or its short form."""
        measure, *fields = written.strip().split("|")
        if measure == "MEASURE":
            hint = "put the measure's name there, and leave out what stands behind rules"
            raise UsageError("MEASURE stands for several measures", hint)
        name, *changes = fields[0].split("+") if fields else [""]
        short = bool(name) and ":" not in name
        values = _pairs(fields[1:] if short else fields, written)
        if not {"qrels", "rules"} <= values.keys():
            raise _unreadable(written)
        ending = {key: values.pop(key) for key in ("qrels", "rules")}
        version = values.pop("v", __version__)
        if not short:
            _taken_apart(unquote(measure))
            return cls(unquote(measure), tuple(values.items()), **ending, version=version)
        one, axes = parse(unquote(measure)), _pairs(changes, written)
        named = {key: axes.pop(key) for key in list(axes) if _NAMED.fullmatch(f"{key}:{axes[key]}")}
        check_axes(axes, [one])
        usual = cls.of(convention(name).instrument(one, axes), ending["qrels"])
        settings = tuple((key, named.get(key, value)) for key, value in usual.settings)
        settings += tuple(values.items())
        return replace(usual, settings=settings, rules=ending["rules"], version=version)

    def short(self, base: Convention) -> str:
        """Name a convention and what differs from it."""
        try:
            measure = parse(self.measure)
        except UsageError:  # a user's own measure has no shorter form
            return str(self)
        written = _minimal(measure, base)
        usual = Signature.of(base.instrument(written), self.qrels)
        if usual.measure != self.measure:  # the convention would cut what is not cut here
            return str(self)
        known = dict(usual.settings)
        axes: list[str] = []
        beside: list[str] = []  # what a convention says nothing of, such as a test, stands behind
        for key, value in self.settings:
            if known.get(key) != value:
                (axes if key in known else beside).append(f"{key}:{_quote(value)}")
        start = [_quote(str(written)), "+".join([base.name, *axes])]
        return "|".join([*start, *self._ending, *beside])

    def by(self, name: str) -> str:
        """Write it short by the name of a convention, or in full if that is none.

        >>> one = Signature.parse("AP|sklearn|qrels:2057cbf8e7|rules:1")
        >>> one.by("sklearn"), one.by("mine") == str(one)
        ('AP|sklearn|qrels:2057cbf8e7|rules:1', True)
        """
        known = CONVENTIONS.get(name)
        return self.short(known) if known else str(self)

    @cached_property
    def fields(self) -> dict[str, str]:
        """Every axis with its value, the measure's own included."""
        name, own, cutoff = _taken_apart(self.measure)
        prefixed = {f"{name}.{key}": value for key, value in own.items()}
        start, end = {"measure": name, "cutoff": cutoff}, {"qrels": self.qrels, "rules": self.rules}
        return start | prefixed | dict(self.settings) | end

    def diff(self, other: Signature) -> dict[str, tuple[str, str]]:
        """Give the axes that differ; two numbers are comparable only if there are none."""
        keys = dict.fromkeys([*self.fields, *other.fields])
        pairs = {key: (self.fields.get(key, "-"), other.fields.get(key, "-")) for key in keys}
        return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


#: Axes whose value names a content that a signature does not hold: it can be read, not computed.
_NAMED = re.compile(r"(collapse:map|aggregate:weighted)\([0-9a-f]{10}\)")
_MEASURE = re.compile(r"(?P<name>[\w.-]+)\((?P<inside>.*)\)(?:@(?P<cutoff>\d+))?")


def _taken_apart(measure: str) -> tuple[str, dict[str, str], str]:
    """Give the name, the parameters and the cutoff of a measure with every parameter set."""
    match = _MEASURE.fullmatch(measure)
    try:
        if match is None:
            raise ValueError(measure)
        own = dict(part.split("=", 1) for part in split(match["inside"]))
    except ValueError:
        raise _unreadable(measure) from None
    return match["name"], own, match["cutoff"] or "none"


def signatures(instruments: Mapping[str, Instrument], qrels: Qrels) -> dict[str, Signature]:
    """Sign each measure; a rule that merged several judges is named behind."""
    merge = (("merge", qrels.merge),) if qrels.merge else ()
    signed = {label: Signature.of(one, qrels.hash) for label, one in instruments.items()}
    return {
        label: replace(one, settings=(*one.settings, *merge)) if merge else one
        for label, one in signed.items()
    }


def shortened(signatures: Mapping[str, Signature], name: str) -> dict[str, str]:
    """Write the signatures of several measures by the name of a convention."""
    return {label: one.by(name) for label, one in signatures.items()}


def _pairs(fields: list[str], written: str) -> dict[str, str]:
    pairs = [field.split(":", 1) for field in fields]
    if any(len(pair) != 2 for pair in pairs):
        raise _unreadable(written)
    return {key: unquote(value) for key, value in pairs}


def _unreadable(written: str) -> UsageError:
    hint = "copy it whole: MEASURE|key:value|…|qrels:HASH|rules:N"
    return UsageError(f"{written!r} is not a signature", hint)


def _full(measure: Measure) -> str:
    inside = ",".join(f"{name}={text(value)}" for name, value in measure.written().items())
    cut = "" if measure.cutoff is None else f"@{measure.cutoff}"
    return f"{measure.name}({inside}){cut}"


def _minimal(measure: Measure, base: Convention) -> Measure:
    """Leave out the parameters that a convention would set just so.

    A rule may look at what is written; where leaving something out would change it, all stays.
    """
    bare = parse(measure.name)
    bare = bare if measure.cutoff is None else bare @ measure.cutoff
    usual = base.instrument(bare).measure.written()
    own = {key: value for key, value in measure.written().items() if usual[key] != value}
    made: Measure = type(measure)(cutoff=measure.cutoff, **own)
    return made if base.instrument(made).measure == measure else measure


def _quote(value: str) -> str:
    """Escape what divides the fields of a signature."""
    return re.sub(r"[|:%+\s]", lambda match: quote(match[0], safe=""), value)
