"""How a run becomes a ranking, and which queries count.

The steps come in this order: score precision, duplicates, non-finite scores, self-retrieval, a
budget of tokens or chunks (spent in the order of the scores), collapse, order, ties; then, on the
ranking, depth, negative grades, unjudged documents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from idealist.data.columns import to_id
from idealist.errors import UsageError
from idealist.notation import (
    Kind,
    Settings,
    Value,
    Written,
    axis,
    call,
    choice,
    digest,
    flag,
    to_number,
    whole,
)

_TIES = (
    "docid-desc", "docid-asc", "input", "input-reversed", "worst", "best", "expected", "error",
)  # fmt: skip


def _check_ties(value: Any) -> Value:
    name, arguments = call(str(value))
    if name == "random":
        (seed,) = arguments or ["0"]
        return f"random({int(seed)})"
    return choice(*_TIES).check(value)


def _check_collapse(value: Any) -> Value:
    if isinstance(value, Mapping):
        return f"map({digest(value)})"
    if not isinstance(value, str):
        raise TypeError(value)
    try:
        suffix(value)
    except re.error as error:
        raise ValueError(value) from error
    return value


def names_file(value: str) -> bool:
    r"""Whether the text looks more like the name of a file than like a pattern.

    >>> names_file("mappings/bm25-documents.tsv"), names_file(r"/p\d+"), names_file(r"\.txt")
    (True, False, False)
    """
    plain = not re.search(r"[\\*+?\[\](){}|^$]", value)
    return plain and ("/" in value[1:] or value.endswith((".tsv", ".csv", ".json", ".txt")))


def _ids(mapping: Mapping[Any, Any]) -> dict[str, str]:
    try:
        return {to_id(chunk): to_id(whole) for chunk, whole in mapping.items()}
    except (TypeError, ValueError):
        hint = "give {chunk: document}, both ids"
        raise UsageError(
            f"collapse={mapping!r:.60} holds something that is not an id", hint
        ) from None


def _check_depth(value: Any) -> Value:
    if not str(value).startswith(BUDGETS):
        return _DOCUMENTS.check(value)
    name, arguments = call(str(value))
    (budget,) = map(to_number, arguments)
    if name not in BUDGETS or not isinstance(budget, int) or not 1 <= budget <= MOST_TOKENS:
        raise ValueError(value)
    return f"{name}({budget})"


@lru_cache(maxsize=64)
def suffix(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that must match at the very end of an id."""
    return re.compile(rf"(?:{pattern})\Z")


#: What another protocol has instead, so that it refuses nothing that nobody complained of.
LENIENT = {"ties": "docid-desc", "nonfinite": "as_is", "negative": "allow"}
#: The rules that say how a run itself is ranked.
RULES = ("precision", "order", "ties", "duplicates", "nonfinite", "exclude_self", "collapse")
#: Rules of ties that give no order, or one that only judgments give.
UNORDERED = ("best", "worst", "expected")

TIES = Kind("one of " + ", ".join(_TIES) + ", random(SEED)", _check_ties)
#: What can limit a list before chunks are merged: their total length, or their number.
BUDGETS = ("tokens", "chunks")
MOST_TOKENS = 10**12
_DOCUMENTS = whole(1, "a number of documents", "none")
DEPTH = Kind(
    "none, a number of documents, tokens(N): as many as fit into N tokens, or chunks(N): the first "
    "N chunks, before they are merged",
    _check_depth,
)
COLLAPSE = Kind(
    "none, a pattern to cut off at the end of an id, or {chunk: document}",
    _check_collapse,
)


