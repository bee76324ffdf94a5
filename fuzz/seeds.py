"""Write what the fuzz targets begin with: python fuzz/seeds.py FOLDER."""

from __future__ import annotations

import json
import random
import sys
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from faulty import LOOK_ALIKES
from judgment_cases import some_judgments_case
from kernel_rows import SCORES, damaged, msmarco, some_rows, trec

#: How many texts, and how many bytes before each choose threads, pieces and protocols.
TEXTS, CHOICES = 300, 21


def texts() -> list[bytes]:
    """Give runs, some of them damaged."""
    made = []
    for seed in range(TEXTS):
        rng = random.Random(seed)
        text = rng.choice([trec, trec, msmarco])(rng, some_rows(rng))
        made.append(rng.randbytes(CHOICES) + (damaged(rng, text) if seed % 3 == 0 else text))
    return made


def tables() -> list[bytes]:
    """Give tables, each after the choices that make its layout."""
    made = []
    for seed in range(TEXTS):
        rng = random.Random(seed)
        kind, scores, ranks = rng.randrange(3), rng.randrange(2), rng.randrange(2)
        names = "qd" + "s" * scores + "r" * ranks + "x"
        rows = [
            {"q": row.query, "d": row.document, "s": row.score, "r": row.rank, "x": "a"}
            for row in some_rows(rng)[:30]
        ]
        items = rng.randrange(3)
        if kind == 0:
            text = "\n".join(",".join(quoted(rng, row[name]) for name in names) for row in rows)
        elif kind == 1:
            text = "\n".join(record(rng, row, names) for row in rows)
        else:
            text = "\n".join(listing(rng, query, rows, items) for query in ("q1", "q2", "2"))
        layout = bytes([kind, 0, 1, 1, 1, 0, items, scores, ranks, 1, 1])
        data = text.encode(errors="replace")
        data = damaged(rng, data) if seed % 3 == 0 else data
        made.append(rng.randbytes(2) + layout + rng.randbytes(18) + data)
    return made


def quoted(rng: random.Random, cell: str) -> str:
    """Write a cell in quotes where it must be, and sometimes where it need not."""
    if rng.random() < 0.8 and not set(cell) & set(',"\n\r'):
        return cell
    return '"' + cell.replace('"', '""') + rng.choice(["", "", "\n", ",", "\r\n"]) + '"'


def record(rng: random.Random, row: dict[str, str], names: str) -> str:
    """Write some cells of a row as JSON."""
    cells = [(name, row[name] if name in "sr" else json.dumps(row[name])) for name in names]
    if rng.random() < 0.2:
        rng.shuffle(cells)
    return "{" + ", ".join(f'"{name}": {cell}' for name, cell in cells) + "}"


def listing(rng: random.Random, query: str, rows: list[dict[str, str]], items: int) -> str:
    """Write the documents of a query as JSON."""
    own = [row for row in rows if row["q"] == query]
    ids = [(json.dumps(row["d"]), row["s"]) for row in own]
    made = [id_ if items == 0 else f"[{id_}, {score}]" for id_, score in ids]
    if items == 2:
        made = [record(rng, row, "dsx") for row in own]
    return f'{{"q": "{query}", "l": [{", ".join(made)}], "x": {{"a": [null, true]}}}}'


def numbers() -> list[bytes]:
    """Give numbers, and what looks like one."""
    edges = ["2.2250738585072011e-308", "1.7976931348623159e308", f"1.{'3' * 400}e-340"]
    known = {*chain.from_iterable(SCORES), *LOOK_ALIKES, *edges}
    return [number.encode() for number in sorted(known)]


def judgments() -> list[bytes]:
    """Give qrels, most of them with something unusual."""
    return [some_judgments_case(random.Random(seed)).text for seed in range(TEXTS)]


def main() -> None:
    """Write one file a seed, in a folder for each target."""
    targets = {"text": texts(), "table": tables(), "number": numbers(), "utf8": texts()}
    targets["qrels"] = judgments()
    for target, seeds in targets.items():
        folder = Path(sys.argv[1], target)
        folder.mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(seeds):
            (folder / f"seed-{i}").write_bytes(seed)


if __name__ == "__main__":
    main()
