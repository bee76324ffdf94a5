"""A run large enough that something can happen while it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import idealist as il

QRELS = {f"q{i}": {f"d{i}": 1, "d7": 2} for i in range(0, 400, 3)}
#: Rows of 400 queries that stand together, 1,000 of each.
BODY = b"".join(
    b"".join(b"q%d Q0 d%d %d %d.5 bm25-of-some-kind\n" % (i, j, j, 1000 - j) for j in range(1000))
    for i in range(400)
)


def write_large(folder: Path) -> Path:
    """Write a run of nearly 60 MB, and judgments beside it as ``qrels.txt``."""
    path = folder / "large.run"
    path.write_bytes(BODY.replace(b" bm25", b" %s-bm25" % (b"x" * 110)))
    lines = (f"{q} 0 {d} {grade}\n" for q, judged in QRELS.items() for d, grade in judged.items())
    (folder / "qrels.txt").write_text("".join(lines))
    return path


def measured(run: Any) -> float:
    return float(il.evaluate(QRELS, run, "nDCG@10")["nDCG@10"])
