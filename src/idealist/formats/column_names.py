"""What other tools call our columns: the one table of such names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from idealist.errors import Faults

#: Our name of each column and the names understood as it, in order of preference; case, spaces,
#: hyphens and underscores do not matter. A name that says id comes before one that may be the text.
ALIASES: dict[str, tuple[str, ...]] = {
    "query": ("query_id", "qid", "topic_id", "question_id", "query", "query text", "topic"),
    "document": (
        "doc_id", "document_id", "docno", "corpus_id", "pid", "chunk_id", "item_id", "document",
        "doc", "item", "url",
    ),
    "grade": ("grade", "relevance", "rel", "label", "rating"),
    "score": ("score", "sim", "similarity"),
    "rank": ("rank", "position", "doc position"),
    "tokens": ("tokens", "token_count", "num_tokens", "n_tokens"),
    "subtopic": ("subtopic",),
    "iteration": ("iteration", "iter"),
}  # fmt: skip

#: In a table of queries: names of the id, and of the text; ``query`` may be either.
QUERY_IDS = ("query_id", "qid", "topic_id", "_id", "id")
QUERY_TEXTS = ("text", "query_text")

#: In a table of teams: names of the run, and of the team.
RUN_NAMES = ("run_id", "run_name", "run_tag", "run", "tag", "system", "name")
TEAM_NAMES = ("team", "team_name", "group", "participant", "organisation", "organization")

#: What data frames call the row numbers they write.
ROW_NUMBERS = ("", "unnamed: 0", "__index_level_0__")
#: Columns that say nothing: Quepid's book-keeping, the same in each row, and row numbers.
SKIPPED = frozenset(
    ["team name", "case name", "case id", "snapshot name", "snapshot time", *ROW_NUMBERS]
)

#: A hint for judgments given as a run, or the reverse.
ORDER_HINT = "judgments come first, then runs"


#: Names of theirs by ours, as a user gives them.
Given = Mapping[str, str]


def ours(names: Iterable[Any], given: Given | None = None) -> dict[str, Any]:
    """Map our column names to the names found; what is `given` comes before what is usual.

    >>> ours(["query-id", "corpus-id", "score"])
    {'query': 'query-id', 'document': 'corpus-id', 'score': 'score'}
    >>> ours(["qid", "docid", "sku"], {"document": "sku"})
    {'document': 'sku', 'query': 'qid'}
    """
    if given:
        names = list(names)
    mine = {column: theirs for column, theirs in (given or {}).items() if theirs in names}
    some = tuple(name for name in _some(names) if name not in mine.values())
    found = {column: _known(some, aliases) for column, aliases in ALIASES.items()}
    usual = {column: theirs[0] for column, theirs in found.items() if theirs}
    return {**mine, **{column: name for column, name in usual.items() if column not in mine}}


def known(names: Iterable[Any], aliases: tuple[str, ...]) -> tuple[Any, ...]:
    """Find the names that are aliases, in the order of the aliases; an exact match wins.

    >>> known(["Query ID", "score", "query"], ALIASES["query"])
    ('Query ID', 'query')
    """
    return _known(_some(names), aliases)


def _some(names: Iterable[Any]) -> tuple[Any, ...]:
    """Keep the names that may be aliases: where names are queries, there may be millions."""
    return tuple(name for name in names if _folded(name) in KNOWN)


@lru_cache(1000)  # records mostly have the same names
def _known(names: tuple[Any, ...], aliases: tuple[str, ...]) -> tuple[Any, ...]:
    folded: dict[str, Any] = {}
    for name in names:
        for key in (_folded(name), str(name)):
            if key not in folded or name == key:
                folded[key] = name
    found = (folded.get(alias, folded.get(_folded(alias))) for alias in aliases)
    return tuple(dict.fromkeys(name for name in found if name is not None))


def _folded(name: Any) -> str:
    return str(name).strip().lower().replace("_", "").replace("-", "").replace(" ", "")


#: Every name that is understood, folded.
KNOWN = frozenset(
    _folded(name)
    for names in (*ALIASES.values(), QUERY_IDS, QUERY_TEXTS, RUN_NAMES, TEAM_NAMES, ["weight"])
    for name in names
)


def _check_values(names: list[Any], value: str, given: Given, faults: Faults) -> None:
    """Refuse two columns that could hold the same value: nobody can tell which one is meant."""
    some = _some(names)
    for column in ("grade",) if value == "grade" else ("score", "rank", "tokens"):
        both = [str(name) for name in _known(some, ALIASES[column])]
        if len(both) > 1 and column not in given:
            message = f"{' and '.join(both)} could each be the {column}"
            faults.fail("bad-column", message, f"choose one: --columns {column}={both[0]}")


def _check_kind(found: dict[str, Any], faults: Faults) -> None:
    """Refuse a run given as judgments; without ranks, it could be BEIR's judgments."""
    if "grade" not in found and {"score", "rank"} <= found.keys():
        message = f"{found['score']} and {found['rank']} are columns of a run; there is no grade"
        faults.fail("bad-column", message, f"name the grade column grade; {ORDER_HINT}")


def renamed(
    names: Iterable[Any], value: str, faults: Faults, given: Given | None = None
) -> dict[Any, str]:
    """Map the names found to ours, or to themselves if we have none; `value` is the main column.

    BEIR's judgments call the grade score. A column ``query`` beside ``qid`` is the text. Quepid's
    runs may have ratings and no score: as grades, these would make judgments of them.

    >>> renamed(["qid", "pid", "score", "utility"], "grade", Faults())
    {'qid': 'query', 'pid': 'document', 'score': 'grade', 'utility': 'utility'}
    """
    names = list(names)
    given = given or {}
    found = ours(names, given)
    if value == "grade":
        _check_kind(found, faults)
        if "grade" not in found and "score" in found:
            found["grade"] = found.pop("score")
    elif "grade" not in given and _known((found.get("grade"),), ("rating",)):
        found["rating"] = found.pop("grade")
    _check_values([name for name in names if name not in given.values()], value, given, faults)
    own = {theirs: name for name, theirs in found.items()}
    for name in names:
        try:
            name.encode()
        except (AttributeError, ValueError):  # no text, or a lone surrogate in it
            message = f"{name!a} cannot be the name of a column"
            faults.fail("bad-column", message, "use text for the names of columns")
    others = {name: _free(name, names) if name in ALIASES else str(name) for name in names}
    return {
        name: own.get(name, others[name]) for name in names if name.strip().lower() not in SKIPPED
    }


def _free(name: str, names: list[Any]) -> str:
    """Rename a column that is not what its name says, such as a query's text."""
    while (name := f"{name}_text") in names:
        pass
    return name
