"""The documentation is true: examples on its pages and in docstrings run, and nothing lacks one."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

import idealist
import pages
from idealist.cli.main import VERBS, cli
from idealist.conventions.describe import Description, describe_all
from pages import FLAGS, PAGES, ROOT, blocks, commands, modules
from waiting import PATIENCE

MODULES = modules()

#: What a block marked no-run may do: set up what a test must not touch.
SET_UP = (
    "make", "pip install", "git clone", "python3 -m venv", ". .venv/bin/activate",
    "idealist ui ", "curl ",  # a server never ends; tests/test_web_cli.py starts it
)  # fmt: skip

#: The pages with examples that run.
RUNNING = [
    page
    for page in PAGES
    if any(block.runs for block in blocks(page)) and not pages.with_peers(page)
]


@pytest.fixture(scope="module")
def read() -> Iterator[Callable[[Path, Path], tuple[int, str]]]:
    with pages.reader() as run:
        yield run


@pytest.mark.parametrize("page", RUNNING, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs(
    page: Path, tmp_path: Path, read: Callable[[Path, Path], tuple[int, str]]
) -> None:
    """A reader starts with an interpreter that has done nothing, and so does each page."""
    status, said = read(page, tmp_path)
    assert (status, said) == (0, ""), said


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_only_setting_up_is_not_run(page: Path) -> None:
    for block in blocks(page):
        if not block.runs:
            assert block.language == "console", f"{block.place}: Python can always run"
            for command, _ in commands(block):
                assert command.startswith(SET_UP), f"{block.place}: {command} can run"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_fence_is_closed_and_known(page: Path) -> None:
    lines = page.read_text("utf-8").splitlines()
    fences = [line for line in lines if line.lstrip().startswith("```")]
    assert len(fences) % 2 == 0
    for fence in fences[::2]:
        language = fence.removeprefix("```").split(" ")[0]
        assert language in ("python", "console", "text", "json", "{toctree}"), fence


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_of_a_module_run(name: str) -> None:
    failed, _ = doctest.testmod(import_module(name), optionflags=FLAGS)
    assert not failed


@pytest.mark.parametrize("one", describe_all(), ids=lambda one: one.name)
def test_a_measure_is_described(one: Description) -> None:
    for part in ("summary", "formula", "example", "reference"):
        assert getattr(one, part), f"{one.name} has no {part}"


def help_of(*path: str) -> str:
    shown = CliRunner().invoke(cli, [*path, "--help"], prog_name="idealist")
    assert shown.exit_code == 0, shown.output
    return shown.output


def helps(*path: str) -> Iterator[tuple[str, str]]:
    """Give the help of a verb and of the verbs below it."""
    shown = help_of(*path)
    yield " ".join(path), shown
    _, _, below = shown.partition("\nCommands:\n")
    for name in re.findall(r"^  (\S+)", below, re.MULTILINE):
        yield from helps(*path, name)


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_has_an_example(verb: str) -> None:
    for path, shown in helps(verb) if verb else [("", help_of())]:
        assert f"idealist {path}".strip() in shown.partition("Example")[2], shown


def test_public_names_are_those_of_the_stub() -> None:
    """Type checkers believe its __all__; at run time the imports above it count."""
    stub = Path(idealist.__file__).with_suffix(".pyi").read_text("utf-8")
    listed = ast.literal_eval(stub[stub.index("__all__ = ") : stub.index("]")].split("= ")[1] + "]")
    assert idealist.__all__ == dir(idealist) == sorted(listed)


@pytest.mark.parametrize("name", idealist.__all__)
def test_a_public_name_can_be_imported(name: str) -> None:
    value = getattr(idealist, name)
    assert not isinstance(value, ModuleType), f"idealist.{name} is the module of that name"


def test_the_page_of_the_api_is_what_the_code_says() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import api_page; print(api_page.page(), end='')"],
        cwd=ROOT / "docs", check=True, capture_output=True, encoding="utf-8", timeout=PATIENCE,
    )  # fmt: skip
    page = ROOT / "docs" / "reference" / "api.md"
    assert page.read_text("utf-8") == done.stdout, "run make examples"
