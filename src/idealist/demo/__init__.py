"""The demo: a small collection of ours, two real runs over it, and the story they tell.

The runs are made by ``demo/make_runs.py`` in the repository: BM25, and the same candidates put in
the order of a real embedding model.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from idealist.errors import UsageError

#: The files of the collection.
FILES = ("documents.jsonl", "queries.csv", "qrels.txt", "bm25.run", "reranked.run")
#: What is made of them, and its title.
REPORT, TITLE = "report.html", "Does reranking by an embedding model help?"


def leave_files(folder: Path) -> list[str]:
    """Copy the collection to a folder; give the names of files kept because they were changed."""
    kept = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            content = files(__package__).joinpath(name).read_bytes()
            target = folder / name
            if not target.exists():
                target.write_bytes(content)
            elif target.read_bytes() != content:
                kept.append(name)
    except OSError as error:
        hint = "choose another folder with --dir"
        raise UsageError(f"cannot write to {folder}: {error.strerror}", hint) from None
    return kept


def leave_report(folder: Path) -> Path:
    """Write the report on the collection beside its files."""
    import idealist as il  # all of it, which few need

    documents, queries, qrels, *runs = (folder / name for name in FILES)
    known = il.read_queries(queries)
    kinds = "kind" if "kind" in known.columns else None
    found = il.report(
        qrels,
        runs,
        queries=known,
        texts=known,
        docs=documents,
        slices=kinds,
        title=TITLE,
        full=True,
    )
    found.save(folder / REPORT)
    return folder / REPORT
