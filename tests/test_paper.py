"""The table of a comparison for a paper."""

from __future__ import annotations

import hashlib
from pathlib import Path

from idealist.files import fingerprint


def test_the_fingerprint_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_bytes(b"q1 Q0 d1 1 0.5 a\n")
    wanted = (
        str(tmp_path / "a.run"), hashlib.sha256(b"q1 Q0 d1 1 0.5 a\n").hexdigest(), 17,
    )  # fmt: skip
    assert fingerprint(tmp_path / "a.run") == wanted
    assert fingerprint("-") is None
    assert fingerprint(tmp_path) is None
