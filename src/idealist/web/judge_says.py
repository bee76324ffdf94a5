"""What judges send: grades, words, preferences and what they take back; each is kept once."""

from __future__ import annotations

import math
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idealist.data import Scale
from idealist.errors import Faults, IdealistError, UsageError
from idealist.formats.stored_judgments import Pair
from idealist.judging.pair_views import scale_words
from idealist.judging.record_checks import checked_judgments, checked_preference
from idealist.judging.sittings import check_pair
from idealist.judging.store import Store
from idealist.judging.store_records import Judgment, Preference
from idealist.notation import tidy

#: How many things may be said at once, and how many documents a browser may have at hand.
MOST_SAID, MOST_AT_HAND = 200, 500
#: The longest token, id and note, in characters.
LONGEST_TOKEN, LONGEST_ID, LONGEST_NOTE = 100, 2000, 5000
#: What can be said of a document in the place of a grade.
SPOKEN = ("cannot tell", "later")
#: The length of the hash of a text.
HASHED = 64


@dataclass(frozen=True)
class Withdrawn:
    """A judgment that is taken back, by its token."""

    token: str


def kept(store: Store, judge: str, sent: Any) -> list[dict[str, Any]]:
    """Keep what a judge said, in its order; say of each, by its token, whether it was kept.

    Faults of one thing said refuse that alone. Whatever keeps the store from writing is an error,
    and then nothing of it was kept.
    """
    said = _listed(sent, "said", MOST_SAID)
    for one in said:
        if not isinstance(one, dict) or not text_of(one, "token", LONGEST_TOKEN):
            raise UsageError("something was said without a token", "reload the page")
    with store.writing():
        return [_kept(store, judge, one) for one in said]


def _kept(store: Store, judge: str, said: Mapping[str, Any]) -> dict[str, Any]:
    token = said["token"]
    try:
        record = _record(store, judge, said)
    except IdealistError as error:
        return {"token": token, "kept": False, "words": error.message, "hint": error.hint}
    if isinstance(record, Withdrawn):
        undone = store.undo_sent(judge, record.token)
        about = {} if undone is None else {"query": undone.query, "document": undone.document}
        return {"token": token, "kept": True, **about, "note": undone.note if undone else ""}
    _ = store.judge(record) if isinstance(record, Judgment) else store.prefer(record)
    return {"token": token, "kept": True}


def _record(store: Store, judge: str, said: Mapping[str, Any]) -> Judgment | Preference | Withdrawn:
    """Read and check one thing that was said."""
    for token in (said["token"], text_of(said, "undo", LONGEST_TOKEN)):
        _check_owner(store, judge, token)
    if "undo" in said:
        return Withdrawn(text_of(said, "undo", LONGEST_TOKEN))
    return _preference(store, judge, said) if "better" in said else _judgment(store, judge, said)


def _judgment(store: Store, judge: str, said: Mapping[str, Any]) -> Judgment:
    query, document = (text_of(said, name, LONGEST_ID) for name in ("query", "document"))
    _check_known(store, query, document)
    scale = store.scale
    grade, status = _grade(said, scale), text_of(said, "status", LONGEST_TOKEN) or "graded"
    if status not in ("graded", *SPOKEN):
        raise UsageError(f"nothing is known by {status!r}", f"say a grade, {', '.join(SPOKEN)}")
    batch, inclusion = _chosen(store, said.get("batch"), query, document)
    made = Judgment(
        query, document, grade, judge, status=status, note=text_of(said, "note", LONGEST_NOTE),
        seconds=_seconds(said), batch=batch, inclusion=inclusion, seen=_seen(said),
        token=said["token"],
    )  # fmt: skip
    return checked_judgments([made], scale, Faults(""))[0]


def _preference(store: Store, judge: str, said: Mapping[str, Any]) -> Preference:
    query, better, worse = (text_of(said, one, LONGEST_ID) for one in ("query", "better", "worse"))
    for document in (better, worse):
        _check_known(store, query, document)
    tied = said.get("tied", False)
    if not isinstance(tied, bool):
        raise UsageError("tied is neither true nor false", "reload the page")
    made = Preference(
        query, better, worse, judge, tied, seconds=_seconds(said), token=said["token"],
        note=text_of(said, "note", LONGEST_NOTE),
    )  # fmt: skip
    return checked_preference(made, Faults(""))


