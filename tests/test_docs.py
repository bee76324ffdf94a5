"""The documentation is true: examples on its pages and in docstrings run, and nothing lacks one."""

from __future__ import annotations

import ast
import doctest
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

import idealist
from forked import Commands, plain_words
from idealist.cli.main import VERBS, cli
from idealist.conventions.describe import Description, describe_all
from waiting import PATIENCE

ROOT = Path(__file__).parents[1]
WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
#: The pages people wrote; the reference is made from code that is tested itself.
PAGES = sorted(page for page in WRITTEN if not {"generated", "_build"} & set(page.parts))
MODULES = ["idealist", *(one.name for one in pkgutil.walk_packages(idealist.__path__, "idealist."))]

#: What a block marked no-run may do: set up what a test must not touch.
SET_UP = ("make", "pip install", "git clone", "python3 -m venv", ". .venv/bin/activate")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, its text, and the line it starts on."""

    language: str
    runs: bool
    body: str
    page: Path
    line: int

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for match in FENCE.finditer(text):
        language, _, mark = match["info"].partition(" ")
        if language in ("python", "console"):
            assert mark in ("", "no-run"), f"{page}: a block is marked {mark!r}"
            line = text.count("\n", 0, match.start("body")) + 1
            yield Block(language, not mark, match["body"], page, line)


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Give each command of a console block with the output that is shown for it."""
    lines = block.body.splitlines()
    assert lines, f"{block.place}: the block is empty"
    assert lines[0].startswith("$ "), f"{block.place}: the block does not start with a command"
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        last = next(i for i in range(start, end) if not lines[i].endswith("\\"))
        command = "\n".join(lines[start : last + 1]).removeprefix("$ ")
        yield command, "\n".join(lines[last + 1 : end]).strip("\n")


def run_python(block: Block, namespace: dict[str, Any]) -> None:
    if not block.body.startswith(">>> "):
        source = "\n" * (block.line - 1) + block.body
        exec(compile(source, block.place, "exec", dont_inherit=True), namespace)
        return
    parser, report = doctest.DocTestParser(), list[str]()
    examples = parser.get_examples(block.body, block.place)
    test = doctest.DocTest(examples, {}, block.place, str(block.page), block.line - 1, block.body)
    test.globs = namespace  # DocTest copies what it is given, but blocks of a page share names
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    failed, _ = runner.run(test, out=report.append, clear_globs=False)
    assert not failed, "".join(report)


def printed(command: str, started: Commands | None) -> str:
    """Run a command where we stand, and give what it prints."""
    words = plain_words(command)
    if started is not None and words is not None:
        return started.run(words, Path(os.environ["TMPDIR"]) / "printed")
    return subprocess.run(
        command, shell=True, check=False, encoding="utf-8", timeout=PATIENCE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ).stdout  # fmt: skip


def run_console(block: Block, started: Commands | None) -> None:
    for command, want in commands(block):
        got = printed(command, started).strip("\n")
        same = doctest.OutputChecker().check_output(want + "\n", got + "\n", doctest.ELLIPSIS)
        assert same, f"{block.place}: $ {command}\nshown:\n{want}\nprinted:\n{got}"


def run_page(page: Path) -> None:
    """Run the examples of a page, in order, where we stand; those in Python share their names."""
    namespace: dict[str, Any] = {"__name__": "__page__"}
    found = [block for block in blocks(page) if block.runs]
    shown = [one for block in found if block.language == "console" for one, _ in commands(block)]
    many = sum(plain_words(one) is not None for one in shown) > 2
    started = Commands(MODULES) if many and hasattr(os, "fork") else None
    for block in found:
        if block.language == "python":
            run_python(block, namespace)
        else:
            run_console(block, started)


#: The pages with examples that run.
RUNNING = [page for page in PAGES if any(block.runs for block in blocks(page))]


@pytest.mark.parametrize("page", RUNNING, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs(page: Path, tmp_path: Path) -> None:
    """A reader starts with a fresh interpreter, and so does each page."""
    shutil.copytree(ROOT / "examples", tmp_path / "here" / "examples")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", __file__, str(page)], cwd=tmp_path / "here", check=False,
        env=os.environ | own, capture_output=True, encoding="utf-8", timeout=PATIENCE,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    assert not done.stderr, done.stderr


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


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))
