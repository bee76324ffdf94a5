"""A thousand writers are killed at random moments; fifty judges write at once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import store_writers
from idealist.judging.store import Store
from idealist.judging.store_records import Batch, Pooled

KILLS, JUDGES, DOCUMENTS = 1_000, 50, 2_000


def test_nothing_acknowledged_is_lost_in_a_thousand_kills(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    Store.create(path, scale=3).close()
    found = store_writers.run("kills", path, KILLS, 18)
    assert store_writers.check_kept(path, found["acknowledged"]) > KILLS


def test_fifty_judges_judge_every_document_once(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    with Store.create(path) as store:
        pooled = (Pooled(f"q{i % 20}", f"d{i}", i) for i in range(DOCUMENTS))
        store.add_batch(Batch("depth", tuple(pooled)))
    assert store_writers.run("crowd", path, JUDGES) == {"failed": 0}
    with Store(path) as store:
        judged = Counter((row.query, row.document) for row in store.judgments())
        assert len(judged) == DOCUMENTS == judged.total()
        assert store.connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
