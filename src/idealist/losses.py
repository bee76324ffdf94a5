"""What a format cannot hold of a table, in words."""

from __future__ import annotations

from idealist.formats import flat
from idealist.notation import many
from idealist.tables import Qrels, Rows
from idealist.tables.judgments import subtopics_in

Held = frozenset[str]


def of_qrels(qrels: Qrels, holds: Held, columns: flat.Flat) -> list[str]:
    """Say what judgments lose in a format that holds so much."""
    lost = []
    if (empty := columns["document"].count(None)) and "empty" not in holds:
        verb = "is" if empty == 1 else "are"
        words = many(empty, "query", "queries")
        lost.append(f"{words} judged to have no relevant document {verb} left out")
    kept = qrels.columns if "columns" in holds else holds
    if gone := [*(key for key in qrels.columns if key not in kept), *qrels.ignored]:
        lost.append(f"columns are left out: {', '.join(gone)}")
    if qrels.subtopics is not None and "subtopic" not in columns:
        lost.append("subtopics are left out; a document has the highest of its grades")
    if qrels.preferences is not None:
        lost.append("preferences are left out; a document has the highest of its levels")
    if qrels.scale is not None:
        lost.append("the declared scale is left out")
    if qrels.ungraded:
        lost.append(f"{many(qrels.ungraded, 'row', 'rows')} without a grade left out")
    return lost


def keeps_subtopics(holds: Held, columns: flat.Flat) -> bool:
    """Whether subtopics can be read again: TREC's second column shows them by repeats alone."""
    if "columns" in holds or "subtopics" not in holds:
        return "columns" in holds
    return bool(subtopics_in(columns["query"], columns["document"], columns["subtopic"]))


def of_run(rows: Rows, holds: Held, columns: flat.Flat) -> list[str]:
    """Say what a run loses in a format that holds so much."""
    lost = [f"columns are left out: {', '.join(rows.ignored)}"] if rows.ignored else []
    if rows.unscored:
        lost.append(f"{many(rows.unscored, 'row', 'rows')} without a score left out")
    if (empty := columns["document"].count(None)) and "empty" not in holds:
        verb = "is" if empty == 1 else "are"
        lost.append(f"{many(empty, 'query', 'queries')} without any document {verb} left out")
    named = {"score": "scores", "rank": "ranks", "tokens": "lengths"}
    gone = [words for key, words in named.items() if key in columns and key not in holds]
    if gone:
        lost.append(f"{' and '.join(gone)} are left out")
    return lost
