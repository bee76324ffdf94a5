"""The folders of the kernel's sources are layers: none includes a higher one, and one knows Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[1] / "native"
#: The layer of each folder, as native/README.md has it.
LAYERS = {
    folder: int(layer)
    for layer, folder in re.findall(
        r"^\| (\d+) \| `(\w+)` \|", (NATIVE / "README.md").read_text("utf-8"), re.MULTILINE
    )
}
SOURCES = sorted(NATIVE.rglob("*.?pp"))


def included(source: Path, marks: str) -> list[str]:
    return re.findall(
        f"^#include {marks[0]}(.+){marks[1]}", source.read_text("utf-8"), re.MULTILINE
    )


def test_every_source_is_in_a_folder_with_a_layer() -> None:
    assert {source.relative_to(NATIVE).parent.as_posix() for source in SOURCES} == set(LAYERS)


@pytest.mark.parametrize(
    "source", SOURCES, ids=lambda source: source.relative_to(NATIVE).as_posix()
)
def test_a_source_includes_no_higher_layer(source: Path) -> None:
    own = source.parent.name
    for path in included(source, '""'):
        assert (NATIVE / path).is_file(), f"{path} is not a path in native"
        other = path.split("/")[0]
        assert other == own or LAYERS[other] < LAYERS[own], f"{own} may not include {path}"
    if LAYERS[own] < max(LAYERS.values()):
        assert not [path for path in included(source, "<>") if re.match("nanobind|[Pp]ython", path)]
