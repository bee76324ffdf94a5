"""`idealist judge next`, `grade` and `adjudicate`: people judge, one pair after the other."""

from __future__ import annotations

import getpass
import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import options
from idealist.errors import IdealistError, UsageError

if TYPE_CHECKING:
    from idealist.judging.sittings import Sitting
    from idealist.judging.store import Store

#: The variable of the environment that names who judges.
JUDGE = "IDEALIST_JUDGE"

store_argument = click.argument("store", type=click.Path(path_type=Path))
judging = click.option(
    "--judge", metavar="NAME",
    help=f"Who judges. Without it: what {JUDGE} says in the environment, or the login name.",
)  # fmt: skip


def _no_option(context: click.Context, _: click.Parameter, word: str | None) -> str | None:
    """Tell a grade below 0 from an option that does not exist."""
    if word and re.match(r"-[^\d.]", word):
        raise click.NoSuchOption(word, ctx=context)
    return word


#: A pair and its grade, where one is judged alone.
one_pair = options.together(
    click.argument("grade", required=False, callback=_no_option),
    click.argument("document", required=False, callback=_no_option),
    click.argument("query", required=False, callback=_no_option),
)
choosing = options.together(
    click.option(
        "--judgments", type=click.IntRange(1), default=1, show_default=True, metavar="N",
        help="How many people should judge each pair.",
    ),
    click.option("--batch", type=int, metavar="N", help="Judge only this batch."),
)  # fmt: skip


def judge_name(given: str | None) -> str:
    """Find out who judges, and say so where nobody said it in the command."""
    if given:
        if any(unicodedata.category(sign) in ("Cc", "Zl", "Zp") for sign in given):
            message = f"the name of the judge, {given!r}, is not one line of text"
            raise UsageError(message, "give a name such as ann")
        return given
    if name := os.environ.get(JUDGE, "").strip():
        options.say([f"judging as {name}, as {JUDGE} says"])
        return name
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):  # nobody is logged in
        raise UsageError("nobody is named as the judge", "give --judge NAME") from None
    options.say([f"judging as {name}, the login name; --judge NAME or {JUDGE} names another"])
    return name


@click.command("next")
@store_argument
@judging
@choosing
@options.output
def next_(store: Path, judge: str | None, batch: int | None, judgments: int, **view: Any) -> None:
    """Show the next pair to judge: the query, the document, and the grades to choose from.

    It is kept for the judge for ten minutes. Programs take it with -f json, and answer with judge
    grade.

    \b
    Examples:
      idealist judge next labels.db --judge ann
      idealist judge next labels.db --judge ann -f json
    """
    from idealist.judging.sittings import next_pair
    from idealist.judging.store import Store

    with Store(store) as opened:
        found = next_pair(opened, judge_name(judge), batch, judgments)
    options.emit(found, **view)


@click.command("grade", context_settings={"ignore_unknown_options": True})  # a grade may be -1
@store_argument
@one_pair
@judging
@click.option("--note", default="", metavar="TEXT", help="Why; kept with the judgment.")
@click.option("--cannot-tell", is_flag=True, help="Say that nobody can tell, in place of a grade.")
@click.option("--later", is_flag=True, help="Put the pair off, in place of a grade.")
@click.option("--undo", is_flag=True, help="Withdraw the last judgment of this judge.")
@choosing
def grade(
    store: Path, query: str | None, document: str | None, grade: str | None, judge: str | None,
    note: str, cannot_tell: bool, later: bool, undo: bool, batch: int | None, judgments: int,
) -> None:  # fmt: skip
    """Judge: pair after pair at the terminal, or one DOCUMENT for one QUERY.

    At the terminal, type a grade and Enter. ? says that you cannot tell, l puts a pair off, u takes
    back what you said last, n and some words notes why, q ends. Everything is kept at once; Ctrl-C
    loses nothing. Lines may also come from a file or another program.

    \b
    Examples:
      idealist judge grade labels.db --judge ann
      idealist judge grade labels.db q7 doc42 2 --judge ann --note 'answers half of it'
      idealist judge grade labels.db q7 doc43 --cannot-tell
      idealist judge grade labels.db --undo
    """
    from idealist.judging.sittings import Sitting, undone_words
    from idealist.judging.store import Store

    name = judge_name(judge)
    with Store(store) as opened:
        if undo:
            undone = opened.undo(name)
            if undone is None:
                raise UsageError(f"{name} has nothing to undo", f"idealist judge status {store}")
            click.echo(undone_words(undone))
        elif query is None:
            if note or cannot_tell or later:
                raise UsageError("which pair?", f"idealist judge grade {store} QUERY DOCUMENT …")
            converse(Sitting(opened, name, batch, judgments, timed=sys.stdin.isatty()))
        else:
            status = _status(grade, cannot_tell, later)
            _judge_one(opened, query, document, grade, name, status, note)


