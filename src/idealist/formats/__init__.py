"""Reading: whatever a user has becomes `Qrels`, `Run` or `Queries`, or an error that helps."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from idealist.data import Qrels, Rows, Run, Scale
from idealist.errors import Contradictions, Faults, UsageError
from idealist.formats import (
    build,
    bundle_files,
    contents,
    engines,
    preference_files,
    run_folders,
    trec,
)
from idealist.formats.arrays import read_arrays
from idealist.formats.column_names import Given
from idealist.formats.column_runs import ColumnRun, compiled_qrels, is_columns
from idealist.formats.contents import kind_of
from idealist.formats.evidence_gold import as_evidence
from idealist.formats.grade_words import by_word
from idealist.formats.judged_files import kernel_qrels
from idealist.formats.judges import PROPOSED, merged
from idealist.formats.pair_files import Pairs, pairs_name
from idealist.formats.pool_samples import read_prels, read_strata
from idealist.formats.preference_files import read_preferences
from idealist.formats.query_files import read_queries
from idealist.formats.reading import Decimal, DescribedFile, Reading, ReadOptions, described
from idealist.formats.run_sources import FileRun, ObjectRun, table
from idealist.formats.source import Source, distinct, run_name
from idealist.formats.span_cells import checked_rows, names_spans
from idealist.formats.stored_judgments import store_address, stored_qrels

__all__ = [
    "kind_of", "read_arrays", "read_chunks", "read_evidence", "read_pairs", "read_preferences",
    "read_prels", "read_qrels", "read_queries", "read_run", "read_strata",
]  # fmt: skip


def read_qrels(
    data: Any, *, columns: Given | Sequence[str] | None = None, decimal: Decimal | None = None,
    scale: Any = None, merge: str | None = None, judgments: str | None = None, name: str = "",
) -> Qrels:  # fmt: skip
    """Read judgments from a file, a BEIR folder, a data frame or other Python data.

    A file is TREC text, JSON, JSON by the line, columns with a header (CSV, TSV), Parquet or
    Arrow, compressed or not; ``-`` is standard input, ``irds:NAME`` a collection of ir_datasets.
    `columns` names columns that have other names than usual, theirs by ours: {"document": "nr"}; or
    all columns of a file without a header, in order: ["query", "document", "grade"].
    `decimal` says what 1,234 is where a file does not show it: 1.234 with "comma", 1234 with
    "point". `scale` declares the possible grades: the highest one, a list, {grade: label}, or
    {word: grade} where the grades are words. `merge` makes one grade of several judges': mean,
    median, majority, max, min or latest. `judgments` says what a document without a judgment is:
    ``complete`` or ``positives``, not relevant; ``pooled``, unknown.

    >>> read_qrels({"q1": {"d1": 2, "d2": 0}})
    <Qrels qrels: 1 query, 2 judgments, b982a29162>
    """
    data, options = described(
        data, columns=columns, decimal=decimal, scale=scale, merge=merge, judgments=judgments
    )
    if isinstance(data, (str, Path)) and names_spans(contents.row_names(data)):
        options = options.of_spans
    return _read_qrels(data, options, name)


def _read_qrels(data: Any, options: ReadOptions, name: str) -> Qrels:
    """Read judgments by what is said about them, on documents or on parts of them."""
    words = options.words()
    if options.spans and not options.judgments:
        options = replace(options, judgments="positives")
    try:
        made = _judgments(contents.resolved(data, "qrels"), options, name)
    except Contradictions as error:
        if not options.merge or error.without:
            error.read_with = tuple(replace(options, merge=PROPOSED).words())
            raise
        made = merged(error.given, options.merge)
    if words:
        made = replace(made, read_with=tuple(words))
    if options.judgments:
        made = replace(made, meant=options.judgments)
    if options.spans:
        made = as_evidence(made, options.cover or made.cover or "any")
    elif options.cover:
        hint = "give start and end of each, or say what offsets count"
        raise UsageError(f"cover={options.cover} is about spans, and these are documents", hint)
    return replace(made, name=name) if name else made


def read_evidence(
    data: Any, *, docs: Any = None, cover: str = "", offsets: str = "",
    columns: Given | Sequence[str] | None = None, name: str = "",
) -> Qrels:  # fmt: skip
    """Read evidence: the parts of documents that chunks are to find, however these are cut.

    A row has query and document, and start, end, the quote, or all of them; judgments whose
    documents are called ``document[start:end]`` are evidence too. `docs` are the documents' texts
    as `document_texts` takes them: quotes are looked for there, first as they are, then without
    regard to case, blanks and signs, then with few edits. `offsets` count ``characters``, or the
    units of ``utf8`` or ``utf16``, which takes `docs`. `cover` says when a chunk finds a piece of
    evidence: with ``any`` character of it, with ``share(T)`` of it or the ``whole``, both together
    with the chunks above, or with an ``iou(T)`` of its own.

    >>> gold = read_evidence([{"query": "q1", "doc": "d1", "quote": "in place"}],
    ...                      docs={"d1": "Lists can be sorted in place."})
    >>> gold.to_dict(), gold.cover
    ({'q1': {'d1[20:28]': 1}}, 'any')
    """
    data, options = described(
        data, docs=docs, cover=cover or None, offsets=offsets or None, columns=columns
    )
    return _read_qrels(data, options.of_spans, name)


def read_chunks(
    data: Any, *, docs: Any = None, offsets: str = "",
    columns: Given | Sequence[str] | None = None, queries: Any = None, name: str = "",
) -> Run:  # fmt: skip
    """Read a run whose documents are chunks: parts of documents with start and end, or a text.

    A chunk is then called ``document[start:end]``. One that has only a text is looked for in
    `docs`, as the quotes of evidence are; one that is not found there was read, and finds nothing.

    >>> read_chunks({"q1": [{"document": "d1", "start": 0, "end": 9}]}).rows().documents
    ['d1[0:9]']
    """
    known = None if queries is None else read_queries(queries)
    data, options = described(
        data, docs=docs, offsets=offsets or None, columns=columns, queries=known
    )
    if isinstance(data, (str, Path)):
        return read_run(DescribedFile(str(data), options.of_spans), name=name).loaded()
    if isinstance(data, Run):
        return Run(getattr(data.source, "chunks", data.source.rows)(), name or data.name)
    return Run(ObjectRun(data, name or "run", options).chunks(), name or "run")


def read_run(
    data: Any, *, columns: Given | Sequence[str] | None = None, decimal: Decimal | None = None,
    queries: Any = None, name: str = "",
) -> Run:  # fmt: skip
    """Read a run from a file, a data frame, search responses by query or other Python data.

    Files are of the same kinds as for judgments, and are read only when the run is ranked. Without
    scores, the ranks are the ranking, or else the given order. `columns` names columns that have
    other names than usual, or those of a file without a header, and `decimal` says what a comma
    is, both as for judgments. A folder holds one search response a file. `queries` name the queries
    of responses: by id or text where they are named, or else in their order.

    >>> read_run({"q1": ["d3", "d1"]}, name="dense")
    <Run dense>
    """
    known = None if queries is None else read_queries(queries)
    data, options = described(data, columns=columns, decimal=decimal, queries=known)
    data = contents.resolved(data, "run")
    if bundle_files.is_bundle(data):
        data = bundle_files.bundled_run(data)
    if isinstance(data, Run):
        return data.renamed(name) if name else data
    _check_one(data)
    if store_address(data) is not None:
        hint = "a store holds judgments: give it where judgments are read"
        Faults(str(data)).fail("bad-shape", "this is a database of SQLite, not a run", hint)
    if isinstance(data, (str, Path)) and os.path.isdir(data):
        return Run(_rows_of_folder(Path(data), options), name or run_name(data))
    if not isinstance(data, (str, Path)):
        return Run(ObjectRun(data, name or "run", options).rows(), name or "run")
    return Run(FileRun(Source.of(data), options), name or run_name(data))


def _check_one(data: Any) -> None:
    """Refuse several runs."""
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], (str, Path, Run)):
        hint = "evaluate several with Evaluator(qrels, measures).each(runs)"
        raise UsageError("these are several runs, not one", hint)


def borrowed_run(data: Any, *, name: str = "") -> Run:
    """Read a run for the duration of a call: an object in memory is not copied."""
    data = contents.resolved(data, "run")
    if isinstance(data, (str, Path, Run, DescribedFile)):
        return read_run(data, name=name)
    _check_one(data)
    kind = ColumnRun if is_columns(data) else ObjectRun
    return Run(kind(data, name or "run"), name or "run")


def several_runs(data: Iterable[Any]) -> list[Run]:
    """Read runs in a list, or by name, for the duration of a call, and name them apart.

    A bundle in a list stands for all of its runs; so does a folder of runs, or a pattern.
    """
    if isinstance(data, Mapping):
        found = [borrowed_run(run, name=str(name)) for name, run in data.items()]
    else:
        found = [borrowed_run(run) for run in bundle_files.unfolded(run_folders.gathered(data))]
    names = distinct([run.name for run in found])
    return [run.renamed(name) for run, name in zip(found, names, strict=True)]


def one_or_several(data: Any) -> list[Run]:
    """Read one run, several in a list, or several by name, and name them apart."""
    named = isinstance(data, Mapping) and data and all(map(_is_run, data.values()))
    several = isinstance(data, (list, tuple)) and all(map(_is_run, data))  # and not one's records
    found = several_runs(data if named or several else [data])
    if not found:
        raise UsageError("there is no run", "give at least one run")
    return found


def _is_run(value: Any) -> bool:
    """Whether it is a run and not what one query of a run retrieved."""
    if isinstance(value, (Run, str, Path)):
        return True
    lists = value.values() if isinstance(value, Mapping) else ()
    cells = {"score", "rank", "tokens"}  # {document: {"score": …}} is one query's
    return any(isinstance(one, (Mapping, list)) and not cells & {*one} for one in lists)


def read_pairs(pairs: Any, *, columns: Given | None = None, name: str = "") -> tuple[Qrels, Run]:
    """Read data that holds both sides: what was retrieved and what should have been.

    Usually that is a record for each query, in a JSON file, JSON by the line or Python data.
    Queries without a name are numbered from 1. A table with scores and grades holds both sides too.
    `columns` names fields that have other names than usual, theirs by ours: {"ranking": "chunks",
    "gold": "answers_in"}.

    >>> qrels, run = read_pairs([{"retrieved": ["d2", "d1"], "ground_truth": {"d1": 1}}])
    >>> qrels.queries, run
    (('1',), <Run run>)
    """
    data, options = described(pairs, columns=columns)
    qrels, run = Pairs.of(data, options, name).read(name or pairs_name(data))
    return replace(qrels, read_with=tuple(options.words()), meant=options.judgments), run


def _rows_of_folder(folder: Path, options: ReadOptions) -> Rows:
    reading = Reading("score", Faults(str(folder)), options)
    found = table(engines.of_folder(folder, reading), reading)
    return build.rows(found, str(folder), reading.remarks)


def _judgments(data: Any, options: ReadOptions, name: str) -> Qrels:
    """Read judgments by what a user says about them."""
    scale = None if options.scale is None else Scale.of(options.scale)
    if isinstance(data, Qrels):
        if options.merge and options.merge != data.merge:
            raise UsageError("these judgments were read already", "say merge where you read them")
        return data if scale is None else data.on(scale)
    if (store := store_address(data)) is not None:
        return stored_qrels(store, options)
    if bundle_files.is_bundle(data):
        found = bundle_files.opened(data).qrels
        return found if scale is None else found.on(scale)
    if isinstance(data, (str, Path)):
        return _qrels_of_file(Source.of(data), scale, options)
    name = name or "qrels"
    if not options.spans and (made := compiled_qrels(data, options, name)) is not None:
        return made
    reading = Reading("grade", Faults(name), options)
    return build.qrels(table(data, reading), scale, name, reading.remarks, options.merge)


def _qrels_of_file(source: Source, scale: Scale | None, options: ReadOptions) -> Qrels:
    if not options.spans and (read := kernel_qrels(source, options)) is not None:
        return read
    reading = Reading("grade", Faults(source.name), options)
    found = contents.cells(source, reading)
    if isinstance(found, bytes) and contents.is_preferences(found, source):
        made = preference_files.of_trec(found, source.name)
        return made if scale is None else made.on(scale)
    if isinstance(found, bytes):
        other = reading.values if by_word(options.scale) else None
        return replace(trec.read_qrels(found, source.name, scale, other), is_trec=True)
    rows = checked_rows(found, reading)
    return build.qrels(rows, scale, source.name, reading.remarks, options.merge)
