"""Verifying what is easily misread: nobody is accused, and what is not understood is listed."""

from __future__ import annotations

import pytest

import idealist as il
from idealist.measures import parse
from idealist.measures.index import MEASURES

QRELS, BM25, RERANKED = "examples/qrels.txt", "examples/bm25.run", "examples/reranked.run"
RUNS = [BM25, RERANKED]


@pytest.mark.parametrize("name", MEASURES)
def test_a_number_of_every_measure_is_checked(name: str) -> None:
    """Also of those whose parameters nobody gives in a table."""
    try:
        value = il.evaluate(QRELS, BM25, name)[name]
    except (il.UsageError, il.InputError):  # the judgments have not what it needs
        return
    known = {name: parse(name)}
    assert il.verify({"bm25": {name: f"{value:.4f}"}}, QRELS, BM25, measures=known)
