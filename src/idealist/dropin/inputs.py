"""What trec_eval reads: judgments, the run's tag and reference values for z-scores."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence

import numpy as np

from idealist.data import Qrels
from idealist.data.columns import Floats
from idealist.dropin.arguments import Stop
from idealist.errors import Faults
from idealist.formats import contents, read_preferences, read_qrels
from idealist.formats.cells import is_number
from idealist.formats.source import HEAD, Source, run_name
from idealist.notation import many


def read_judgments(path: str, kind: str) -> Qrels:
    """Read judgments of a kind; plain qrels must judge each document only once."""
    if kind == "prefs":
        return read_preferences(path)
    qrels = read_qrels(path)
    if qrels.preferences is not None:
        message = f"{qrels.name}: these are preferences, but {kind} have four columns"
        raise Stop(2, message, "use -R prefs and preference measures")
    if kind == "qrels" and (qrels.repeats or qrels.subtopics is not None):
        rows = len(qrels) if qrels.subtopics is None else len(qrels.subtopics.pair)
        times = qrels.repeats + rows - len(qrels)
        message = f"{qrels.name}: {many(times, 'document is', 'documents are')} judged twice"
        raise Stop(4, message, "judge each document once, or use groups of judges: -R qrels_jg")
    return qrels


def last_tag(source: Source) -> str:
    """Return the tag on the last line of the run, which trec_eval uses as its name."""
    if not contents.is_trec(source):
        return run_name(source.name)
    for line in reversed(_tail(source).split(b"\n")):
        words = line.split(None, 6)
        if len(words) >= 6 and not words[0].startswith(b"#"):
            return words[5].decode(errors="replace")
    return run_name(source.name)


def _tail(source: Source) -> bytes:
    """Return the last bytes of a run, decompressed."""
    if source.is_plain:
        with source.descriptor() as (file, size):
            os.lseek(file, max(size - HEAD, 0), os.SEEK_SET)
            return os.read(file, HEAD)
    last = b""
    for block in source.blocks():
        last = (last + block)[-HEAD:]
    return last


#: The z-score if the reference lacks the measure or has a standard deviation of 0.
MISSING = -1000000.0

Reference = Mapping[tuple[str, str], tuple[float, float]]


def read_zscores(path: str) -> Reference:
    """Read lines of query, measure, mean and standard deviation."""
    source = Source.of(path)
    faults, found = Faults(source.name), {}
    for line, text in enumerate(source.read().decode().split("\n"), 1):
        words = text.split()
        if not words:
            continue
        if len(words) != 4 or not (is_number(words[2]) and is_number(words[3])):
            hint = "each line holds a query, a measure, a mean and a standard deviation"
            faults.add("columns", f"cannot read {text[:60]!r}", hint, line)
        else:
            found[words[0], words[1]] = float(words[2]), float(words[3])
    faults.check()
    return found


def as_zscores(values: Floats, label: str, queries: Sequence[str], reference: Reference) -> Floats:
    """Express the values of a measure in standard deviations from the reference means."""
    known = [reference.get((query, label), (math.nan, math.nan)) for query in queries]
    mean, spread = np.array(known).reshape(-1, 2).T
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = (values - mean) / spread
    flat = np.where(values == mean, 0.0, MISSING)
    scores = np.where(spread == 0, flat, scores)
    return np.where(np.isnan(mean), MISSING, scores)