@dataclass(frozen=True, kw_only=True)
class Protocol(Settings):
    """How a run becomes a ranking. The defaults are trec_eval 10's, as officially used (``-c``).

    >>> Protocol(ties="docid-asc", depth=100).ties
    'docid-asc'
    """

    precision: str = axis(
        "float64", choice("float64", "float32"), "the precision scores are compared in"
    )
    order: str = axis(
        "score", choice("score", "rank", "given"),
        "what orders a list: its scores (or, without scores, its ranks, or else the order of the "
        "rows), the rank column, or the order of the rows",
    )  # fmt: skip
    ties: str = axis("docid-desc", TIES, "the order of documents with equal scores")
    duplicates: str = axis(
        "error", choice("error", "first", "last"), "which row of a repeated document counts"
    )
    nonfinite: str = axis(
        "error", choice("error", "as_is", "last"),
        "NaN and infinite scores: refused; infinities ordered as numbers; NaN also ranked last",
    )  # fmt: skip
    depth: Written = axis("none", DEPTH, "how many documents of a list count")
    exclude_self: bool = axis(False, flag(), "leave out the document that has the query's id")
    unjudged: str = axis(
        "zero", choice("zero", "drop"), "unjudged documents keep their rank, or are removed"
    )
    negative: str = axis(
        "allow", choice("allow", "drop", "error"),
        "retrieved documents with a negative grade are left to the measure, removed, or refused",
    )  # fmt: skip
    grades: str = axis(
        "truncate",
        choice("keep", "truncate", "nonzero"),
        "fractions of grades are kept, or cut off as C's atol does; with nonzero, grades that are "
        "then 0 count as unjudged",
    )
    collapse: Written = axis(
        "none", COLLAPSE, "chunks of one document count as that document, at the best chunk's rank"
    )
    missing: str = axis(
        "zero", choice("zero", "skip", "error"),
        "a judged query that the run lacks counts as an empty list, not at all, or is refused",
    )  # fmt: skip
    unknown: str = axis(
        "skip",
        choice("skip", "error"),
        "a query of the run without judgments is ignored or refused",
    )
    mapping: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)

    def __post_init__(self) -> None:
        if isinstance(self.collapse, Mapping) and not self.collapse:
            object.__setattr__(self, "collapse", "none")
        if isinstance(self.collapse, Mapping):
            mapping = _ids(self.collapse)
            object.__setattr__(self, "mapping", mapping)
            object.__setattr__(self, "collapse", _check_collapse(mapping))
        elif str(self.collapse).startswith("map(") and not self.mapping:
            hint = "give the map itself: collapse={chunk: document, …}"
            raise UsageError(f"collapse={self.collapse} names a map that was not given", hint)
        elif names_file(str(self.collapse)):  # as a pattern it would silently match nothing
            hint = "give {chunk: document}; on the command line, --set collapse=FILE reads a file"
            raise UsageError(f"collapse={self.collapse} is the name of a file, not a pattern", hint)
        super().__post_init__()
        if self.ties == "expected" and self.depth != "none":
            raise UsageError(
                "ties=expected does not work with a depth: chance would decide what it keeps",
                "cut the measure instead (nDCG@10), or choose another order for ties",
            )
        if self.ties in ("best", "worst") and self.budget is not None:
            raise UsageError(
                f"ties={self.ties} does not work with depth={self.depth}: "
                "what it keeps does not depend on grades alone",
                "choose another order for ties, such as docid-desc",
            )

    @property
    def budget(self) -> int | None:
        """The number of tokens or chunks that count, if the depth is such a number.

        >>> Protocol(depth="tokens(4096)").budget
        4096
        """
        name, arguments = call(str(self.depth))
        return int(arguments[0]) if name in BUDGETS else None

    def whole(self) -> Protocol:
        """Return the same rules without those that leave documents out of a list.

        >>> Protocol(depth=10, unjudged="drop").whole() == Protocol()
        True
        """
        return replace(self, depth="none", unjudged="zero", negative="allow")

    def varied(self, **axes: Any) -> Protocol:
        """Return the same rules with other axes; what they would newly refuse is let pass.

        >>> Protocol(ties="error").varied(precision="float32").ties
        'docid-desc'
        """
        refusing = {key: LENIENT[key] for key in LENIENT if getattr(self, key) == "error"}
        return replace(self, **{**refusing, **axes})

    @property
    def ordering(self) -> Protocol:
        """The rules that order a list; the others only look at it, or at judgments, afterwards.

        >>> Protocol(depth=10, ties="best", grades="keep").ordering == Protocol().ordering
        True
        """
        return _ordering(self)

    @property
    def other_precision(self) -> Protocol | None:
        """The ordering in the other precision; None if no precision orders the list."""
        other = "float64" if self.precision == "float32" else "float32"
        return _lenient(self.ordering, other) if self.order == "score" else None

    @property
    def lenient(self) -> Protocol:
        """The ordering that refuses neither ties nor infinite scores."""
        return _lenient(self.ordering, self.precision)


@lru_cache(maxsize=1024)
def _ordering(protocol: Protocol) -> Protocol:
    by_grade = protocol.ties in ("worst", "best", "expected")
    return replace(
        protocol.whole(),
        depth="none" if protocol.budget is None else protocol.depth,
        ties="docid-desc" if by_grade else protocol.ties,
        grades="keep",
        missing="zero",
        unknown="skip",
    )


@lru_cache(maxsize=1024)
def _lenient(ordering: Protocol, precision: str) -> Protocol:
    return ordering.varied(precision=precision)
