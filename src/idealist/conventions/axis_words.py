"""What it means that two instruments differ in an axis: one sentence for each.

Axes are named as in signatures: a measure's own parameter is ``nDCG.gain``. Here ``.gain`` speaks
for all measures that have it, and ``SET.beta`` for one alone.
"""

from __future__ import annotations

WORDS: dict[str, str] = {
    # What a signature holds beside the axes.
    "measure": "these are two different measures",
    "cutoff": "the measure looks at more or fewer ranks",
    "qrels": "the judgments differ",
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
    ".squash": "the value is squashed to a range, or not",
}


def meaning(axis: str) -> str:
    """Say what it means that an axis differs.

    >>> meaning("nDCG.ideal")
    'the ideal list is built from different documents'
    """
    _, dot, name = axis.rpartition(".")
    return WORDS.get(axis) or WORDS.get(f"{dot}{name}") or "a rule of the measure's own differs"
