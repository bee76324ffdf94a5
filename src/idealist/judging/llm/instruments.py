"""One name, one instrument: a judge's name stands for a model, a prompt and all its settings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from idealist.errors import UsageError
from idealist.judging.record_checks import NAME_HINT, fault_of_name

if TYPE_CHECKING:
    from idealist.judging.store import Store
    from idealist.judging.store_records import Judgment

#: What an instrument is made of, in words; a judge that changes in one of these is another judge.
PARTS = {
    "model": "the model", "prompt": "the prompt", "temperature": "the temperature",
    "seed": "the seed", "samples": "the number of samples",
    "guidelines": "the guidelines have changed",
    "examples": "people have judged more since, so other examples are shown",
}  # fmt: skip
#: Parts that are known by a hash, which says nothing to people; their words say it all.
HASHED = ("guidelines", "examples")
HINT = "give this judge another name: --judge NAME; or put it back as it was"

#: Where answers of each kind of prompt end up.
TABLES = {"grade": "standing_judgment", "preference": "preference"}
_USED = """
SELECT DISTINCT call.model, prompt.name || '@' || prompt.version || ' ' || prompt.hash,
    parameters ->> 'temperature', (parameters ->> 'seed') - (parameters ->> 'sample'),
    parameters ->> 'samples', parameters ->> 'guidelines', parameters ->> 'examples'
FROM call JOIN prompt ON prompt.hash = call.prompt
WHERE call.id IN (SELECT call FROM {table} WHERE judge = ?)
"""


def check_name(store: Store, name: str, model: str) -> None:
    """Refuse a name that cannot be, or that somebody has who is no model."""
    if not model.strip():
        raise UsageError("the model has no name", "give --model NAME, as the server calls it")
    if fault := fault_of_name(name):
        raise UsageError(fault, NAME_HINT)
    taken = "SELECT kind FROM judgment WHERE judge = ? AND kind <> 'model' LIMIT 1"
    with store.reading() as connection:
        row = connection.execute(taken, (name,)).fetchone()
    if row is not None:
        message = f"{name} is a judge of kind {row[0]} in {store.path}; a model cannot be called so"
        raise UsageError(message, "choose another name: --judge NAME")


def check_instrument(store: Store, name: str, kind: str, now: Mapping[str, Any]) -> None:
    """Refuse to add to what was said under this name with another model, prompt or setting."""
    with store.reading() as connection:
        used = connection.execute(_USED.format(table=TABLES[kind]), (name,)).fetchall()
    for row in used:
        if apart := list(_apart(dict(zip(PARTS, row, strict=True)), now)):
            message = f"{name} judged in {store.path} in another way: {'; '.join(apart)}"
            raise UsageError(message, HINT)


def _apart(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Name the parts that differ; what was not recorded is not compared."""
    for part, words in PARTS.items():
        was, is_now = before[part], now[part]
        if was is None or was == is_now:
            continue
        if part in HASHED:
            yield words
        elif part == "prompt":
            labels = [str(one).split()[0] for one in (was, is_now)]
            yield f"{words} was {labels[0]} and is {labels[1]}"
        else:
            yield f"{words} was {_shown(was)} and is {_shown(is_now)}"


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def outdated(store: Store, judgments: Iterable[Judgment]) -> dict[tuple[str, str], int | None]:
    """Find the pairs whose document had another text when it was judged; and those judgments."""
    with store.reading() as connection:  # the last text of each document
        texts = dict(connection.execute("SELECT document, text FROM document ORDER BY id"))
    return {
        (one.query, one.document): one.id
        for one in judgments
        if one.seen and texts.get(one.document, one.seen) != one.seen
    }


def short_hash(text: str) -> str:
    """Return by what a text is known again; empty for none."""
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""
