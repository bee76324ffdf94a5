"""The shape of the house: modules, lines of code, layers, and how often each verb ranks a run.

python bench/house.py [SRC]
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
QRELS, RUNS = "examples/qrels.txt", ("examples/bm25.run", "examples/reranked.run")
#: Calls whose rankings are counted.
VERBS = {
    "eval": ["eval", QRELS, *RUNS],
    "compare": ["compare", QRELS, *RUNS],
    "audit": ["audit", QRELS, *RUNS, "--fail-on", "never"],
    "diagnose": ["diagnose", QRELS, RUNS[1]],
    "explain": ["explain", QRELS, RUNS[0], "--query", "q01"],
    "gate": ["gate", QRELS, *RUNS],
}


def code_lines(text: str) -> int:
    """Count the lines that hold code: no blanks, comments or docstrings."""
    lines: set[int] = set()
    skipped = (
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
        tokenize.ENDMARKER,
    )  # fmt: skip
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            first = node.body[0]
            lines -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(lines)


def shape(source: Path) -> None:
    """Print modules, lines and layers."""
    files = {path: path.read_text("utf-8") for path in source.rglob("*.py")}
    names = Counter(path.stem for path in files if path.stem != "__init__")
    small = sum(text.count("\n") < 100 for text in files.values())
    twice = sorted(name for name, count in names.items() if count > 1)
    lines = sum(text.count("\n") for text in files.values())
    settings = tomllib.loads((source.parents[1] / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    print(f"modules              {len(files)}, {small} of them under 100 lines")
    print(f"at the top level     {len(list(source.glob('*.py')))}")
    print(f"names used twice     {', '.join(twice) or 'none'}")
    print(f"lines                {lines:,}, {sum(map(code_lines, files.values())):,} of them code")
    print(f"layers               {len(layers)}")


def rankings() -> None:
    """Print how often each verb ranks a run of the examples."""
    from idealist.cli.main import main
    from idealist.ranking import ranked

    count, real = Counter[str](), ranked.rank

    def counted(qrels, run, protocols):  # type: ignore[no-untyped-def]
        count[run.name] += 1
        return real(qrels, run, protocols)

    for module in list(sys.modules.values()):
        if getattr(module, "rank", None) is real:
            module.rank = counted  # type: ignore[attr-defined]
    for verb, arguments in VERBS.items():
        count.clear()
        out = io.StringIO()
        quiet = (contextlib.redirect_stdout(out), contextlib.redirect_stderr(out))
        with quiet[0], quiet[1], contextlib.suppress(SystemExit):
            main(arguments)
        print(f"rankings, {verb:<10} {', '.join(f'{run} {n}' for run, n in count.items())}")


if __name__ == "__main__":
    given = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "src" / "idealist"
    shape(given.resolve())
    if not sys.argv[1:]:
        rankings()
