"""Each fault of runs, judgments and texts, put into a hundred clean data sets; prints the table.

What is quick of it is in `test_audit_mutations.py`.
"""

from __future__ import annotations

import os
import random

import pytest

from data_mutations import DATA_MUTATIONS
from idealist.auditing import audit
from mutations import MEASURES, Mutation, clean

pytestmark = pytest.mark.skipif(not os.environ.get("IDEALIST_SLOW"), reason="set IDEALIST_SLOW=1")


def tried(mutation: Mutation, seed: int) -> bool | None:
    """Whether the audit names the fault and its remedy; None where this data cannot have it."""
    rng = random.Random(seed)
    data = clean(rng)
    broken = mutation.inject(*data, rng)
    if broken is None:
        return None
    options = {"measures": MEASURES, **mutation.options(broken)}
    return mutation.found(data, broken, audit(*broken, **options))


@pytest.mark.parametrize("mutation", DATA_MUTATIONS, ids=lambda one: one.name)
def test_the_audit_names_the_fault(mutation: Mutation) -> None:
    tries = [found for seed in range(100) if (found := tried(mutation, seed)) is not None]
    print(f"\n| {mutation.name} | `{mutation.code}` | {sum(tries)} of {len(tries)} |")
    assert tries
    assert sum(tries) >= 0.98 * len(tries)