def _check_owner(store: Store, judge: str, token: str) -> None:
    """Refuse a token that another judge has used."""
    asked = "SELECT judge FROM {} WHERE token = ? AND judge <> ?"
    with store.reading() as connection:
        for table in ("judgment", "preference"):
            if token and connection.execute(asked.format(table), (token, judge)).fetchone():
                hint = "judges take back what they said themselves"
                raise UsageError("another judge said this", hint)


def _check_known(store: Store, query: str, document: str) -> None:
    """Refuse a pair that the store does not know; most are somebody's turn, which is found fast."""
    asked = "SELECT EXISTS (SELECT 1 FROM turn WHERE query = ? AND document = ?)"
    with store.reading() as connection:
        if connection.execute(asked, (query, document)).fetchone()[0]:
            return
    check_pair(store, query, document)


def _chosen(store: Store, batch: Any, query: str, document: str) -> tuple[int | None, float | None]:
    """Return the batch that a document was chosen for, and with which probability."""
    if batch is None:
        return None, None
    if not isinstance(batch, int) or isinstance(batch, bool) or not 0 <= batch < 2**63:
        raise UsageError(f"there is no batch {batch!r:.40}", "reload the page")
    asked = "SELECT inclusion FROM pooled WHERE batch = ? AND query = ? AND document = ?"
    with store.reading() as connection:
        found = connection.execute(asked, (batch, query, document)).fetchone()
    return (None, None) if found is None else (batch, found[0])


def _grade(said: Mapping[str, Any], scale: Scale | None) -> float | None:
    if said.get("grade") is None:
        if not said.get("status"):
            raise UsageError("there is no grade", f"give {scale_words(scale)}")
        return None
    grade = _number(said, "grade")
    if scale is not None and grade not in scale.grades:
        raise UsageError(f"{tidy(grade)} is not a grade of the scale", f"give {scale_words(scale)}")
    return grade


def _seconds(said: Mapping[str, Any]) -> float | None:
    if said.get("seconds") is None:
        return None
    seconds = _number(said, "seconds")
    if seconds < 0:
        raise UsageError("seconds is less than 0", "give the time that judging took")
    return round(seconds, 2)


def _seen(said: Mapping[str, Any]) -> str:
    """Read the hash of the text that the judge saw."""
    seen = text_of(said, "seen", LONGEST_TOKEN)
    if seen and not (len(seen) == HASHED and {*seen} <= {*string.hexdigits}):
        raise UsageError("seen is not the hash of a text", "reload the page")
    return seen


def _number(said: Mapping[str, Any], name: str) -> float:
    value = said[name]
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            number = float(value)
            if math.isfinite(number):
                return number
    except OverflowError:
        pass
    raise UsageError(f"{name} is {value!r:.40}", "give a number")


def text_of(said: Mapping[str, Any], name: str, longest: int) -> str:
    """Read a text; one that is not there is empty."""
    value = said.get(name, "")
    if not isinstance(value, str) or len(value) > longest:
        raise UsageError(f"{name} is not a text of at most {longest:,} characters", "shorten it")
    try:
        value.encode()
    except UnicodeEncodeError:
        hint = "write it without half characters"
        raise UsageError(f"{name} contains an invalid character", hint) from None
    return value


def pairs_at_hand(sent: Any) -> list[Pair]:
    """Read which documents a browser has at hand."""
    found: list[Pair] = []
    for one in _listed(sent, "have", MOST_AT_HAND):
        if not isinstance(one, list) or len(one) != 2:
            raise UsageError("what is at hand is not a list of pairs", "reload the page")
        pair = {"query": one[0], "document": one[1]}
        found.append((text_of(pair, "query", LONGEST_ID), text_of(pair, "document", LONGEST_ID)))
    return found


def _listed(sent: Any, name: str, most: int) -> Sequence[Any]:
    found = [] if sent is None else sent
    if not isinstance(found, list) or len(found) > most:
        raise UsageError(f"{name} is not a list of at most {most}", "send fewer at once")
    return found
