"""A folder of responses: one JSON file a query, named after it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from idealist.errors import Faults, InputError
from idealist.formats import json_text
from idealist.formats.cells import shown
from idealist.formats.engines import hits
from idealist.formats.engines.responses import KNOWN, Response, named, responses_in
from idealist.formats.reading import Reading
from idealist.formats.source import Source, plain_suffix, run_name

#: How a run's file is usually called.
RUN_SUFFIXES = (".run", ".trec", ".txt", ".res", ".input")


def is_folder_of_responses(folder: Path) -> bool:
    """Whether a folder holds responses in JSON, beside each other, and is no BEIR folder.

    The first file shows what they are: one that is no response, or answers several queries, is a
    run of its own.
    """
    files = _responses_in(folder)
    if not files or (folder / "qrels").is_dir():
        return False
    source = Source.of(files[0])
    try:
        found = responses_in(json_text.load(source.read(), source.name), Faults(source.name))
    except InputError:  # which reading it will raise
        return True
    return found is not None and len(found) == 1


def of_folder(folder: Path, reading: Reading) -> dict[Any, list[Any]]:
    """Read the responses in a folder as ``{query: [(document, score), …]}``."""
    files = _responses_in(folder)
    if not files:
        _refuse(folder, reading.faults)
    others = [path.name for path in _visible(folder) if path not in files]
    if others:
        some = ", ".join(others[:3]) + (", …" if others[3:] else "")
        reading.remark("read-as", f"{len(others)} other files in {folder} are not read: {some}")
    by_query, how = named([_response(path) for path in files], reading)
    return hits.by_query(by_query, how or "the query is the name of the file, ", reading)


def _response(path: Path) -> Response:
    """Read the response in a file; the file's name is that of the query."""
    source = Source.of(path)
    faults = Faults(source.name)
    data = json_text.load(source.read(), source.name)
    found = responses_in(data, faults)
    if found is None:
        message = f"cannot read {shown(data)} as the response of a search engine"
        faults.fail("bad-shape", message, f"the engines known are {KNOWN}")
    if len(found) > 1:
        message = f"this file holds the responses to {len(found)} queries"
        faults.fail("bad-shape", message, "give the file itself as the run, with --queries FILE")
    (one,) = found
    texts = [words for words in (one.words, one.query) if words is not None]
    return Response(run_name(path), one.body, one.engine, faults, None, *texts[:1])


def _visible(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _responses_in(folder: Path) -> list[Path]:
    return [p for p in _visible(folder) if p.is_file() and plain_suffix(p) == ".json"]


def _refuse(folder: Path, faults: Faults) -> None:
    """Say what the folder holds instead, and what to give."""
    kinds = Counter(
        "folders" if p.is_dir() else plain_suffix(p) or p.name for p in _visible(folder)
    )
    words = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(3)) or "nothing"
    hint = "give a file inside it; a folder is a run if it holds a response in JSON for each query"
    if common := next((kind for kind in kinds if kind in RUN_SUFFIXES), None):
        hint = f"these may be runs: give the files, {folder}/*{common}"
    if (folder / "qrels").is_dir():
        hint = "this is a BEIR folder, which holds judgments; give a run"
    faults.fail("no-file", f"this is a folder, not a run: it holds {words}", hint)
