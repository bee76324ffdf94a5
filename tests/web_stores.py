"""A folder with a store that several judges filled, for the tests of the workbench."""

from __future__ import annotations

import shutil
from pathlib import Path

import idealist as il
from idealist.judging.store_records import Batch, Judgment, Pooled, Preference
from web_client import EXAMPLES, Client

#: Names that would do harm where they were written as they are.
EVE = "<script>alert(1)</script>"
NOTE = '"><img src=x onerror=alert(2)>'


def filled_folder(path: Path) -> Path:
    """Make a folder with runs and a store: ann, bob and eve judged, and disagree here and there."""
    for name in ("qrels.txt", "bm25.run", "reranked.run", "queries.tsv"):
        shutil.copy(EXAMPLES / name, path / name)
    judged = il.read_qrels(path / "qrels.txt").to_dict()
    pairs = [(query, one, grade) for query, own in judged.items() for one, grade in own.items()]
    top = int(max(grade for *_, grade in pairs))
    scale = {grade: f"grade {grade} <b>" for grade in range(top + 1)}
    docs = {one: {"title": f"About {one}", "text": f"words of {one} <i>"} for _, one, _ in pairs}
    with il.Store.create(
        path / "labels.db", scale=scale, queries=path / "queries.tsv", docs=docs
    ) as store:
        pooled = (Pooled(query, one, i) for i, (query, one, _) in enumerate(pairs))
        store.add_batch(Batch("depth", tuple(pooled)))
        store.judge_all(Judgment(q, d, g, "ann", seconds=4.0, batch=1) for q, d, g in pairs)
        store.judge_all(
            Judgment(q, d, (g + (i % 4 == 0)) % (top + 1), "bob", note=NOTE, seconds=2.0)
            for i, (q, d, g) in enumerate(pairs)
        )
        store.judge_all(Judgment(q, d, g, EVE) for q, d, g in pairs[:5])
        query, one, _ = pairs[0]
        other = next(d for q, d, _ in pairs if q == query and d != one)
        store.prefer(Preference(query, one, other, "ann"))
    return path


def shown(client: Client, address: str) -> str:
    """Return a page when it is done."""
    for _ in range(500):
        answer = client.get(address)
        if answer.status != 202:
            break
    assert answer.status == 200, answer.text
    return answer.text
