"""What tests share: where real data lies, how to skip where it does not, and patience."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from effort import tries

#: Real runs, judgments and published values; see CONTRIBUTING.md.
TEST_DATA = Path(
    os.environ.get("IDEALIST_TEST_DATA", Path(__file__).parents[2] / "shared" / "data")
)


# A busy machine is slow, which says nothing of what is tested; `make study` tries more examples.
settings.register_profile(
    "patient", max_examples=tries(60, 100), deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.load_profile("patient")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; the test is skipped where there is none."""
    if not TEST_DATA.is_dir():
        pytest.skip(f"no real data at {TEST_DATA}; set IDEALIST_TEST_DATA")
    return TEST_DATA
