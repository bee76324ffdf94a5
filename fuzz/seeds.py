"""Write what the fuzz targets begin with: python fuzz/seeds.py FOLDER."""

from __future__ import annotations

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
    targets = {"text": texts(), "number": numbers(), "utf8": texts(), "qrels": judgments()}
    for target, seeds in targets.items():
        folder = Path(sys.argv[1], target)
        folder.mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(seeds):
            (folder / f"seed-{i}").write_bytes(seed)


if __name__ == "__main__":
    main()
