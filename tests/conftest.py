"""What tests share: where real data lies, how to skip where it does not, and patience."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from effort import IS_SLOW, tries

#: Real runs, judgments and published values; see CONTRIBUTING.md.
TEST_DATA = Path(
    os.environ.get("IDEALIST_TEST_DATA", Path(__file__).parents[2] / "shared" / "data")
)


# A busy machine is slow, which says nothing of what is tested. The same examples are tried each time,
# so that a change is not refused for what it did not touch; `make study` tries more, and others.
settings.register_profile(
    "patient", max_examples=tries(60, 100), deadline=None, derandomize=not IS_SLOW,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.load_profile("patient")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; the test is skipped where there is none."""
    if not TEST_DATA.is_dir():
        pytest.skip(f"no real data at {TEST_DATA}; set IDEALIST_TEST_DATA")
    return TEST_DATA


def pytest_collection_finish() -> None:
    """Let garbage be sought among what tests make: the tests themselves live to the end."""
    gc.collect()
    gc.freeze()
