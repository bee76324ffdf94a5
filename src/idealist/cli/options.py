"""What verbs share: options, and how results are written."""

from __future__ import annotations

import csv
import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from idealist import files
from idealist.errors import UsageError
from idealist.notation import measures_of
from idealist.rendering import terminal
from idealist.rendering.result import FORMS, Result, form_of

if TYPE_CHECKING:
    from idealist.data import Queries


#: What is measured unless told, as text: the tuples are where NumPy is.
COMPARED = "nDCG@10, AP, RR@10, R@100"

#: Seconds before a progress bar is shown.
PATIENCE = 1.0

Command = TypeVar("Command", bound=Callable[..., Any])


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Make one decorator of several options; the last is listed first."""

    def add(command: Command) -> Command:
        for option in options:
            command = option(command)
        return command

    return add


#: The option that sets single rules.
setting = click.option(
    "--set", "settings", multiple=True, metavar="AXIS=VALUE",
    help="Set one rule, such as ties=docid-asc. Repeatable.",
)  # fmt: skip


def measuring(
    command: Command, usual: str = f"{COMPARED}, Judged@10", convention: str | None = "trec_eval"
) -> Command:  # fmt: skip
    """Add the options of every verb that measures, with what is usual there."""
    return together(
        setting,
        click.option(
            "--convention", "-c", default=convention, show_default=True, metavar="NAME",
            help="The tool whose rules apply; `idealist conventions` lists them.",
        ),
        click.option(
            "--measure", "-m", "measures", multiple=True, metavar="MEASURE",
            callback=lambda _, __, words: tuple(measures_of(words)),
            help="A measure, such as nDCG@10, 'AP(rel=2)', mrr@10, or several: nDCG@5,10,AP. "
            f"Repeatable. Without it: {usual}.",
        ),
    )(command)  # fmt: skip


#: The option that says where the texts of documents are.
documents = click.option(
    "--docs", metavar="PATH",
    help="The documents' texts: JSON lines, CSV, id<TAB>text lines, Parquet, a BEIR corpus or its "
    "folder, or a folder of text files named after their ids.",
)  # fmt: skip


def reading(command: Command) -> Command:
    """Add the options that say how files are read; the verb gets them as `reading`.

    A verb that shows texts itself has the option --docs already.
    """
    has_docs = any(one.name == "docs" for one in getattr(command, "__click_params__", ()))

    @click.option(
        "--columns", multiple=True, metavar="OURS=THEIRS",
        help="Name columns, or fields of JSON, that have unusual names: "
        "document=product_id,grade=stars. Without a header, name them all in order: "
        "query,document,grade; - skips one. Repeatable.",
    )  # fmt: skip
    @click.option(
        "--decimal",
        type=click.Choice(["comma", "point"]),
        help="What a number such as 1,234 is, where a file does not show it: 1.234 or 1234.",
    )
    @click.option(
        "--scale",
        metavar="GRADES",
        help="The grades that there are: 3 or 0..3; or what words are worth: "
        "'good=2,fair=1,bad=0'.",
    )
    @click.option(
        "--merge",
        type=click.Choice(["mean", "median", "majority", "max", "min", "latest"]),
        help="How the grades of several judges become one.",
    )
    @click.option(
        "--judgments", type=click.Choice(["complete", "pooled", "positives"]),
        help="What QRELS lists: every document; those that judges saw, so that others may be "
        "relevant; or only the relevant ones. Without it: positives if nothing else is listed.",
    )  # fmt: skip
    @click.option(
        "--complete", "judgments", flag_value="complete", type=str,
        help="The same as --judgments complete: what is not judged is not relevant.",
    )  # fmt: skip
    @click.option(
        "--cover", metavar="RULE",
        help="Where QRELS are spans: what a chunk must have of one to find it: any character, "
        "share(0.5), the whole, or iou(0.5). Without it: any.",
    )  # fmt: skip
    @click.option(
        "--offsets", type=click.Choice(["characters", "utf8", "utf16"]),
        help="Rows of all files are parts of documents, whose start and end count these. Needed "
        "only where QRELS do not show that they are spans, or count something else. Ids such as "
        "d[0:40] always count characters.",
    )  # fmt: skip
    @wraps(command)
    def reads(
        *, columns: Sequence[str], decimal: Any, scale: str | None, merge: str | None,
        judgments: str | None, cover: str | None, offsets: str | None, **given: Any,
    ) -> Any:  # fmt: skip
        from idealist.formats.grade_words import scale_of
        from idealist.formats.reading import ReadOptions

        if runs := given.get("runs"):
            given["runs"] = gathered_runs(runs, quiet=bool(given.get("quiet")))
        names, layouts = columns_of(columns)
        said = ReadOptions(
            names, tuple(layouts), decimal, shared=True, spans=offsets is not None,
            scale=None if scale is None else scale_of(scale), merge=merge or "",
            judgments=judgments or "", docs=given["docs"] if has_docs else given.pop("docs"),
            offsets=offsets or "", cover=cover or "",
        )  # fmt: skip
        if names:
            from idealist.formats.contents import check_columns

            check_columns(said, _words_in(given.values()))
        return command(reading=said.of_spans if said.spans else said, **given)

    return cast("Command", reads if has_docs else documents(reads))


def gathered_runs(paths: Sequence[str], *, quiet: bool) -> tuple[str, ...]:
    """List the files of folders and patterns among runs, and say what was read of each."""
    from idealist.formats.run_folders import gathered

    said: list[str] = []
    files = tuple(gathered(paths, said))
    say([] if quiet else said)
    return files


def _words_in(values: Iterable[Any]) -> list[str]:
    """List the words among what was given, files among them."""
    lists = (value if isinstance(value, (list, tuple)) else [value] for value in values)
    return [word for one in lists for word in one if isinstance(word, str)]


def columns_of(words: Sequence[str]) -> tuple[dict[str, list[str]], list[tuple[str, ...]]]:
    """Read names of columns, theirs by ours; and lists of all columns in their order.

    >>> columns_of(["document=product_id,grade=stars", "query,document,-,score"])
    ({'document': ['product_id'], 'grade': ['stars']}, [('query', 'document', '-', 'score')])
    """
    names: dict[str, list[str]] = {}
    layouts = []
    for word in words:
        lines = word.splitlines(keepends=True) or [" "]  # a name in quotes may have several
        cells = [cell.strip() for cell in next(csv.reader(lines, skipinitialspace=True), [])]
        pairs = [cell.partition("=") for cell in cells]
        if not any(sign for _, sign, _ in pairs) and len(pairs) > 1:
            layouts.append(tuple(cells))
            continue
        for ours, sign, theirs in pairs:
            if not (ours.strip() and sign and theirs.strip()):
                hint = (
                    "write document=product_id,grade=stars, or all in order: query,document,grade"
                )
                raise UsageError(f"--columns {word!r} cannot be read", hint)
            names.setdefault(ours.strip(), []).append(theirs.strip())
    return names, layouts


class Target(click.Path):
    """A file that a verb writes."""

    def __init__(self, kind: type = Path) -> None:
        super().__init__(dir_okay=False, path_type=kind)


#: What the metavar of an option that names a file has in it.
FILES = ("FILE", "PATH", "RUN", "QRELS", "AXIS")


def sparing(command: Command) -> Command:
    """Refuse to write over what a verb reads, before it does any work."""

    @wraps(command)
    def spares(**given: Any) -> Any:
        context = click.get_current_context()
        targets, inputs = list[Any](), [*given.get("runs", ())]  # those of folders among them
        for one in context.command.params:
            value = context.params.get(one.name or "")
            if isinstance(one.type, Target):
                targets += value if isinstance(value, tuple) else [value]
            elif isinstance(one, click.Argument) or any(x in (one.metavar or "") for x in FILES):
                inputs += value if isinstance(value, tuple) else [value]
        for target in filter(None, targets):
            files.check_target(target, _files_in(inputs))
        return command(**given)

    return cast("Command", spares)


def _files_in(words: Iterable[Any]) -> Iterator[str]:
    """List the files that words name, such as ``x.ilb#bm25`` or ``collapse=x.csv``."""
    for word in (str(word) for word in words if isinstance(word, (str, Path))):
        named = (word, word.rpartition("#")[0], word.partition("=")[2])
        yield from filter(os.path.isfile, named)


