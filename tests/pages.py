"""Pages of the documentation: their examples, and a program that runs those of pages."""

from __future__ import annotations

import doctest
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import forked
from forked import Forks, ask, into, plain_words, serve
from waiting import PATIENCE

ROOT = Path(__file__).parents[1]
WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
#: The pages people wrote; the reference is made from code that is tested itself.
PAGES = sorted(page for page in WRITTEN if not {"generated", "_build"} & set(page.parts))

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


#: The modules that import a heavy peer, and the pages that use one: `make parity` runs these.
WITH_PEERS = {"idealist.tensors.torch_metric", "idealist.tensors.reranking_evaluator"}


def with_peers(page: Path) -> bool:
    """Whether a page uses heavy packages: `make parity` runs those on training, `make live` Spark's."""
    return page.parent.name == "training" or page.stem == "spark"


def modules() -> list[str]:
    """Name all modules, but for those that import a heavy peer."""
    import idealist

    found = pkgutil.walk_packages(idealist.__path__, "idealist.")
    return ["idealist", *(one.name for one in found if one.name not in WITH_PEERS)]


@contextmanager
def reader(*, warn: str = "error") -> Iterator[Callable[[Path, Path], tuple[int, str]]]:
    """Run the examples of pages as a reader would, each in a folder; give the status and stderr.

    An interpreter imports idealist and does nothing else; each page has a fork of it.
    """
    ours, theirs = Pipe()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    line = theirs.fileno()
    with ours, subprocess.Popen(
        [sys.executable, "-W", warn, __file__, str(line)], env=os.environ | own, pass_fds=[line],
    ):  # fmt: skip
        theirs.close()

        def read(page: Path, folder: Path) -> tuple[int, str]:
            shutil.copytree(ROOT / "examples", folder / "here" / "examples")
            return ask(ours, page, folder), (folder / "said").read_text("utf-8")

        yield read
        ours.close()


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


def printed(command: str, started: Callable[..., None]) -> str:
    """Run a command where we stand, and give what it prints."""
    words = plain_words(command)
    if words is not None:
        output = Path(os.environ["TMPDIR"]) / "printed"
        started(words, output)
        return output.read_text("utf-8")
    return subprocess.run(
        command, shell=True, check=False, encoding="utf-8", timeout=PATIENCE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ).stdout  # fmt: skip


def run_console(block: Block, started: Callable[..., None]) -> None:
    for command, want in commands(block):
        got = printed(command, started).strip("\n")
        same = doctest.OutputChecker().check_output(want + "\n", got + "\n", doctest.ELLIPSIS)
        assert same, f"{block.place}: $ {command}\nshown:\n{want}\nprinted:\n{got}"


def run_page(page: Path, folder: Path) -> None:
    """Run the examples of a page in a folder, in order; those in Python share their names."""
    into(folder / "said", 2)
    into(folder / "shown", 1)
    os.chdir(folder / "here")
    os.environ["TMPDIR"] = str(folder)
    namespace: dict[str, Any] = {"__name__": "__page__"}
    started = Forks(forked.command)
    for block in blocks(page):
        if block.runs and block.language == "python":
            run_python(block, namespace)
        elif block.runs:
            run_console(block, started)


if __name__ == "__main__":
    for module in modules():
        import_module(module)
    serve(Connection(int(sys.argv[1])), run_page)
