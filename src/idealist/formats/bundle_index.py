"""The index of a bundle: its checksum, and whether it and the file are what they can be.

Checksums show damage, not who wrote it: whatever a forged index says, it is refused or it is used
as it stands, and never ends in a traceback.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from idealist.data.judgments import GOLD
from idealist.errors import UsageError
from idealist.protocol import Protocol

#: The key of the checksum of all others.
SEAL = "checksum"
#: What the record begins with that ends a zip, and its size without a comment.
ENDING, ENDING_SIZE = b"PK\x05\x06", 22
#: How bad a remark can be.
SEVERITIES = ("error", "warning", "note")


def sealed(index: Mapping[str, Any]) -> bytes:
    """Write an index as JSON, with its own checksum.

    >>> sealed({"runs": []})[:38]
    b'{"runs":[],"checksum":"6f23bb10da82b8a'
    """
    return json.dumps({**index, SEAL: checksum(index)}, separators=(",", ":")).encode()


def checksum(index: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an index without its checksum: ASCII, keys in order, no blanks."""
    others = {key: value for key, value in index.items() if key != SEAL}
    text = json.dumps(others, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def check(holds: Any, what: str) -> None:
    """Refuse what contradicts itself, or is not what an index can say."""
    if not holds:
        raise ValueError(f"its {what} contradict each other")


def check_judgments(about: Mapping[str, Any]) -> None:
    """Refuse what the index cannot say of judgments."""
    queries, words, scale = about["queries"], about["words"], about["scale"]
    check(_texts(queries) and queries == sorted({*queries}), "queries")
    check(isinstance(about["hash"], str) and re.fullmatch("[0-9a-f]{10}", about["hash"]), "hash")
    check(isinstance(words, dict) and all(map(_texts, words.values())), "words")
    check(scale is None or _is_scale(*scale), "scale")
    check(_count(about["repeats"]) and _count(about["ungraded"]), "counts")
    check(isinstance(about["trec"], bool) and about["meant"] in ("", *GOLD), "judgments")
    _check_remarks(about["remarks"])


def _is_scale(grades: Any, labels: Any) -> bool:
    real = isinstance(grades, list) and all(type(one) in (int, float) for one in grades)
    return real and _texts(labels) and len(labels) in (0, len(grades))


def check_run(about: Mapping[str, Any]) -> None:
    """Refuse what the index cannot say of a run."""
    check(isinstance(about["name"], str) and about["name"], "names")
    check(_texts(about["others"]) and _count(about["unscored"]), "counts")
    check(isinstance(about["lists"], list) and about["lists"], "lists")
    _check_remarks(about["remarks"])
    same, rules = about["same"], [one["rules"] for one in about["lists"]]
    for one in (same, *rules, {"collapse": about["collapse"]}):
        check(isinstance(one, dict) and one.keys() <= Protocol.parameters().keys(), "rules")
        try:
            check(Protocol(**one).written().items() >= one.items(), "rules")
        except UsageError as error:
            raise ValueError(str(error)) from None


def check_columns(columns: Iterable[Any], size: int) -> None:
    """Refuse columns of other types than these, or that do not fill a member of this size."""
    total = 0
    for _, kind, length in columns:
        check(np.dtype(kind).kind in "fiu" and _count(length), "columns")
        total += np.dtype(kind).itemsize * length
    check(total == size, "sizes")


def _check_remarks(remarks: Any) -> None:
    for code, message, count, severity, total in remarks:
        check(_texts([code, message]) and severity in SEVERITIES, "remarks")
        check(_count(count) and _count(total), "remarks")


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**62


def has_end(data: bytes) -> bool:
    """Whether the record is there that ends every zip."""
    return 0 <= data.rfind(ENDING) <= len(data) - ENDING_SIZE


def is_whole(data: bytes) -> bool:
    """Whether the list of members ends where its record begins, as that says."""
    at = data.rfind(ENDING)
    return has_end(data) and sum(struct.unpack_from("<II", data, at + 12)) == at
