"""What diagnose says of real runs: the first advice is what costs most, and rules fire seldom.

The losses are computed again here, loop by loop, from the files. All 109 runs of TREC-COVID round 1
are looked at with IDEALIST_SLOW=1, which prints the tables of `docs/how-to/diagnose-a-run.md`; what
is quick is one test of twelve of them.
"""

from __future__ import annotations

import lzma
import math
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import idealist as il
from effort import SLOW
from generated import seeds
from idealist.diagnosing.fixes import SHOWN
from idealist.diagnosing.rules import RULES

CUTOFF = 10
#: A rule that fires on more of the sound runs than this says nothing of any of them.
SELDOM = 1 / 3

Lists = dict[str, list[tuple[float, str]]]


@cache
def judged(folder: Path) -> dict[str, dict[str, float]]:
    grades: dict[str, dict[str, float]] = {}
    for line in (folder / "qrels.txt").read_text("utf-8").splitlines():
        query, _, document, grade = line.split()
        grades.setdefault(query, {})[document] = float(grade)
    return grades


def retrieved(path: Path) -> Lists:
    text = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    lists: Lists = {}
    for line in text.decode("utf-8").splitlines():
        query, _, document, _, score, *_ = line.split()
        lists.setdefault(query, []).append((float(score), document))
    return lists


def ndcg(gains: list[float], ideal: list[float]) -> float:
    def total(some: list[float]) -> float:
        return math.fsum(g / math.log2(r + 2) for r, g in enumerate(some[:CUTOFF]))

    return total(gains) / total(ideal)


def parts_of_one(grades: dict[str, float], found: list[tuple[float, str]]) -> Counter[str]:
    """Put one thing right after the other, and see what each wins."""
    ideal = sorted((max(grade, 0.0) for grade in grades.values()), reverse=True)
    rows = [(score, grades.get(document), document) for score, document in found]
    by_id = sorted(sorted(rows, key=lambda row: row[2], reverse=True), key=lambda row: -row[0])
    best = sorted(rows, key=lambda row: (-row[0], -(row[1] or 0.0)))
    lists = [
        [grade or 0.0 for _, grade, _ in by_id],
        [grade or 0.0 for _, grade, _ in best],
        (known := [grade for _, grade, _ in best if grade is not None]),
        sorted(known, reverse=True),
        ideal,
    ]
    values = [ndcg(one, ideal) for one in lists]
    won = [after - before for before, after in pairwise(values)]
    last = "retrieve" if found else "answer"
    return Counter(dict(zip(("break ties", "judge", "rerank", last), won, strict=True)))


def parts_of_all(grades: dict[str, dict[str, float]], lists: Lists) -> dict[str, float]:
    own = [parts_of_one(grades[query], lists.get(query, [])) for query in grades]
    fixes = {fix for one in own for fix in one}
    return {fix: math.fsum(one[fix] for one in own) / len(own) for fix in fixes}


def check_first_advice(folder: Path, path: Path, **beside: Any) -> il.Diagnosis:
    """Check the parts and the advice; only what an audit calls an error may come first."""
    found = il.diagnose(folder / "qrels.txt", path, "nDCG@10", **beside)
    won, wanted = found.fixes["nDCG@10"].means, parts_of_all(judged(folder), retrieved(path))
    assert won == pytest.approx({**dict.fromkeys(won, 0.0), **wanted}, abs=1e-9)
    assert math.fsum(won.values()) == pytest.approx(found.losses["nDCG@10"].loss, abs=1e-12)
    assert found.advice == max(wanted, key=lambda fix: wanted[fix])
    shown = sorted((mean for mean in wanted.values() if mean > SHOWN), reverse=True)
    assert [one.wins for one in found.fixes["nDCG@10"].todo] == pytest.approx(shown, abs=1e-9)
    assert [one.fix for one in found.todo][:1] == ["mend" if found.errors else found.advice]
    return found


@pytest.fixture(scope="module")
def covid(data: Path) -> Path:
    return data / "trec-covid-r1"


def test_the_first_advice_is_what_costs_most(covid: Path) -> None:
    for path in sorted((covid / "runs").iterdir()):
        check_first_advice(covid, path)


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_the_first_advice_is_what_costs_most_in_any_run(seed: int) -> None:
    """Lists are empty, short or long, with ties, unjudged documents and relevant ones left out."""
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(rng.choice([3, 8, 40]))]
    share = rng.choice([0.3, 0.7, 1.0])
    qrels, lists = {}, {}
    for query in (f"q{i}" for i in range(rng.randint(1, 4))):
        some = {d: float(rng.choice([0, 0, 1, 2])) for d in documents if rng.random() < share}
        qrels[query] = {**some, "no": 0.0, "yes": 1.0}
        chosen = rng.sample([*documents, "yes"], rng.randint(0, len(documents)))
        lists[query] = [(rng.choice([0.1, 0.5, 1.0]) * rng.randint(1, 9), d) for d in chosen]
    run = {query: {d: score for score, d in found} for query, found in lists.items()}
    found, wanted = il.diagnose(qrels, run, "nDCG@10"), parts_of_all(qrels, lists)
    won = found.fixes["nDCG@10"].means
    assert won == pytest.approx({**dict.fromkeys(won, 0.0), **wanted}, abs=1e-9)
    most = max(0.0, *wanted.values())
    assert (won[found.advice] if found.advice else 0.0) == pytest.approx(most, abs=1e-9)


@SLOW
def test_the_first_advice_is_what_costs_most_in_every_run(covid: Path) -> None:
    """Each run is compared with one that stands half the list away."""
    paths = sorted(one for kind in ("runs", "more") for one in (covid / kind).iterdir())
    others = [*paths[len(paths) // 2 :], *paths]
    found = [
        check_first_advice(covid, path, baseline=other, context=5)
        for path, other in zip(paths, others, strict=False)
    ]
    print(*_table_of_advice(found), *_table_of_rules(found), sep="\n")
    assert len(found) >= 100
    fired = Counter(one.rule.id for own in found for one in own.fired)
    assert max(fired.values()) <= SELDOM * len(found), fired
    for path, one in zip(paths, found, strict=True):
        audited = il.audit(covid / "qrels.txt", path).findings
        errors = [finding.code for finding in audited if finding.severity == "error"]
        assert [error.code for error in one.errors] == errors


def _table_of_advice(found: list[il.Diagnosis]) -> Iterator[str]:
    yield "\n| first advice | runs |\n|:---|---:|"
    first = Counter("mend the data" if one.errors else one.advice for one in found)
    yield from (f"| {fix} | {count} |" for fix, count in first.most_common())


def _table_of_rules(found: list[il.Diagnosis]) -> Iterator[str]:
    yield "\n| rule | fires | cannot tell |\n|:---|---:|---:|"
    for rule in RULES:
        own = [one for each in found for one in each.rulings if one.rule is rule]
        states = Counter(one.state for one in own)
        if not states["left out"]:
            yield f"| `{rule.id}` | {states['fires']} | {states['open']} |"