def _written(form_of_file: Callable[[Path | None], str]) -> Callable[[Command], Command]:
    return together(
        sparing,
        click.option(
            "--output", "-o", type=Target(), metavar="FILE",
            is_eager=True,  # its suffix chooses the form
            help="Write to this file instead of standard output.",
        ),
        click.option(
            "--format", "-f", "form", type=click.Choice(list(FORMS)),
            callback=lambda context, _, form: form or form_of_file(context.params["output"]),
            help="How to write the result. Without it: as the suffix of -o says, or a table.",
        ),
    )  # fmt: skip


#: The options that say what is written, and where; files of figures have other suffixes too.
output, drawn_output = _written(form_of), _written(lambda _: "table")
#: What a file of queries does wherever one is given.
NAMING = "Where runs are search responses, they name the queries: by id or text, or in their order."
#: The options that say which queries count, and how much.
counting = together(
    click.option(
        "--weights", metavar="FILE",
        help="Weight the queries in means: a file of queries with a column weight.",
    ),
    click.option(
        "--queries", metavar="FILE",
        help=f"Count only the queries of this file: CSV, JSON, or id<TAB>text lines. {NAMING}",
    ),
)  # fmt: skip
#: The option that shows latencies.
beside = click.option(
    "--with", "beside", multiple=True, type=click.Choice(["latency"]),
    help="Also show how long queries took, of runs that `idealist collect` wrote.",
)  # fmt: skip
#: The option that leaves out the words.
quietly = click.option(
    "--quiet", "-q", is_flag=True,
    help="Say nothing on standard error: no heading, doubts or signatures.",
)  # fmt: skip
#: The option that shows what few readers need.
detailed = click.option("--details", is_flag=True, help="Show everything that is known.")
#: The option that says which unjudged documents bounds look at.
reach = click.option(
    "--reach", type=click.Choice(["list", "collection"]), default="list", show_default=True,
    help="What --bounds looks at: unjudged documents of the list, or of the collection too.",
)  # fmt: skip


