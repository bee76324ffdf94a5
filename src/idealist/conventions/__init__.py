"""Conventions: the rules by which a tool computes its numbers, each under the tool's name."""

from __future__ import annotations

import re
from functools import cache

from idealist.conventions.convention import DEFAULT, Convention
from idealist.conventions.libraries import LEARNING, PRODUCTS
from idealist.conventions.toolkits import TOOLKITS, TRACKS_AND_PAPERS
from idealist.errors import UsageError, nearest

__all__ = ["CONVENTIONS", "DEFAULT", "Convention", "convention"]

#: Every convention by its name.
CONVENTIONS: dict[str, Convention] = {
    one.name: one for one in (*TOOLKITS, *LEARNING, *PRODUCTS, *TRACKS_AND_PAPERS)
}
#: Other usual spellings of tools.
USUAL = {
    "treceval9": "trec_eval-9", "pytreceval": "pytrec_eval", "ms_marco_eval": "msmarco",
    "marco": "msmarco", "cwl": "cwl_eval", "sbert": "sentence-transformers", "tfr": "tf-ranking",
    "vespa": "pyvespa", "es": "elasticsearch",
}  # fmt: skip


def convention(given: str | Convention) -> Convention:
    """Find a convention by its name or its tool's, in any case, with or without hyphens.

    >>> convention("scikit-learn").name, convention("trec-eval").name, convention("MS MARCO").name
    ('sklearn', 'trec_eval', 'msmarco')
    """
    if isinstance(given, Convention):
        return given
    found = CONVENTIONS.get(given) or _spellings().get(_folded(given))
    if found is None:
        raise UsageError(f"there is no convention {given!r}", nearest(given, CONVENTIONS))
    return found


@cache
def _spellings() -> dict[str, Convention]:
    """Find all conventions by their folded names, other spellings and tools; names come first."""
    folded = {_folded(one.tool): one for one in reversed(CONVENTIONS.values())}
    folded |= {_folded(name): CONVENTIONS[own] for name, own in USUAL.items()}
    return folded | {_folded(name): one for name, one in CONVENTIONS.items()}


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())
