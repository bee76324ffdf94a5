"""Search engines' answers: read right, or refused with a hint that works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import idealist as il
from engine_shapes import SHAPES, Shape
from idealist.formats.engines.table import ENGINES, engine_of


def order(run: il.Run) -> dict[str, list[str]]:
    """List the documents of each query, best first."""
    rows = run.rows()
    found = {}
    for query, span in rows.spans().items():
        documents = list(rows.documents[span])
        if rows.scores is not None:
            pairs = zip(rows.scores[span].tolist(), documents, strict=True)
            documents = [d for _, d in sorted(pairs, key=lambda pair: -pair[0])]
        found[query] = documents
    return found


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_shape_is_read_as_the_run_that_it_is(shape: Shape, tmp_path: Path) -> None:
    path = shape.write(tmp_path)
    run = il.read_run(str(path), **shape.options(tmp_path))
    assert order(run) == shape.expected()
    assert shape.says in "; ".join(remark.message for remark in run.rows().remarks)