def axes_of(settings: Sequence[str]) -> dict[str, Any]:
    """Read ``AXIS=VALUE`` words; for collapse, the value may be a file of pairs."""
    from idealist.measures.instrument import typed_axes

    axes = typed_axes(settings)
    return axes | {name: _collapse(axes[name]) for name in axes if name == "collapse"}


def _collapse(value: str) -> Any:
    from idealist.formats.id_mapping import MappingFile, no_mapping
    from idealist.protocol import names_file

    if Path(value).is_file():
        return MappingFile(value)
    if names_file(value):
        raise no_mapping(value)
    return value


def axes_beside(settings: Sequence[str], options: Collection[str], verb: str) -> dict[str, Any]:
    """Read ``AXIS=VALUE`` words; refuse an axis that has the name of an option of the verb."""
    axes = axes_of(settings)
    for name in axes.keys() & set(options):
        hint = f"write it with the measure: -m 'NAME({name}={axes[name]})'"
        raise UsageError(f"--set {name} would set an option of {verb}", hint)
    return axes


def slices_of(
    queries: Queries | None, column: str | None, option: str = "--slice"
) -> dict[str, Any] | None:
    """Return the slice of each query, from a column of the queries."""
    if column is None:
        return None
    if queries is None:
        raise UsageError(f"{option} needs the queries", "give their file with --queries")
    if column not in queries.columns:
        known = ", ".join(queries.columns) or "no column beside the text"
        raise UsageError(f"{queries.name} has no column {column!r}", f"it has {known}")
    return queries.column(column)


def emit(
    result: Result, form: str, output: Path | None, quiet: bool = False, details: bool = False
) -> None:
    """Write a result to standard output or to a file, and its notes to standard error.

    Pages and papers hold the notes themselves, and JSON has its own.
    """
    if output is None:
        files.check_standard_output()
    on_terminal = output is None and sys.stdout.isatty()
    columns = os.get_terminal_size().columns if on_terminal else None
    if form not in ("table", "csv", "tsv"):
        write(result.render(form, details=details), output)
        return
    document = result.report()
    data = form != "table"
    say([] if quiet else terminal.front(document))
    write(result.render(form) if data else terminal.render(document, details, columns), output)
    say([] if quiet else terminal.notes(document))


def write(text: str, target: Path | None) -> None:
    """Write finished text to standard output, or to a file, completely or not at all."""
    if target is None:
        files.check_standard_output()
        click.echo(text)
    else:
        files.write(target, f"{text}\n".encode(errors="replace"))


def say(lines: Sequence[str]) -> None:
    """Write words to standard error, away from the data; doubts stand out on a terminal."""
    plain = os.environ.get("NO_COLOR") or not is_watched()
    for line in lines:
        shown = click.style(line, fg="yellow") if line.startswith("doubt:") else line
        click.echo(shown, err=True, color=False if plain else None)


def is_watched() -> bool:
    """Whether standard error is a terminal; it may be closed."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def ticking(words: str) -> Iterator[Callable[..., None]]:
    """Show how much of something is done, on a terminal only and after a while; new words too."""
    if not is_watched():
        yield lambda done, total, said="": None
        return
    from rich.console import Console
    from rich.progress import Progress

    start, bar = time.monotonic(), Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(words)

    def tick(done: int, total: int, said: str = words) -> None:
        if time.monotonic() - start > PATIENCE:
            bar.start()  # once is enough, more does nothing
        bar.update(task, completed=done, total=total, description=said)

    try:
        yield tick
    finally:
        bar.stop()


def working(words: str) -> AbstractContextManager[Any]:
    """Show on a terminal that something goes on."""
    if not is_watched():
        return nullcontext()
    from rich.console import Console
    from rich.markup import escape

    return Console(stderr=True).status(escape(words))
