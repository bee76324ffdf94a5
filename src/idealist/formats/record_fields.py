"""Which field of records is the query, the ranking and the gold.

Names decide first, then what a field holds: ids come before texts. Two fields that could each be
meant are refused with the option that chooses one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NoReturn

from idealist.formats.column_names import (
    BESIDE,
    EITHER,
    ITEM_SCORES,
    MAYBE_IDS,
    NEGATIVES,
    ORDER_HINT,
    RECORD_ID,
    RECORD_IDS,
    RECORD_TEXTS,
    folded,
    matching,
    naming_option,
    refuse_choice,
)
from idealist.formats.items import LOOKED_AT, SURE_IDS, are_texts, is_text
from idealist.formats.records import Records, is_name

#: What parts several ids in one text, and what may stand around each.
SEVERAL, AROUND = re.compile(r"[,;|\n]"), " []()\"'\t\r"
#: Names that need no remark.
USUAL = {
    "query": (*RECORD_IDS, "query", "query_text", "topic", *RECORD_ID),
    "ranking": ("ranking", "retrieved", "retrieved_ids", "results"),
    "gold": ("gold", "ground_truth", "relevant", "expected"),
}


@dataclass(frozen=True)
class RecordFields:
    """The fields of records that matter, each None where there is none."""

    records: Records

    @property
    def is_gold(self) -> bool:
        """Whether the judgments are read, not the run."""
        return self.records.reading.value == "grade"

    @property
    def own(self) -> Any:
        """The field of the side that is read."""
        return self.gold if self.is_gold else self.ranking

    @cached_property
    def ranking(self) -> Any:
        """The field that is the ranking."""
        records, gold = self.records, self.records.given("gold")
        if "ranking" in records.reading.options.columns:
            return self._given("ranking", needed=not self.is_gold)
        if self.is_gold and not records.golds and gold is None:
            return None
        found = self._with_ids([name for name in records.rankings if name != gold])
        if self.is_gold:
            return found[0] if len(found) == 1 else None
        if not found:
            known = f"these are judgments: {_first(records.golds)} is the gold"
            self._refuse_none(f"{known}, and no field is a ranking", "ranking")
        return self._only(found, "ranking", records.golds)

    def _with_ids(self, names: list[Any]) -> list[Any]:
        """Of several rankings, keep the one of places in the other, or else those with ids."""
        if len(names) < 2:
            return names
        places = [name for name in names if any(map(are_places, self.records.held(name)))]
        ids = [name for name in names if name not in places and not self._texts(name)]
        return places if len(places) == 1 and len(names) == 2 else ids or names

    @cached_property
    def gold(self) -> Any:
        """The field that is the gold."""
        records, ranking = self.records, self.records.given("ranking")
        if "gold" in records.reading.options.columns:
            return self._given("gold", needed=self.is_gold)
        found = [name for name in records.golds if name != ranking]
        if len(found) > 1:
            ids = [name for name in found if not self._texts(name)]
            found = ids or [name for name in found if records.holds_lists(name)] or found
        if not self.is_gold:
            return found[0] if len(found) == 1 else None
        return self._only(found or self._unsided(ranking), "gold", records.rankings)

    def _unsided(self, ranking: Any) -> list[Any]:
        """Find lists that may be the gold because none of them is known as the ranking."""
        records = self.records
        either = [n for n in records.rankings if n in matching(records.names, EITHER)]
        found = [name for name in either if name != ranking]
        if len(records.rankings) > len(found) or not found:
            known = f"these are a run: {_first(records.rankings)} is the ranking"
            self._refuse_none(f"{known}, and no field is the gold", "gold")
        return found

    def _given(self, side: str, needed: bool) -> Any:
        """Take the field that the user names; refuse a name that no record has."""
        records = self.records
        if (found := records.given(side)) is not None or not needed:
            return found
        told = " or ".join(map(repr, records.reading.told(side)))
        message = f"there is no field {told} to be the {side}"
        records.refuse(message, f"the fields are {records.fields()}", "missing-column")

    def _refuse_none(self, message: str, side: str) -> NoReturn:
        hint = f"{ORDER_HINT}; or say which field it is: {self.records.naming(side)}"
        self.records.refuse(message, hint)

    def _only(self, names: list[Any], side: str, others: Sequence[Any]) -> Any:
        """Return the only field; refuse several, and texts unless the other side has them too."""
        if len(names) > 1:
            self._choose(names, side)
        (name,) = names
        if self._texts(name):
            self._check_texts(name, side, others)
        return name

    def _choose(self, names: list[Any], side: str) -> NoReturn:
        two = names[:2]
        both = (n for n, row in enumerate(self.records.rows) if {*two} <= row.keys())
        line = self.records.line(next(both, 0))
        refuse_choice(side, two, self.records.reading.faults, line)

    def _texts(self, name: Any) -> bool:
        return are_texts(_words(self.records.held(name)))

    def _check_texts(self, name: Any, side: str, others: Sequence[Any]) -> None:
        reading = self.records.reading
        texts = set(filter(is_text, _words(self.records.held(name))))
        if any(texts & set(_words(self.records.held(other))) for other in others):
            words = "documents are known by their texts, which must be equal to meet"
            reading.remark_file(words)
            return
        hint = f"add a field with ids; if the texts are the ids: {naming_option(side, [name])}"
        self.records.refuse(f"{name} holds texts, and ids are needed", hint)

    @cached_property
    def query(self) -> Any:
        """The field that names the query."""
        records, both = self.records, self.ranking is not None and self.gold is not None
        if records.queries is not None:
            return None
        if (given := records.given("query")) is not None:
            return self._whole(given)
        held = tuple(n for n in records.names if any(v is not None for v in records.held(n)))
        sure, own, texts = (
            matching(held, names) for names in (RECORD_IDS, RECORD_ID, RECORD_TEXTS)
        )
        if sure:
            return self._whole(self._same(sure))
        if own and texts and self._repeats(own[0]) and not self._repeats(texts[0]):
            message = f"{own[0]} repeats, and cannot name the query"
            hint = f"if {texts[0]} does: {naming_option('query', [texts[0]])}"
            records.refuse(message, hint, "duplicate-key")
        if own and not (texts and not both and self._counts(own[0])):
            return self._whole(own[0])
        if own:
            message = f"{own[0]} could be the number of the record, and {texts[0]} the query"
            options = naming_option("query", [texts[0], own[0]])
            records.refuse(message, f"choose one: {options}", "bad-column")
        if texts:
            return self._of_hits() or self._whole(self._same(texts))
        if both:
            return None
        some = [n for n in held if n not in records.golds and any(map(is_name, records.held(n)))]
        hint = f"say which one does: {naming_option('query', some[:1])}"
        records.refuse("no field names the query", hint, "missing-column")

    def _of_hits(self) -> str | None:
        """Find the id of the query in its hits, where the record itself has only the text."""
        for name in self.records.rankings:
            held = self.records.held(name)
            if not all(isinstance(v, list) and v and isinstance(v[0], Mapping) for v in held):
                continue
            for own in matching(tuple(held[0][0]), RECORD_IDS):
                if all(is_name(entry.get(own)) for entries in held for entry in entries):
                    return f"{name}.{own}"
        return None

    def _counts(self, name: Any) -> bool:
        """Whether a field only counts the records."""
        held = list(map(str, self.records.held(name)))
        return any(held == [str(n + start) for n in range(len(held))] for start in (0, 1))

    def _repeats(self, name: Any) -> bool:
        """Whether two records hold the same here."""
        held = list(map(str, self.records.held(name)))
        return len(set(held)) < len(held)

    def _same(self, names: Sequence[Any]) -> Any:
        """Return the only name; several are as good as one where they hold the same."""
        first, *others = names
        for other in others:
            if self.records.held(first) != self.records.held(other):
                self._choose([first, other], "query")
        return first

    def check_gold(self) -> None:
        """Refuse a gold of several ids in one text, which never is the id of a document."""
        known = set(_ids(self.records.held(self.ranking), (str, int)))
        if any(map(SEVERAL.search, known)):  # then they are part of ids
            return
        for number, held in enumerate(self.records.held(self.gold)):
            if not isinstance(held, str) or held in known:
                continue
            parts = [part for each in SEVERAL.split(held) if (part := each.strip(AROUND))]
            if parts != [held] and known & {*parts}:
                message = f"{self.gold} {held!r} holds a list of ids in one text"
                hint = f"give a list: {json.dumps(parts[:3], ensure_ascii=False)}"
                self.records.refuse_one(number, message, hint)

    def _whole(self, name: Any) -> Any:
        """Refuse a record that lacks the field which names the queries of others."""
        for number, held in enumerate(self.records.held(name)):
            if held is None:
                hint = f"give every record its {name}; it has {self.records.fields(number)}"
                self.records.refuse_one(number, f"{name}, which names the query, is missing", hint)
        return name

    def remark(self) -> None:
        """Say what was taken for what, where the names are not ours."""
        records = self.records
        found = {"query": self.query, "ranking": self.ranking, "gold": self.gold}
        named = {side: name for side, name in found.items() if name is not None}
        if self.query is None and records.queries is None:
            named = {"query": "the number of the record", **named}
        given = [records.given(side) for side in named]
        if any(folded(n) not in map(folded, USUAL[s]) and n not in given for s, n in named.items()):
            records.reading.remark_names(named, f"in {records.inside}, " if records.inside else "")
        if not self.is_gold and "ranking" not in records.reading.options.columns:
            self._remark_unused([self.query, self.ranking, self.gold])

    def _remark_unused(self, used: list[Any]) -> None:
        """Say that another list holds the same documents: it may be the ranking that is meant."""
        records = self.records
        known = {one for name in (self.ranking, self.gold) for one in _ids(records.held(name))}
        beside = matching(records.names, (*NEGATIVES, *BESIDE))
        for name in records.names:
            if name in used or name in beside or not records.holds_lists(name):
                continue
            found = list(islice(_ids(records.held(name)), LOOKED_AT))
            if sum(one in known for one in found) * 2 > len(found):
                option = naming_option("ranking", [name])
                words = f"{name} also holds documents and is not used; to rank by it: {option}"
                reading = records.reading
                reading.remark("read-as", f"{reading.faults.file}: {words}", severity="warning")


def are_places(entries: Any) -> bool:
    """Whether entries are places in another list with a score, as rerankers answer."""
    return bool(entries) and isinstance(entries, list) and all(
        isinstance(entry, Mapping)
        and "index" in entry
        and bool(matching(tuple(entry), ITEM_SCORES))
        and not matching(tuple(entry), (*SURE_IDS, *MAYBE_IDS[:2]))
        for entry in entries
    )  # fmt: skip


def _words(held: Iterable[Any]) -> Iterable[str]:
    """Yield the plain entries of a field's lists."""
    for value in held:
        if isinstance(value, (list, tuple)):
            yield from (entry for entry in value if isinstance(entry, str))
        elif isinstance(value, str):
            yield value


def _ids(held: Iterable[Any], kinds: tuple[type, ...] = (str,)) -> Iterator[str]:
    """Yield the ids in a field's lists that are text, also those of pairs and objects."""
    for value in held:
        for entry in value if isinstance(value, (list, tuple)) else ():
            found = entry
            if isinstance(entry, Mapping):
                own = matching(tuple(entry), (*SURE_IDS, *MAYBE_IDS[:2]))
                found = entry[own[0]] if own else None
            elif isinstance(entry, (list, tuple)) and entry:
                found = entry[0]
            if isinstance(found, kinds):
                yield str(found)


def _first(names: Sequence[Any]) -> str:
    return ", ".join(map(str, names[:1]))