def _status(grade: str | None, cannot_tell: bool, later: bool) -> str:
    """Say what a judgment is: exactly one of a grade, cannot tell, and later."""
    said = {"graded": grade is not None, "cannot tell": cannot_tell, "later": later}
    if sum(said.values()) != 1:
        raise UsageError("say one thing of the pair", "give a grade, --cannot-tell or --later")
    return next(status for status, is_so in said.items() if is_so)


def _judge_one(
    store: Store, query: str, document: str | None, grade: str | None, judge: str, status: str,
    note: str, adjudicates: bool = False,
) -> None:  # fmt: skip
    from idealist.judging.pair_views import read_grade, said
    from idealist.judging.sittings import check_pair, judgment_of, task_of

    if document is None:
        raise UsageError("which document?", "give QUERY DOCUMENT GRADE")
    check_pair(store, query, document)
    number = None if grade is None else read_grade(grade, store.scale)
    task = task_of(store, query, document)
    made = judgment_of(task, judge, number, status, note=note, adjudicates=adjudicates)
    kept = store.judge(made)
    click.echo(f"{kept.query} {kept.document} {said(kept)}")


@click.command("adjudicate", context_settings={"ignore_unknown_options": True})  # a grade may be -1
@store_argument
@one_pair
@judging
@click.option("--note", default="", metavar="TEXT", help="Why; kept with the decision.")
@click.option("--cannot-tell", is_flag=True, help="Decide that nobody can tell.")
@click.option("--list", "listed", is_flag=True, help="List the pairs, and decide nothing.")
@options.output
def adjudicate(
    store: Path, query: str | None, document: str | None, grade: str | None, judge: str | None,
    note: str, cannot_tell: bool, listed: bool, **view: Any,
) -> None:  # fmt: skip
    """Decide where judges disagree; the decision then counts alone.

    At the terminal, pairs come one after the other, those whose grades are furthest apart first,
    with who said what and why. The keys are those of judge grade; l leaves a pair as it is.

    \b
    Examples:
      idealist judge adjudicate labels.db --list
      idealist judge adjudicate labels.db --judge carol
      idealist judge adjudicate labels.db q7 doc42 2 --judge carol --note 'see guideline 3'
    """
    from idealist.judging.disputes import Disputes
    from idealist.judging.sittings import Adjudication
    from idealist.judging.store import Store

    if listed:
        with Store.to_read(store) as opened:
            options.emit(Disputes.of(opened), **view)
        return
    with Store(store) as opened:
        if query is None:
            timed = sys.stdin.isatty()
            converse(Adjudication(opened, judge_name(judge), timed=timed))
        else:
            status = _status(grade, cannot_tell, later=False)
            _judge_one(opened, query, document, grade, judge_name(judge), status, note, True)


def converse(sitting: Sitting) -> None:
    """Show pairs and read what is typed, until nothing is left, the input ends, or q or Ctrl-C.

    Where a person types, a mistake is told, and the pair stays. In lines from elsewhere it ends the
    sitting, since the lines behind it were meant for other pairs.
    """
    person = sys.stdin.isatty()
    try:
        _show_rules(sitting)
        for number, line in enumerate(_lines(sitting), 1):
            try:
                answer = sitting.say(line)
            except IdealistError as error:
                if not person:
                    error.message = f"line {number}: {error.message}"
                    raise
                answer = str(error)
            if answer:
                click.echo(answer)
            if sitting.over:
                break
    except KeyboardInterrupt:
        click.echo()
    finally:
        click.echo(sitting.leave())


def _show_rules(sitting: Sitting) -> None:
    """Show once what holds for all pairs: how many there are, the guidelines, grades and keys."""
    from idealist.rendering import terminal
    from idealist.rendering.document import Document, Text

    view = sitting.view
    if view.task is None:
        click.echo(terminal.render(view.report()))
        return
    left = Text(f"{view.left:,} to judge. {sitting.keys}.")
    click.echo(terminal.render(Document((left, *view.rule_blocks()))))


def _lines(sitting: Sitting) -> Iterator[str]:
    """Show the pair on the table, unless it was shown, and read a line.

    A person is done when nothing is left. Lines from elsewhere are read to their end.
    """
    from idealist.rendering import terminal
    from idealist.rendering.document import Document

    columns = os.get_terminal_size().columns if sys.stdout.isatty() else None
    shown, person = None, sys.stdin.isatty()
    while sitting.view.task is not None or not person:
        if sitting.view is not shown and sitting.view.task is not None:
            shown = sitting.view
            pair = Document(tuple(shown.pair_blocks()))
            click.echo(f"\n{terminal.render(pair, columns=columns)}\n")
        if sitting.view.task is not None:
            click.echo(f"{sitting.prompt} > ", nl=False)
        line = sys.stdin.readline()
        if not line or not person:  # what a person types is there to be seen
            click.echo(line.rstrip("\n"))
        if not line:
            return
        yield line
