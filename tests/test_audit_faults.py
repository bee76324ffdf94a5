"""Each fault of runs, judgments and texts, put into a hundred clean data sets; prints the table.

What is quick of it is in `test_audit_mutations.py`.
"""

from __future__ import annotations

import random

import pytest

from data_mutations import DATA_MUTATIONS
from effort import SLOW
from idealist.auditing import audit
from mutations import MEASURES, Mutation, injected, tried
from test_audit_mutations import RIGHT

#: What clean data has as well; these faults are compared with other data than the clean one.
EVERYWHERE = {"binary-on-graded"}


@SLOW
@pytest.mark.parametrize("mutation", DATA_MUTATIONS, ids=lambda one: one.name)
def test_the_audit_names_the_fault(mutation: Mutation) -> None:
    tries = [found for seed in range(100) if (found := tried(mutation, seed)) is not None]
    print(f"\n| {mutation.name} | `{mutation.code}` | {sum(tries)} of {len(tries)} |")
    assert tries
    assert sum(tries) >= RIGHT * len(tries)


@pytest.mark.parametrize("mutation", DATA_MUTATIONS, ids=lambda one: one.name)
def test_the_fault_was_not_there_before(mutation: Mutation) -> None:
    case = injected(mutation, random.Random(mutation.name))
    assert case is not None
    before = {one.code for one in audit(*case[0], measures=MEASURES).findings}
    assert mutation.code not in before - EVERYWHERE
