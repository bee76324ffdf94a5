"""The pages about runs: what they show is what the command line prints."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import idealist as il
from web_client import EXAMPLES, Client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with judgments, two runs and the texts of queries."""
    for name in ("qrels.txt", "bm25.run", "reranked.run", "queries.tsv"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    return tmp_path


def test_files_are_found(folder: Path) -> None:
    found = Client.of(folder).get("/files.json").json()["files"]
    roles = {one["file"]: one["role"] for one in found}
    assert roles == {
        "qrels.txt": "judgments", "bm25.run": "run", "reranked.run": "run",
        "queries.tsv": "queries",
    }  # fmt: skip


def test_runs_have_the_values_of_eval(folder: Path) -> None:
    data = Client.of(folder).get("/runs.json?m=nDCG@10&m=AP&c=sklearn").json()
    for one in data["runs"]:
        run = folder / f"{one['run']}.run"
        own = il.evaluate(folder / "qrels.txt", run, ["nDCG@10", "AP"], convention="sklearn")
        assert one["values"] == json.loads(own.to_json())["values"]
