"""`idealist judge import` and `judge export`: judgments from files, and into files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import options
from idealist.cli.options import columns_of, say
from idealist.errors import UsageError
from idealist.rendering.wording import counted

if TYPE_CHECKING:
    from idealist.data import Qrels
    from idealist.judging.store import Store

#: The format that holds everything, and the suffixes of files that ask for it.
RECORD, RECORD_SUFFIXES = "record", (".jsonl", ".ndjson")
#: The format of preferences, and the suffix that asks for it.
PREFERENCES = "prefs"

store_argument = click.argument("store", type=click.Path(path_type=Path))


@click.command("import")
@store_argument
@click.argument("file")
@click.option(
    "--judge", metavar="NAME",
    help="Who gave the grades that come without a name. Without it: the name of FILE.",
)  # fmt: skip
@click.option(
    "--kind", type=click.Choice(["human", "import", "clicks", "model"]), default="import",
    show_default=True, help="What kind of judges they are; of one pair, the first kind counts.",
)  # fmt: skip
@click.option(
    "--columns", multiple=True, metavar="OURS=THEIRS",
    help="Name columns, or fields of JSON, that have unusual names, as for eval. Repeatable.",
)  # fmt: skip
@click.option(
    "--scale", metavar="GRADES", help="What the words in FILE are worth: 'good=2,fair=1,bad=0'."
)
@options.output
def import_(
    store: Path, file: str, judge: str | None, kind: str, columns: tuple[str, ...],
    scale: str | None, **view: Any,
) -> None:  # fmt: skip
    """Add the judgments of FILE to STORE, each as its judge gave it.

    FILE holds judgments in any format that eval reads, or is another store, or its plain record, as
    judge export writes it; these can be imported into a STORE that does not exist yet. What is
    there already is not added again.

    \b
    Examples:
      idealist judge import labels.db qrels.txt --judge nist
      idealist judge import labels.db ratings.csv --kind human --columns judge=worker
      idealist judge import labels.db clicks.csv --kind clicks
      idealist judge import copy.db labels.jsonl
    """
    from idealist.formats.grade_words import scale_of
    from idealist.formats.reading import ReadOptions
    from idealist.formats.source import run_name
    from idealist.judging.judgment_imports import import_judgments
    from idealist.judging.record_files import record_in, restored
    from idealist.judging.store import Store

    if (record := record_in(file)) is not None:
        options.emit(restored(store, record), **view)
        return
    names, layouts = columns_of(columns)
    with Store(store) as opened:
        known = opened.scale if scale is None else scale_of(scale)
        reading = ReadOptions(names, tuple(layouts), scale=known)
        who = judge or run_name(file)
        found = import_judgments(opened, reading.of(file), judge=who, kind=kind)
    options.emit(found, **view)


@click.command("export")
@store_argument
@options.sparing
@click.option(
    "--output",
    "-o",
    type=options.Target(str),
    default="-",
    metavar="FILE",
    help="Where to write. Without it: standard output.",
)
@click.option(
    "--to", default="", metavar="FORMAT",
    help="What to write where the suffix of FILE does not say it: record, prefs for preferences, "
    "or a format of judgments that idealist convert writes.",
)  # fmt: skip
@click.option(
    "--merge", metavar="RULE",
    help="How several judges become one: median, mean, majority, max, min or latest. Without it: "
    "the rule of the store.",
)  # fmt: skip
@click.option(
    "--only", default="", metavar="WHO", help="One judge, or human, import, clicks, model."
)
@click.option(
    "--sampled", is_flag=True,
    help="Write also what was pooled and not drawn, with grade -1, for measures of samples.",
)  # fmt: skip
def export(store: Path, output: str, to: str, merge: str | None, only: str, sampled: bool) -> None:
    """Write the plain record of STORE, or its judgments in another format.

    The record holds everything, a JSON object a line: every judgment with its judge, time and note,
    those undone too, queries, texts, batches and calls of models. It is what to keep as a backup,
    and judge import makes the same store of it. A file .jsonl, or standard output, is a record. Any
    other suffix names a format of judgments, with one grade a pair; --to jsonl writes these as JSON
    lines.

    \b
    Examples:
      idealist judge export labels.db -o labels.jsonl
      idealist judge export labels.db -o qrels.txt
      idealist judge export labels.db -o ann.csv --only ann
      idealist judge export labels.db --to trec --merge majority
      idealist judge export labels.db -o labels.prefs
    """
    from idealist.formats.writing import write_qrels
    from idealist.judging.record_files import write_record
    from idealist.judging.store import Store

    merged = bool(merge or only or sampled)
    with Store.to_read(store) as opened:
        if to == RECORD or (not to and _names_record(output)):
            if merged:
                hint = "choose a format of judgments: -o qrels.txt, or --to jsonl"
                raise UsageError("a record holds everything, and merges nothing", hint)
            written = write_record(opened, output)
        elif to == PREFERENCES or (not to and output.endswith(f".{PREFERENCES}")):
            if merge or sampled:
                hint = "leave out --merge and --sampled; --only names a judge"
                raise UsageError("preferences are neither merged nor sampled", hint)
            written = _write_preferences(opened, output, only)
        else:
            qrels = opened.qrels(merge, only, sampled)
            lost = write_qrels(qrels, output, to=to)
            say([f"doubt: {words}" for words in [*(one.message for one in qrels.remarks), *lost]])
            written = (
                f"{_pairs(qrels, sampled)} of {counted(len(qrels.queries), 'query', 'queries')}"
            )
    if output != "-":
        say([f"written: {written} to {output}"])


def _pairs(qrels: Qrels, sampled: bool) -> str:
    """Count the judgments, and apart from them what was pooled and has none."""
    bare = int((qrels.grades < 0).sum()) if sampled else 0
    judged = counted(len(qrels) - bare, "judgment", "judgments")
    more = counted(bare, "pooled document without one", "pooled documents without one")
    return f"{judged} and {more}," if bare else judged


def _write_preferences(store: Store, output: str, only: str) -> str:
    from idealist import files
    from idealist.judging.stored_preferences import StoredPreferences

    found = StoredPreferences.of(store.preferences(), only)
    files.write(output, found.trec())
    if found.circular:
        many = counted(len(found.circular), "preference goes", "preferences go")
        say([f"doubt: {many} in a circle, and so say nothing; they are left out"])
    ties = sum(one.tied for one in found.said)
    strict = counted(len(found.said) - len(found.circular) - ties, "preference", "preferences")
    return f"{strict} and {counted(ties, 'tie', 'ties')}" if ties else strict


def _names_record(output: str) -> bool:
    from idealist.formats.source import plain_suffix

    return output == "-" or plain_suffix(output) in RECORD_SUFFIXES
