"""What trec_eval reads, and how it stops where it cannot."""

from __future__ import annotations

import os

from idealist.dropin.stop import Stop
from idealist.formats import contents, read_preferences, read_qrels
from idealist.formats.source import HEAD, Source, run_name
from idealist.notation import many
from idealist.tables import Qrels


def read_judgments(path: str, kind: str) -> Qrels:
    """Read judgments of a kind; ordinary ones must judge a document only once."""
    if kind == "prefs":
        return read_preferences(path)
    qrels = read_qrels(path)
    if qrels.preferences is not None:
        message = f"{qrels.name}: these are preferences, and {kind} has four columns"
        raise Stop(2, message, "give -R prefs, and measures of preferences")
    if kind == "qrels" and (qrels.repeats or qrels.subtopics is not None):
        rows = len(qrels) if qrels.subtopics is None else len(qrels.subtopics.pair)
        times = qrels.repeats + rows - len(qrels)
        message = f"{qrels.name}: {many(times, 'document is', 'documents are')} judged twice"
        raise Stop(4, message, "judge each document once, or read groups of judges: -R qrels_jg")
    return qrels


def last_tag(source: Source) -> str:
    """Give the run's tag in the last line that holds data, which trec_eval takes for its name."""
    if not contents.is_trec(source):
        return run_name(source.name)
    for line in reversed(_tail(source).split(b"\n")):
        words = line.split(None, 6)
        if len(words) >= 6 and not words[0].startswith(b"#"):
            return words[5].decode(errors="replace")
    return run_name(source.name)


def _tail(source: Source) -> bytes:
    """Give the last bytes of a run, decompressed."""
    if source.is_plain:
        with source.descriptor() as (file, size):
            os.lseek(file, max(size - HEAD, 0), os.SEEK_SET)
            return os.read(file, HEAD)
    last = b""
    for block in source.blocks():
        last = (last + block)[-HEAD:]
    return last
