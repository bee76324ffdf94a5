"""What columns of logs of clicks are called, and which is meant where several could be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from idealist.errors import Faults
from idealist.formats.column_names import TIERS, Given, as_told, folded, refuse_choice

#: Names understood as a column of ours, beside our own. Those of an earlier tier are preferred; two
#: of one tier could each be meant.
Tiers = Sequence[Sequence[str]]

#: A session: what names one page of results; then what names a visit, or may be something else.
SEARCHES = ("search_id", "serp_id", "page_view_id", "pageview_id", "query_session_id")
VISITS = ("session_id", "visit_id", "visit")
SESSIONS = (SEARCHES, (*VISITS, "sid", "request_id", "impression_id", "page_id"))
#: The query of a page: its text before its id, which may be that of the search. A text that is not
#: said to be the query's may be the document's.
ASKED = ((*TIERS["query"][2], "topic"), (*TIERS["query"][0], "text"))
POSITIONS = ((*TIERS["rank"][0], "ordinal", "slot"),)
CLICKED = (
    ("click", "is_click", "is_clicked", "was_clicked", "has_click"),
    ("clicks", "click_count", "num_clicks"),
)
#: Where lists were interleaved: the list that was shown, and the user. A visit stands for its user
#: beside the ids of searches: those of one visit are alike.
LISTS = (("list_id", "list_number", "variant"),)
USERS = (("user_id", "visitor_id", "customer_id"), ("client_id",), VISITS)


def ours_among(
    names: Iterable[Any],
    given: Given,
    tiers: Mapping[str, Tiers],
    faults: Faults,
    line: int | None = None,
) -> dict[str, Any]:
    """Map our names to theirs; names that could each be meant are a fault.

    >>> ours_among(["sid", "place", "rank"], {"position": "place"},
    ...            {"session": SESSIONS, "position": POSITIONS}, Faults())
    {'position': 'place', 'session': 'sid'}
    """
    found = candidates(names, given, tiers)
    for ours, theirs in found.items():
        if len(theirs) > 1:
            refuse_choice(ours, theirs, faults, line)
    return {ours: theirs[0] for ours, theirs in found.items()}


def candidates(
    names: Iterable[Any], given: Given, tiers: Mapping[str, Tiers]
) -> dict[str, list[Any]]:
    """Find the names that each column of ours may have.

    They are one that a user gave, or else one that is our own, or else those of the first tier that
    has any. What is another column already is not looked at.

    >>> candidates(["position", "rank", "hit", "doc"], {}, {"position": POSITIONS})
    {'position': ['position']}
    >>> candidates(["rank", "slot"], {}, {"position": POSITIONS})
    {'position': ['rank', 'slot']}
    """
    listed = list(names)
    found = {ours: [name] for ours, name in as_told(listed, given).items()}
    for ours, usual in tiers.items():
        taken = [name for theirs in found.values() for name in theirs]
        free = [name for name in listed if name not in taken]
        some = (named(free, tier) for tier in ((ours,), *usual))
        if ours not in given and (theirs := next(filter(None, some), None)):
            found[ours] = theirs
    return found


def named(names: Iterable[Any], aliases: Iterable[str]) -> list[Any]:
    """Find the names that are aliases, in any spelling.

    >>> named(["Search ID", "query", "searchid"], ["search_id"])
    ['Search ID', 'searchid']
    """
    known = set(map(folded, aliases))
    return [name for name in names if folded(name) in known]
