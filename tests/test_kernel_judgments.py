"""Judgments that the kernel reads are those that Python reads, to the bit, hash included."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il
from idealist import kernel
from idealist.data.kernel_pairs import KernelDocuments
from idealist.formats import read_qrels
from judgment_cases import both, some_judgments_case
from kernels import compiled

pytestmark = compiled

TEXT = b"q2 0 d1 1\nq1 0 d9 0\nq1 0 d10 2\nq1 0 d10 2\n"


@pytest.fixture(autouse=True)
def _native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", "native")


def test_both_kernels_read_the_same(tmp_path: Path) -> None:
    read: Counter[bool] = Counter()
    for seed in range(400):
        case = some_judgments_case(random.Random(seed))
        defined, found = both(case, tmp_path)
        assert found == defined, f"seed {seed}: {case}"
        read["error" in defined] += 1
    assert min(read.values()) > 40


def written(folder: Path, text: bytes = TEXT) -> Path:
    path = folder / "some.qrels"
    path.write_bytes(text)
    return path


def test_documents_become_texts_when_they_are_asked_for(tmp_path: Path) -> None:
    qrels = read_qrels(written(tmp_path))
    documents = qrels.documents
    assert isinstance(documents, KernelDocuments)
    found = il.evaluate(qrels, {"q1": ["d10"], "q2": ["d1"]}, ["AP", "nDCG@10"])
    assert found["AP"] == 1
    assert qrels.hash
    assert len(qrels) == 3
    assert qrels.repeats == 1
    assert "texts" not in vars(documents)
    assert documents == ("d10", "d9", "d1")
    assert documents[0] == "d10"
    assert documents[1:] == ("d9", "d1")
    assert "d9" in documents
    assert pickle.loads(pickle.dumps(documents)) == documents.texts
    assert repr(documents) == "('d10', 'd9', 'd1')"
    assert hash(documents) == hash(documents.texts)


def test_other_queries_are_not_looked_up_among_these(tmp_path: Path) -> None:
    """What the kernel knows of documents holds for their own queries only."""
    from dataclasses import replace

    qrels = read_qrels(written(tmp_path))
    other = replace(qrels, queries=("q1", "q3"))
    assert il.evaluate(other, {"q3": ["d1"], "q1": ["x"]}, "RR")["RR"] == 0.5
    assert qrels.hash != other.hash == read_qrels(other.to_dict()).hash


@pytest.mark.parametrize("text", [
    b"q1 1 d1 1\n", b"q1 0 d1 1\nq1 Q0 d2 1\n", b"q1 0 d1 1\nq1 0 d1 2\n", b"q1 0 d1 x\n",
    b"q1 0 d1 1e10\n", b"q1 0 d1\n", b"q1 0 d1 1 5\n", b"# nothing\n", b"", b"q1 0 \xff 1\n",
    b"q1 0 d1 nan\n", b"q1 0 " + b"d" * 2**20 + b" 1\n",
], ids=lambda text: repr(text[:20]))  # fmt: skip
def test_what_is_unusual_is_left_to_python(text: bytes) -> None:
    module = kernel.native()
    assert module is not None
    assert module.read_qrels(text) is None
    assert module.read_qrels(TEXT) is not None


def columns(**changed: Any) -> dict[str, Any]:
    return {
        "query": np.array(["q2", "q1"]), "document": np.array([7, 12]),
        "grades": np.array([1.0, 0.5]), **changed,
    }  # fmt: skip


def test_any_columns_are_read() -> None:
    """Another reader may hand over columns that it has made."""
    module = kernel.native()
    assert module is not None
    pairs, grades, repeats = module.read_judgments(columns())
    assert (pairs.queries(), pairs.documents(), repeats) == (("q1", "q2"), ("12", "7"), 0)
    assert np.frombuffer(grades).tolist() == [0.5, 1.0]
    for odd in (
        {"grades": np.array([1.0, np.nan])}, {"grades": np.array([1.0])},
        {"document": np.array(["", "x"])}, {"query": np.array([1.5, 2.5])},
        {"query": np.zeros(0, "U1"), "document": np.zeros(0, "U1"), "grades": np.zeros(0)},
    ):  # fmt: skip
        assert module.read_judgments(columns(**odd)) is None


def test_pairs_that_do_not_fit_are_refused() -> None:
    module = kernel.native()
    assert module is not None
    for starts in ([0, 2], [1, 1], [0, 5, 1], []):
        with pytest.raises(ValueError, match="one start for each query"):
            module.Pairs(("q",), np.array(starts, dtype=np.int64), ("a",))
    pairs = module.Pairs(("q",), np.array([0, 1]), ("a",))
    with pytest.raises(ValueError, match="one grade for each pair"):
        pairs.lines(np.zeros(2), str, 0, 1)
    with pytest.raises(ValueError, match="queries that there are"):
        pairs.lines(np.zeros(1), str, 0, 2)
