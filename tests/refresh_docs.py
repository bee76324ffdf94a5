"""Run the examples of pages and write what they print now into them: `make examples`.

    python tests/refresh_docs.py [PAGE …]

Outputs that still match, those with an ellipsis among them, stay as they are. Read the diff: what
changed must be meant.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from pages import FLAGS, PAGES, ROOT, Block, blocks, commands


def matches(want: str, got: str) -> bool:
    return doctest.OutputChecker().check_output(f"{want}\n", f"{got}\n", FLAGS)


def console(block: Block) -> str:
    """Run a block of commands and give it with what they print."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    lines = []
    for command, want in commands(block):
        done = subprocess.run(
            command, shell=True, env=environment, check=False, encoding="utf-8", timeout=300,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        got = done.stdout.strip("\n")
        same = doctest.OutputChecker().check_output(f"{want}\n", f"{got}\n", doctest.ELLIPSIS)
        lines += [f"$ {command}", *filter(None, [want if same else got])]
    return "\n".join(lines) + "\n"


def python(block: Block, namespace: dict[str, Any]) -> str:
    """Run a block of Python and give it with what it prints."""
    if not block.body.startswith(">>> "):
        exec(compile(block.body, block.place, "exec", dont_inherit=True), namespace)
        return block.body
    parts = []
    for example in doctest.DocTestParser().get_examples(block.body, block.place):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                exec(compile(example.source, block.place, "single", dont_inherit=True), namespace)
            except Exception as error:
                if not example.want.startswith("Traceback"):
                    raise  # an example that fails now is to be mended, not written down
                lines = traceback.format_exception_only(error)
                print("Traceback (most recent call last):\n    ...\n" + "".join(lines), end="")
        got = "".join(f"{line or '<BLANKLINE>'}\n" for line in out.getvalue().splitlines())
        first, *more = example.source.splitlines()
        source = "\n".join([f">>> {first}", *(f"... {line}".rstrip() for line in more)])
        parts.append(f"{source}\n{example.want if matches(example.want, got) else got}")
    return "".join(parts)


def refresh(page: Path) -> None:
    text, namespace = page.read_text("utf-8"), {"__name__": "__page__"}
    for block in blocks(page):
        if block.runs:
            new = python(block, namespace) if block.language == "python" else console(block)
            text = text.replace(
                f"```{block.language}\n{block.body}```", f"```{block.language}\n{new}```", 1
            )
    if text != page.read_text("utf-8"):
        page.write_text(text, "utf-8")
        print(f"changed: {page.relative_to(ROOT)}")


def main() -> None:
    if sys.argv[1:2] == ["--one"]:  # a page starts with a fresh interpreter, as its reader does
        refresh(Path(sys.argv[2]))
        return
    for page in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "examples", Path(folder) / "examples")
            done = [sys.executable, __file__, "--one", str(page)]
            subprocess.run(done, cwd=folder, check=True)


if __name__ == "__main__":
    main()
