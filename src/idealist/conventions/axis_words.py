"""What it means that two instruments differ in an axis: one sentence each, for people.

Axes are named as signatures name them: a measure's own parameter is ``nDCG.gain``. Here ``.gain``
is said of all measures that have it, and ``F.beta`` of one alone.
"""

from __future__ import annotations

WORDS: dict[str, str] = {
    # What a signature holds beside the axes.
    "measure": "these are two different measures",
    "cutoff": "the list is looked at to another depth",
    "qrels": "the judgments are not the same",
    "rules": "the rules of idealist itself have changed in between",
    # The protocol: how a run becomes a ranking, and which queries count.
    "precision": "scores are compared with more or fewer digits",
    "order": "the list is ordered by something other than its scores",
    "ties": "documents with equal scores are ordered otherwise",
    "duplicates": "of a repeated document another row counts",
    "nonfinite": "scores that are no finite numbers are treated otherwise",
    "depth": "documents are dropped from the end of the list",
    "exclude_self": "a document with the id of its query is left out, or not",
    "unjudged": "unjudged documents hold their rank, or are taken out",
    "negative": "documents with negative grades are kept, dropped, or refused",
    "grades": "fractions of grades are kept, or cut, or zeros dropped too",
    "collapse": "chunks are counted as the document they come from, or not",
    "missing": "judged queries that the run lacks count 0, or not at all",
    "unknown": "queries without judgments are ignored, or refused",
    # The aggregate: how the values of queries become one.
    "aggregate": "the values of the queries are put together otherwise",
    "round": "values are rounded to other digits, or at another place",
    # Grades, gains and ranks.
    ".gain": "a grade is worth more or less",
    ".rel": "documents count from another grade on",
    ".rel_op": "the grade at the limit itself is relevant, or not",
    ".negative": "negative grades are taken for something else",
    ".discount": "a deeper rank takes away more or less",
    ".ideal": "the ideal list is made of other documents",
    ".ideal_cut": "the ideal list is cut elsewhere",
    ".ideal_negative": "the ideal list holds documents that take away, or not",
    ".denominator": "the sum is divided by something else",
    ".no_relevant": "queries without anything relevant count otherwise",
    ".positive_score": "documents whose score is not above 0 do not count, or do",
    ".block_end": "precision is taken at the end of each tie, or not",
    ".max_grade": "another grade is that of a perfect document",
    ".probability": "a grade becomes another probability to stop",
    ".scale": "gains are divided by the highest of the query, or not",
    ".normalise_depth": "the weights of the ranks add up otherwise",
    ".alpha": "repeating a subtopic costs more or less",
    # Readers.
    ".p": "readers go on with another probability",
    ".decay": "readers go on with another probability",
    ".gamma": "something that is not relevant weighs more or less",
    "NCU.gamma": "readers go on with another probability",
    "NRBP.beta": "readers go on with another probability",
    "nNRBP.beta": "readers go on with another probability",
    ".beta": "one of two sides weighs more against the other",
    "SET.beta": "returns diminish faster or more slowly",
    ".readers": "readers stop elsewhere",
    ".model": "another reader is modelled",
    ".report": "something else is reported of the same reader",
    ".cost": "it costs more or less to look at a document",
    ".cost_column": "what a document costs comes from elsewhere",
    ".max_depth": "readers can look to another rank",
    ".T": "readers want more or less gain",
    ".K": "readers can spend more or less",
    ".L": "readers can spend more or less",
    ".halflife": "readers stop earlier or later",
    ".rate": "what comes later is discounted more or less",
    ".stop": "something else makes readers stop",
    ".hb": "gain moves what readers want more or less",
    ".hc": "gain moves what readers can spend more or less",
    ".gain_med": "another gain moves neither goal nor budget",
    ".A": "readers expect more or less elsewhere",
    ".R1": "the goal decides more or less",
    ".R2": "the rate decides more or less",
    ".b1": "readers go on at their goal with other odds",
    ".b2": "readers leave at that rate with other odds",
    # What single measures have.
    ".a": "a relevant document retrieved is worth more or less",
    ".b": "another document retrieved is worth more or less",
    ".c": "a relevant document that was missed is worth more or less",
    ".d": "another document left out is worth more or less",
    ".documents": "the collection is larger or smaller",
    ".all_judged": "a list without unjudged documents has another value",
    ".of": "other preferences count",
    ".nonrelevant": "other documents that are not relevant count",
    ".normalize": "the overlap is divided by that of the ideal list, or not",
    ".points": "other points of recall are looked at",
    ".recall": "another share of the relevant documents is asked for",
    ".rounding": "a share of the relevant documents is rounded otherwise",
    ".times": "another multiple of the relevant documents is looked at",
    ".signal": "another column of the judgments is used",
    ".squash": "the value is squashed to a range, or not",
}


def meaning(axis: str) -> str:
    """Say what it means that an axis, as signatures name it, differs.

    >>> meaning("nDCG.ideal")
    'the ideal list is made of other documents'
    """
    _, dot, name = axis.rpartition(".")
    return WORDS.get(axis) or WORDS.get(f"{dot}{name}") or "a rule of its own differs"
