"""The pages on training run, with the packages that they are about."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import pages

TRAINING = [page for page in pages.PAGES if page.parent.name == "training"]


@pytest.mark.parametrize("page", TRAINING, ids=lambda page: page.stem)
def test_a_page_runs(page: Path, tmp_path: Path) -> None:
    with pages.reader(warn="default") as read:  # heavy packages warn of each other
        status, said = read(page, tmp_path)
    assert not status, said


@pytest.mark.parametrize("name", sorted(pages.WITH_PEERS))
def test_docstrings_of_a_module_run(name: str) -> None:
    failed, _ = doctest.testmod(import_module(name), optionflags=pages.FLAGS)
    assert not failed
