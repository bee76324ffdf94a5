"""`idealist demo`: the main job on embedded data."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from idealist.cli.options import say

OPENING = """Does reranking by an embedding model help? Documents about programming were
searched with BM25; reranked has its first 50 documents in the order of
all-MiniLM-L6-v2."""


@click.command("demo")
@click.option(
    "--dir", "folder", type=click.Path(file_okay=False, path_type=Path), default="idealist-demo",
    show_default=True, help="Where the files are left to play with.",
)  # fmt: skip
def command(folder: Path) -> None:
    """Evaluate a reranker against its baseline, on a collection that comes with idealist.

    198 short documents about programming, 30 queries, judgments with the grades 0 to 3, and two
    real runs. The files are left in a folder, with a report on them; those that you changed are
    kept and used.

    \b
    Example:
      idealist demo --dir play
    """
    from idealist.demo import leave_files, leave_report
    from idealist.demo.story import Story

    kept = leave_files(folder)
    story = Story.read(folder)
    click.echo("\n\n".join([OPENING, str(story)]))
    page = leave_report(folder)
    click.echo(f"\nAll of it is on one page, with both lists of every query: open {page}\n")
    click.echo(_commands(folder))
    say([f"doubt: {folder / name} was changed since it was left there" for name in kept])


#: What to do with the files that were left.
COMMANDS = (
    "idealist eval qrels.txt bm25.run reranked.run",
    "idealist compare qrels.txt bm25.run reranked.run -m nDCG@10 "
    "--queries queries.csv --slice kind",
    "idealist explain qrels.txt reranked.run -m nDCG@10 --worst 3 --queries queries.csv",
    "idealist explain qrels.txt bm25.run reranked.run --query q24 --docs documents.jsonl",
    "idealist diagnose qrels.txt reranked.run --first-stage bm25.run",
    "idealist audit qrels.txt bm25.run reranked.run",
    "idealist gate qrels.txt bm25.run reranked.run -m nDCG@10 --max-drop 0.01",
    "idealist eval qrels.txt reranked.run -m nDCG@10 --convention sklearn",
    "idealist plot differences qrels.txt bm25.run reranked.run -o differences.svg",
    "idealist report qrels.txt bm25.run reranked.run --queries queries.csv -o report.md",
)


def _commands(folder: Path) -> str:
    lines = (f"cd {shlex.quote(str(folder))}", *COMMANDS)
    return "\n".join([f"The files are in {folder}. Go on with", *(f"  {line}" for line in lines)])
