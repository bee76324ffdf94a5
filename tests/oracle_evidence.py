"""Evidence in chunks, character by character: sets, and no ranges."""

from __future__ import annotations

import re
from typing import Any

from oracle import Doc, top

Params = dict[str, Any]
#: A list of chunks, best first, and the evidence: names of spans.
Names = list[str]


def _documents(docs: list[Doc], pool: list[float], k: float) -> tuple[int, int, int]:
    seen = top(docs, k)
    covered = sum(doc.grade is not None and doc.grade > 0 for doc in seen)
    return covered, sum(grade > 0 for grade in pool), len(seen)


def _EvidenceRecall(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    covered, gold, _ = _documents(docs, pool, k)
    return covered / gold if gold else None


def _EvidencePrecision(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    covered, gold, read = _documents(docs, pool, k)
    if not gold:
        return None
    return covered / read if read else 0.0


def _EvidenceIoU(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    covered, gold, read = _documents(docs, pool, k)
    return covered / (gold + read - covered) if gold else None


def characters(name: str) -> set[tuple[str, int]]:
    """Return the characters of a span."""
    found = re.fullmatch(r"(.*)\[(\d+):(\d+)\]", name)
    assert found is not None, name
    document, start, end = found.groups()
    return {(document, place) for place in range(int(start), int(end))}


def finds(piece: str, chunk: str, above: Names, cover: str) -> bool:
    """Whether a chunk finds a piece of evidence, if those above it did not."""
    own, kind = characters(piece), cover.partition("(")[0]
    if kind == "iou":
        both, either = own & characters(chunk), own | characters(chunk)
        return bool(both) and len(both) / len(either) >= float(cover[4:-1])
    read = set().union(*map(characters, [*above, chunk]))
    least = {"any": 0.0, "whole": 1.0}[kind] if kind != "share" else float(cover[6:-1])
    return bool(own & read) and len(own & read) / len(own) >= least


def entries(chunks: Names, gold: Names, cover: str) -> list[list[str]]:
    """Return what stands for each chunk: the pieces that it finds, or itself if nothing is new."""
    found: set[str] = set()
    listed = []
    for i, chunk in enumerate(chunks):
        new = [one for one in gold if one not in found and finds(one, chunk, chunks[:i], cover)]
        found.update(new)
        listed.append(new or [f"{chunk} again" if chunk in found else chunk])
    return listed


def of_text(name: str, chunks: Names, gold: Names, p: Params, cover: str = "any") -> float | None:
    """Measure the text of some chunks."""
    evidence = set().union(*map(characters, gold))
    if not evidence:
        return None
    if p.get("unit") == "spans":
        found = {one for own in entries(chunks, gold, cover) for one in own if one in gold}
        return len(found) / len(gold)
    sets = list(map(characters, chunks))
    read: set[tuple[str, int]] = set().union(*sets)
    spent = sum(map(len, sets)) if p.get("repeats") == "each" else len(read)
    covered = len(evidence & read)
    divisor = {
        "EvidenceRecall": len(evidence),
        "EvidencePrecision": spent,
        "EvidenceIoU": len(evidence) + spent - covered,
    }[name]
    return covered / divisor if divisor else 0.0
