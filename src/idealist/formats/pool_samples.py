"""TREC's judged samples of a pool: files of five columns, with strata or with probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from idealist.data import Qrels, Scale
from idealist.errors import Faults
from idealist.formats import trec
from idealist.formats.source import Source

STRATA = trec.Layout(
    "lines of a sample by stratum are: query iteration document stratum grade",
    {"grade": trec.FINITE}, skipped=frozenset({"iteration"}),
)  # fmt: skip
PRELS = trec.Layout(
    "prels lines are: query document grade method inclusion",
    {"grade": trec.FINITE, "inclusion": trec.FINITE_OR_NA},
)

#: The grade that prels give a document that was not judged.
NOT_JUDGED = -999
#: How prels number the ways a document was chosen: by chance, or for certain, or both.
BY_CHANCE, FOR_CERTAIN = frozenset({"1", "2", "4"}), frozenset({"0", "2"})


def read_strata(path: str | Path, *, scale: Any = None, name: str = "") -> Qrels:
    """Read a sample by stratum: lines of query, iteration, document, stratum and grade.

    This is what NIST's sample_eval reads. Every document of the pool has a line; a negative grade
    says that it was not drawn. The strata become the judgments' column `stratum`, which xinfAP and
    infNDCG need, and statAP uses.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "sample.txt").write_text("1 0 a top 2\\n1 0 b deep -1")
    ...     read_strata(Path(folder, "sample.txt")).columns["stratum"]
    ('top', 'deep')
    """
    return _built(Source.of(path), STRATA, "stratum", scale, name)


def read_prels(path: str | Path, *, scale: Any = None, name: str = "") -> Qrels:
    """Read a sample by probability: lines of query, document, grade, method and probability.

    These are the prels of TREC's Million Query tracks. The probabilities become the judgments'
    column `inclusion`, which statAP uses. As in its script, a document chosen by method 0 or 2 is
    certain to be included. Left out are documents with the grade -999 or without a probability
    above 0 and up to 1, and queries where nothing was chosen by method 1, 2 or 4.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "prels.txt").write_text("1 a 1 1 0.25\\n1 b 0 2 0.5\\n1 c 0 1 NA")
    ...     read_prels(Path(folder, "prels.txt")).columns["inclusion"].tolist()
    [0.25, 1.0]
    """
    return _built(Source.of(path), PRELS, "inclusion", scale, name)


def _built(source: Source, layout: trec.Layout, column: str, scale: Any, name: str) -> Qrels:
    found = trec.parsed(source.read(), layout, Faults(source.name))
    if layout == PRELS:
        found = _sampled(found)
    return Qrels.build(
        found["query"], found["document"], found["grade"], columns={column: found[column]},
        lines=found["lines"], name=name or source.name,
        scale=None if scale is None else Scale.of(scale),
    )  # fmt: skip


def _sampled(prels: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Keep the documents drawn for queries that have a sample; the certain ones have chance 1."""
    query, method, chance = prels["query"], prels["method"], prels["inclusion"]
    drawn = [i for i, p in enumerate(chance) if 0 < p <= 1 and prels["grade"][i] > NOT_JUDGED]
    sampled = {query[i] for i in drawn if method[i] in BY_CHANCE}
    prels["inclusion"] = [
        1.0 if m in FOR_CERTAIN else p for m, p in zip(method, chance, strict=True)
    ]
    return {name: [cells[i] for i in drawn if query[i] in sampled] for name, cells in prels.items()}
