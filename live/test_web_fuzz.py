"""20,000 hostile requests: no defect, nothing written that should not be, nothing that would run."""

from __future__ import annotations

from pathlib import Path

import pytest

from web_fuzz import fuzz

PARTS, EACH = 10, 2000


@pytest.mark.parametrize("seed", range(PARTS))
def test_hostile_requests(tmp_path: Path, seed: int) -> None:
    found = dict(fuzz(tmp_path, seed, EACH))
    assert sum(sum(one.values()) for one in found.values()) == EACH
    assert set(found[""]) <= {303, 400, 401, 403, 405, 413, 414, 415, 421, 429, 499, 200}
    for who in ("reader", "judge", "editor"):
        assert found[who][200] > EACH / 40, "some requests must reach a page"
