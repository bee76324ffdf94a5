"""Examples for a prompt: documents that people graded, one of each grade, chosen by a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from idealist.judging.llm.prompts import Example

if TYPE_CHECKING:
    from idealist.data.judgments import Scale
    from idealist.judging.store import Store

#: Whose judgments are shown: the first kind of these that there is.
SHOWN_KINDS = ("human", "import")
#: A longer document, in characters, is shown only where there is no shorter one.
LONGEST_EXAMPLE = 2000
#: So many documents of each grade are looked at; one that can be shown is mostly the first.
LOOKED_AT = 100

#: A query and a document by their ids.
Ids = tuple[str, str]


@dataclass(frozen=True)
class Examples:
    """What people graded, by grade, in the order in which it is taken.

    Neither the query that is judged nor the document is ever among the examples: a model that saw
    other answers to the query would be told what its people hold to be relevant, and would agree
    with them better than it does elsewhere.
    """

    graded: Mapping[float, Mapping[Ids, Example]]

    @classmethod
    def of(cls, store: Store, scale: Scale, seed: int = 0) -> Examples:
        """Order what people agree on by a hash of the seed, the query and the document."""
        grades: dict[Ids, set[float]] = {}
        for kind in SHOWN_KINDS:
            for one in store.current() if not grades else ():
                if one.kind == kind and one.grade is not None:
                    grades.setdefault((one.query, one.document), set()).add(one.grade)
        order = sorted(grades, key=lambda ids: _drawn(seed, *ids))
        by_grade = {g: [ids for ids in order if grades[ids] == {g}] for g in scale.grades}
        return cls({g: _shortest_first(store, g, ids) for g, ids in by_grade.items()})

    @property
    def missing(self) -> tuple[float, ...]:
        """The grades of which there is no example."""
        return tuple(grade for grade, some in self.graded.items() if not some)

    @property
    def words(self) -> str:
        """All that could be shown, by which a change is noticed."""
        return repr([(grade, list(some.items())) for grade, some in self.graded.items()])

    def beside(self, query: str, document: str) -> list[Example]:
        """Return an example of each grade that can be shown beside a query and a document."""
        found = (self._beside(grade, query, document) for grade in self.graded)
        return [example for example in found if example is not None]

    def _beside(self, grade: float, query: str, document: str) -> Example | None:
        for (other, shown), example in self.graded[grade].items():
            if other != query and shown != document:
                return example
        return None


def _shortest_first(store: Store, grade: float, order: list[Ids]) -> dict[Ids, Example]:
    found = dict(islice(_told(store, grade, order), LOOKED_AT))
    return dict(sorted(found.items(), key=lambda item: _is_long(item[1])))


def _told(store: Store, grade: float, order: list[Ids]) -> Iterator[tuple[Ids, Example]]:
    """Yield what has words."""
    queries = store.queries.text
    for query, document in order:
        words, text = queries.get(query, "").strip(), store.text(document)
        if words and text is not None and text.words.strip():
            yield (query, document), Example(words, text, grade)


def _is_long(example: Example) -> bool:
    return len(example.document.words) > LONGEST_EXAMPLE


def _drawn(seed: int, query: str, document: str) -> bytes:
    return hashlib.sha256("\0".join((str(seed), query, document)).encode()).digest()
