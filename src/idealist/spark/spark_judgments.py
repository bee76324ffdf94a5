"""Judgments in a data frame of Spark: few are brought to the driver, many stay where they are.

Of many, the driver holds grades and the names of queries. What a hash or a count needs besides is
found in one pass over them in their order.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from idealist.data import Qrels
from idealist.data.columns import freeze, starts_of
from idealist.errors import Faults, InputError, UsageError
from idealist.formats import frames, read_qrels
from idealist.formats.reading import Reading
from idealist.spark.ranked_parts import blocks
from idealist.spark.sessions import functions, is_frame, packed_error, unpacked_error

#: The most judgments that every executor holds: about 60 bytes each, in each of its processes.
MOST_HELD = 2_000_000
#: How many documents of each query the driver keeps the names of, for doubts about ids.
FEW = 3


class JudgedFrame(NamedTuple):
    """Judgments, and their data frame if there are too many to be sent to all executors."""

    qrels: Qrels
    frame: Any = None


def spark_judgments(data: Any) -> JudgedFrame:
    """Read judgments: whatever `read_qrels` reads, or a data frame of Spark."""
    if not is_frame(data):
        qrels = read_qrels(data)
        if qrels.cover:
            hint = "evaluate it on one machine, where 100,000 chunks take some two seconds"
            raise UsageError("evidence in chunks is not evaluated on Spark", hint)
        return JudgedFrame(qrels)
    if data.limit(MOST_HELD + 1).count() <= MOST_HELD:
        return JudgedFrame(read_qrels(data.toArrow()))
    frame = _plain(data)
    return JudgedFrame(_without_documents(frame), frame)


def _plain(data: Any) -> Any:
    """Return the columns query, document and grade; refuse others, which might change values."""
    f, faults = functions(), Faults("qrels")
    named = Reading("grade", faults).named(data.columns)
    theirs = {ours: name for name, ours in named.items()}
    if set(theirs) != {"query", "document", "grade"}:
        shown = ", ".join(data.columns)
        message = (
            f"more than {MOST_HELD:,} judgments can have query, document and grade, not {shown}"
        )
        faults.fail("bad-column", message, "select these three columns")
    ids = [f.col(f"`{theirs[one]}`").cast("string").alias(one) for one in ("query", "document")]
    return data.select(*ids, f.col(f"`{theirs['grade']}`").alias("grade"))


def _without_documents(frame: Any) -> Qrels:
    """Read judgments in their order, and keep all but most of their documents."""
    ordered = frame.withColumn("key", functions().xxhash64("query")).coalesce(1)
    ordered = ordered.sortWithinPartitions("query", "document")
    found = ordered.mapInArrow(_facts, "fact binary")
    queries, sizes, grades, documents = [], [], [], []
    repeats = ungraded = 0
    digest, remarks = "", ()
    for row in found.toLocalIterator():
        fact = pickle.loads(row["fact"])
        if isinstance(fact, tuple):
            raise unpacked_error(fact)
        if isinstance(fact, str):
            digest = fact
            continue
        queries += fact["queries"]
        sizes.append(fact["sizes"])
        grades.append(fact["grades"])
        documents += fact["documents"]
        repeats, ungraded = repeats + fact["repeats"], ungraded + fact["ungraded"]
        remarks = fact["remarks"]
    return Qrels(
        tuple(queries), freeze(starts_of(np.concatenate(sizes))), tuple(documents),
        freeze(np.concatenate(grades)), repeats=repeats, ungraded=ungraded, remarks=remarks,
        stated=digest[:10],
    )  # fmt: skip


def _facts(batches: Iterable[Any]) -> Iterator[Any]:
    """Describe judgments that come in order, some queries at a time, and hash them all."""
    arrow = frames.arrow()
    digest, first = hashlib.sha256(), True
    for table in blocks(batches):
        try:
            qrels = read_qrels(table)
        except InputError as error:
            yield _fact(arrow, packed_error(error))
            return
        for number, line in enumerate(qrels.hashed_lines()):
            if first or number:  # all begin with the same line
                digest.update(line)
        first = False
        yield _fact(arrow, _of_some(qrels))
    yield _fact(arrow, digest.hexdigest())


def _fact(arrow: Any, fact: Any) -> Any:
    return arrow.record_batch([arrow.array([pickle.dumps(fact)], arrow.binary())], ["fact"])


def _of_some(qrels: Qrels) -> dict[str, Any]:
    documents = [
        document if place < FEW else ""
        for _, start, end in qrels.spans()
        for place, document in enumerate(qrels.documents[start:end])
    ]
    return {
        "queries": qrels.queries, "sizes": np.diff(qrels.starts), "grades": np.array(qrels.grades),
        "documents": documents, "repeats": qrels.repeats, "ungraded": qrels.ungraded,
        "remarks": qrels.remarks,
    }  # fmt: skip
