"""The pytest plugin: a fixture that fails a test whose run is worse, with the queries to look at.

    def test_the_reranker_is_not_worse(assert_not_worse):
        assert_not_worse("qrels.txt", "baseline.json", rerank(), "nDCG@10", max_drop=0.01)

What is undecided passes, and is listed at the end of the session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from idealist.gating import Gate


#: The property of a test's report that holds what a gate found, in JUnit XML too.
PROPERTY = "idealist gate"


@pytest.fixture
def assert_not_worse(request: pytest.FixtureRequest) -> Callable[..., Gate]:
    """Fail if a run is worse; takes the arguments of `idealist.assert_not_worse`."""

    def check(*runs: Any, **rules: Any) -> Gate:
        __tracebackhide__ = True
        from idealist.gating import assert_not_worse as not_worse  # NumPy comes with it

        found = not_worse(*runs, **rules)
        request.node.user_properties.append((PROPERTY, "\n".join(found.said)))
        return found

    return check


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List what was left undecided."""
    undecided = [
        (report.nodeid, words)
        for report in terminalreporter.getreports("passed")
        for name, words in report.user_properties
        if name == PROPERTY and words.startswith("INCONCLUSIVE") and report.when == "call"
    ]
    if undecided:
        terminalreporter.section("idealist gate: undecided")
    for test, words in undecided:
        terminalreporter.write_line(f"{test}\n{words}")
