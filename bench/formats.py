"""Write a TREC run in the other formats that people have, row by row.

    python bench/formats.py run.txt     writes run.csv, run.parquet and the others beside it

``-hits.jsonl`` has a hit a line, ``-lists.jsonl`` a query with its list of hits.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from pathlib import Path

from others import lists


def beside(run: Path, ending: str) -> Path:
    """Name a file beside a run."""
    return run.with_name(f"{run.stem}{ending}")


def write_text(run: Path) -> None:
    """Write tables and JSON lines."""
    csv, tsv, hits, nested = (
        beside(run, ending).open("w") for ending in (".csv", ".tsv", "-hits.jsonl", "-lists.jsonl")
    )
    with csv, tsv, hits, nested:
        csv.write("query,document,score\n")
        tsv.write("query\tdocument\tscore\n")
        for query, documents, scores in lists(run):
            pairs = [*zip(documents, scores, strict=True)]
            csv.writelines(f"{query},{document},{score}\n" for document, score in pairs)
            tsv.writelines(f"{query}\t{document}\t{score}\n" for document, score in pairs)
            own = [
                f'"doc_id": "{document}", "score": {float(score)!r}}}' for document, score in pairs
            ]
            hits.writelines(f'{{"query": "{query}", {one}\n' for one in own)
            listed = ", ".join(f"{{{one}" for one in own)
            nested.write(f'{{"query": {json.dumps(query)}, "results": [{listed}]}}\n')


def write_parquet(run: Path) -> None:
    """Write Arrow columns, a thousand queries at a time."""
    import pyarrow
    import pyarrow.parquet

    kinds = [("query", pyarrow.string()), ("document", pyarrow.string())]
    schema = pyarrow.schema([*kinds, ("score", pyarrow.float64())])
    with pyarrow.parquet.ParquetWriter(beside(run, ".parquet"), schema) as writer:
        columns: tuple[list[str], list[str], list[float]] = ([], [], [])
        for i, (query, documents, scores) in enumerate(lists(run), 1):
            columns[0].extend([query] * len(documents))
            columns[1].extend(documents)
            columns[2].extend(map(float, scores))
            if i % 1000 == 0:
                writer.write_table(pyarrow.table([*columns], schema=schema))
                columns = ([], [], [])
        writer.write_table(pyarrow.table([*columns], schema=schema))


def write_gzip(run: Path) -> None:
    """Compress the text."""
    with run.open("rb") as text, gzip.open(beside(run, ".txt.gz"), "wb", compresslevel=6) as packed:
        shutil.copyfileobj(text, packed)


if __name__ == "__main__":
    for writer in (write_text, write_parquet, write_gzip):
        writer(Path(sys.argv[1]))
