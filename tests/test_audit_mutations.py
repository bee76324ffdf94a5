"""Faults put into clean data are found, with the remedy that mends them; clean data is let be."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import pytest

import idealist as il
from data_mutations import DATA_MUTATIONS
from effort import SLOW, tries
from idealist.rendering.document import Table
from idealist.rendering.markdown import draw
from mutations import MEASURES, MUTATIONS, Data, Mutation, clean, tried

#: Faults that must be found with the right remedy, and clean data that may be accused.
RIGHT, ACCUSED = 0.98, 0.01
#: Codes that say that ids do not match.
IDS = {"document-ids", "query-ids", "no-documents-meet", "no-queries-meet"}
ALL = [*MUTATIONS, *DATA_MUTATIONS]


def outcomes(
    mutations: Iterable[Mutation], seeds: Sequence[int]
) -> Iterator[tuple[Mutation, int, bool]]:
    for mutation in mutations:
        for seed in seeds:
            right = tried(mutation, seed)
            if right is not None:
                yield mutation, seed, right


def check(found: Sequence[tuple[Mutation, int, bool]]) -> None:
    wrong = [(mutation.name, seed) for mutation, seed, right in found if not right]
    assert len(found) > 10
    assert len(wrong) <= (1 - RIGHT) * len(found), wrong


def sample(kind: str, count: int) -> list[Mutation]:
    own = [mutation for mutation in ALL if mutation.name.startswith(kind)]
    return random.Random(7).sample(own, min(count, len(own)))


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("documents, one", tries(15, 30)),
        ("documents, two", tries(15, 30)),
        ("queries, one", 30),
        ("queries, two", 60),
    ],
)
def test_ids_that_differ_are_found_and_mended(kind: str, count: int) -> None:
    check(list(outcomes(sample(kind, count), [1])))


def test_ids_that_would_become_one_are_named_and_left_alone() -> None:
    check(list(outcomes(sample("documents, colliding", 99), [1])))


def test_faults_of_data_are_found_and_mended() -> None:
    check(list(outcomes(DATA_MUTATIONS, [1])))


def accusations(seeds: Iterable[int]) -> Counter[str]:
    """Count clean data sets that are accused; holes are no fault of half judged ones."""
    accused: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        judged = rng.choice([1.0, 0.5])
        audit = il.audit(*clean(rng, judged), measures=MEASURES)
        own = {one.code for one in audit.at_least("warning")}
        accused.update(own if judged == 1 else own & IDS)
    return accused


def test_clean_data_is_not_accused() -> None:
    assert not accusations(range(tries(20, 60)))


def strangers(seed: int) -> Data:
    """Make clean data of which little meets: few documents are judged, queries differ."""
    rng = random.Random(seed)
    qrels, run = clean(rng, rng.choice([0.5, 0.1, 0.03]))
    names = list(qrels)
    count = rng.randint(0, len(names) // 2)
    return (
        {query: qrels[query] for query in names[count:]},
        {query: run[query] for query in names[: len(names) - count]},
    )


def proposals(seeds: Iterable[int]) -> list[int]:
    """List the data sets in which a repair of ids is proposed."""
    audits = ((seed, il.audit(*strangers(seed), measures=MEASURES)) for seed in seeds)
    codes = ((seed, {one.code for one in audit.findings}) for seed, audit in audits)
    return [seed for seed, own in codes if own & {"document-ids", "query-ids"}]


def test_ids_of_data_that_hardly_meets_are_not_accused() -> None:
    assert proposals(range(tries(25, 60))) == []


@SLOW
def test_everything_is_found_and_nothing_else() -> None:
    alone = [one for one in MUTATIONS if ", two:" not in one.name]
    found = [*outcomes(ALL, [0]), *outcomes(alone, range(1, 5))]
    kinds = dict.fromkeys(mutation.name.partition(":")[0] for mutation, _, _ in found)
    rows = []
    for kind in kinds:
        own = [right for mutation, _, right in found if mutation.name.startswith(f"{kind}:")]
        rows.append([kind, str(len(own)), str(sum(own)), f"{sum(own) / len(own):.1%}"])
    accused = accusations(range(1000))
    rows.append(["clean data sets", "1000", str(1000 - sum(accused.values())), ""])
    proposed = len(proposals(range(1000)))
    rows.append(["clean data sets that hardly meet", "1000", str(1000 - proposed), ""])
    print(draw(Table.of(["faults"], ["cases", "right", "share"], rows)))
    check(found)
    for kind, *_, share in rows[:-2]:
        assert float(share.rstrip("%")) >= 100 * RIGHT, kind
    assert max(sum(accused.values()), proposed) <= 1000 * ACCUSED
