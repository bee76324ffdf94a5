"""Verifying what is easily misread: nobody is accused, and what is not understood is listed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

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


def verified(text: str, qrels: Any, runs: Any, **options: Any) -> il.Verification:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.txt")
        path.write_text(text, encoding="utf-8")
        return il.verify(path, qrels, runs, **options)


# --- best values

#: Runs whose RR is 1/3, 1/2, 1 and 1/4.
ONE = {f"q{i}": {"x": 1} for i in range(4)}
LISTS = {"a": ["y", "z", "x"], "b": ["y", "x"], "c": ["x"], "d": ["y", "z", "w", "x"]}
FOUR = {name: dict.fromkeys(ONE, docs) for name, docs in LISTS.items()}
PRINTED = {"a": ".3333", "b": ".5", "c": "1.0", "d": ".25"}


def best_of(order: str, bold: str, caption: str = "") -> il.Verification:
    """Verify a table of runs in an order in which | is a line."""
    values = {name: rf"\textbf{{{one}}}" if name in bold else one for name, one in PRINTED.items()}
    rows = [r"\midrule" if name == "|" else rf"{name} & {values[name]} \\" for name in order]
    table = rf"\begin{{tabular}}{{lr}} run & RR \\ \midrule {' '.join(rows)} \end{{tabular}}"
    text = rf"\begin{{table}}\caption{{{caption}}} {table} \end{{table}}"
    return verified(text, ONE, FOUR)


@pytest.mark.parametrize(
    ("order", "bold", "caption", "holds"),
    [
        ("ac|b", "b", "", False),  # own results, alone behind a line
        ("a|b|c|d", "b", "", False),  # a line behind every row
        ("ab|cd", "bc", "", True),
        ("a|cd", "ac", "", True),  # every block has its best
        ("a|bd", "ab", "Best per block in bold.", True),
        ("ab|cd", "bc", "The best of each group is bold.", True),
        ("ab|cd", "bd", "The best of each group is bold.", False),
        ("ab|cd", "bc", "The best result per column is bold.", False),
        ("ab|cd", "bc", "The best results overall are bold.", False),
    ],
)
def test_what_is_best_among_what(order: str, bold: str, caption: str, holds: bool) -> None:
    found = best_of(order, bold, caption)
    assert found.best
    assert bool(found) == holds


def test_what_is_best_in_its_block_only_is_said() -> None:
    said = "1 mark of a best value holds only in its block between two lines: b RR"
    assert said in str(best_of("ab|cd", "bc"))
    assert said not in str(best_of("ab|cd", "bc", "The best of each group is bold."))
    assert said not in str(best_of("ab|cd", "c"))


def test_the_best_of_each_row_is_that_of_a_table_with_a_run_a_column() -> None:
    row = "| metric | a | b |\n|---|---|---|\n| RR | .3333 | **.5** |\n"
    turned = verified(f"Best per row in bold.\n\n{row}", ONE, FOUR)
    assert [one.holds for one in turned.best] == [True]
    wrong = verified(f"Best per row in bold.\n\n{row.replace('.3333', '**.3333**')}", ONE, FOUR)
    assert not wrong
    for caption in ("Best per column in bold.", "Best per row and best per block are bold."):
        other = verified(f"{caption}\n\n{row}", ONE, FOUR)
        assert not other.best
        assert any("bold or underlined is not checked" in words for words in other.unread)
