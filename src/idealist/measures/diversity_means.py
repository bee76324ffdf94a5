"""Intent-aware measures: the mean over the subtopics of a query, each measured by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from idealist.measures.ap import AP
from idealist.measures.groups import Grouped
from idealist.measures.sets import P, Success


@dataclass(frozen=True, kw_only=True, repr=False)
class OverSubtopics(Grouped):
    """Base of means over the subtopics that have a relevant document."""

    needs: ClassVar[str] = "subtopics"


@dataclass(frozen=True, kw_only=True, repr=False)
class AP_IA(OverSubtopics, AP):
    """Intent-aware average precision: the mean over subtopics; its mean is MAP-IA.

    Formula: (1/M) Σ_s AP(list, judgments of subtopic s), over the M subtopics with a relevant
    document

    All subtopics weigh the same. Called with a list, each document is a dict of its grades by
    subtopic.

    >>> AP_IA()([{"a": 1, "b": 0}, {"a": 1, "b": 1}])
    0.75

    Reference: Agrawal et al. 2009, doi:10.1145/1498759.1498766
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class P_IA(OverSubtopics, P):
    """Intent-aware precision: the mean over subtopics of precision among the first k.

    Formula: (1/M) Σ_s P@k(list, judgments of subtopic s), over the M subtopics with a relevant
    document

    All subtopics weigh the same. Called with a list, each document is a dict of its grades by
    subtopic.

    >>> (P_IA @ 2)([{"a": 1, "b": 0}, {"a": 1, "b": 1}])
    0.75

    Reference: Agrawal et al. 2009, doi:10.1145/1498759.1498766
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class StRecall(OverSubtopics, Success):
    """Subtopic recall: the share of the subtopics that are covered by the first k documents.

    Formula: subtopics with a relevant document in the first k / subtopics with a relevant document

    Called with a list, each document is a dict of its grades by subtopic.

    >>> (StRecall @ 1)([{"a": 1, "b": 0}, {"a": 1, "b": 1}])
    0.5

    Reference: Zhai et al. 2003, doi:10.1145/860435.860440
    """
