"""`idealist convert`: write judgments or a run in another format."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from idealist.cli.inputs import queries_of
from idealist.cli.options import NAMING, say
from idealist.cli.options import reading as reads
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.formats.reading import DescribedFile, ReadOptions

#: Formats that no suffix names; what each is for is in `idealist.writing.FORMATS`.
NAMED = ("trec", "msmarco", "beir", "quepid", "quepid-snapshot", "rank-eval", "hits")


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--kind", type=click.Choice(["qrels", "run", "strata", "prels"]),
    help="What IN holds, where that cannot be told from it; strata and prels are judged samples.",
)  # fmt: skip
@click.option(
    "--to", default="", metavar="FORMAT",
    help="The format of OUT, where its suffix does not say: " + ", ".join(NAMED) + ".",
)  # fmt: skip
@click.option(
    "--map-docs", metavar="HOW",
    help="Rewrite document ids: a file of old<TAB>new lines, or steps such as lower, path or "
    "prefix:doc-, joined by +. `idealist audit` proposes them.",
)  # fmt: skip
@reads
@click.option("--map-queries", metavar="HOW", help="Rewrite query ids in the same way.")
@click.option("--queries", metavar="FILE", help=f"A file of queries. {NAMING}")
def command(
    source: str, target: str, kind: str | None, to: str, map_docs: str | None,
    map_queries: str | None, queries: str | None, reading: ReadOptions,
) -> None:  # fmt: skip
    """Write the judgments or the run in IN to OUT, in the format that OUT's suffix names.

    Suffixes: .txt .trec .run .qrels (TREC), .json, .jsonl, .csv, .tsv, .parquet, .arrow, each also
    with .gz, .xz or .zst behind; - is standard input or output. What OUT cannot hold is said; what
    it would garble is refused.

    \b
    Examples:
      idealist convert bm25.run bm25.parquet
      idealist convert judgments.csv qrels.txt
      idealist convert hits.json es.run --kind run
      idealist convert responses/ solr.run --queries queries.tsv
      idealist convert sampleval-qrels.txt qrels.csv --kind strata
      idealist convert qrels.txt ratings.json --to rank-eval
      idealist convert bm25.run fixed.run --map-docs lower+prefix:doc-
      idealist convert bm25.run fixed.run --map-docs mappings/bm25-documents.tsv
      zcat hits.json.gz | idealist convert - - --kind run --to trec
    """
    from idealist.formats import read_prels, read_qrels, read_run, read_strata
    from idealist.formats.id_mapping import map_ids
    from idealist.formats.writing import write_qrels, write_run

    if os.path.exists(target) and os.path.exists(source) and os.path.samefile(source, target):
        raise UsageError(f"{target} would be written over itself", "give another name")
    kind = kind or _kind(reading.of(source), target, to)
    if kind is None:
        hint = "say which with --kind qrels or --kind run"
        raise UsageError(f"{source} could hold judgments or a run", hint)
    samples = {"strata": read_strata, "prels": read_prels}  # others are read as they are written
    reading = replace(reading, queries=queries_of(queries))
    data: Any = samples[kind](source) if kind in samples else reading.of(source)
    if map_docs is not None or map_queries is not None:
        read = read_run if kind == "run" else read_qrels
        data = map_ids(read(data), map_docs, map_queries)
    lost = (write_run if kind == "run" else write_qrels)(data, target, to=to)
    say([f"doubt: {words}" for words in lost])


def _kind(described: DescribedFile, target: str, to: str) -> str | None:
    """Tell what is to be written: by the format, by IN, or by the name of OUT."""
    from idealist.formats import kind_of
    from idealist.formats.source import plain_suffix
    from idealist.formats.writing import FORMATS

    if to in FORMATS and len(FORMATS[to].kinds) == 1:
        return FORMATS[to].kinds[0]
    source = described.path
    pipe = os.path.exists(source) and not (os.path.isfile(source) or os.path.isdir(source))
    found = (
        None if source == "-" or pipe else kind_of(source, described.options)
    )  # these can be read only once
    return found or {".run": "run", ".qrels": "qrels"}.get(plain_suffix(target))
