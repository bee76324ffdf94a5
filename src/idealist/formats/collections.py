"""Test collections: BEIR's folders, and what the package ir_datasets knows by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from idealist.errors import Faults, UsageError

#: What stands before the name of a collection of ir_datasets.
IRDS = "irds:"
#: How ir_datasets gives each kind of table.
ITERATORS = {"qrels": "qrels_iter", "run": "scoreddocs_iter", "queries": "queries_iter"}


def resolved(data: Any, kind: str) -> Any:
    """Give the file inside a BEIR folder, or a collection's records; anything else as it is."""
    if isinstance(data, str) and data.startswith(IRDS):
        data = _load(data.removeprefix(IRDS))
    if hasattr(data, ITERATORS[kind]):
        return getattr(data, ITERATORS[kind])()
    if hasattr(data, "docs_iter"):
        raise UsageError(f"the collection has no {kind}", "give a part of it that has")
    if isinstance(data, (str, Path)) and os.path.isdir(data):
        return _inside(Path(data), kind)
    return data


def _load(name: str) -> Any:
    try:
        import ir_datasets
    except ImportError:
        hint = "pip install ir_datasets"
        raise UsageError(f"{IRDS}{name} needs a package that is not installed", hint) from None
    try:
        return ir_datasets.load(name)
    except KeyError:
        hint = "see the catalogue of ir_datasets"
        raise UsageError(f"ir_datasets has no collection {name!r}", hint) from None


def _inside(folder: Path, kind: str) -> Path:
    faults = Faults(str(folder))
    if kind == "queries" and (folder / "queries.jsonl").is_file():
        return folder / "queries.jsonl"
    splits = sorted((folder / "qrels").glob("*.tsv"))
    if kind != "qrels" or not splits:
        hint = "give a file inside it; a BEIR folder has queries.jsonl and qrels/*.tsv"
        noun = "a run" if kind == "run" else kind
        faults.fail("no-file", f"this is a folder, not {noun}", hint)
    if len(splits) == 1:
        return splits[0]
    names = ", ".join(f"qrels/{split.name}" for split in splits)
    faults.fail("no-file", f"this folder has several judgments: {names}", "give one of them")
