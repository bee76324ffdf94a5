"""Commands that evaluate again, with what was asked for: in a shell, or in Python without files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idealist.conventions import DEFAULT
from idealist.formats.source import STDIN

if TYPE_CHECKING:
    from idealist.evaluating.evaluator import Evaluator


def is_filed(*names: str) -> bool:
    """Whether data came from files, or from standard input."""
    return all(name == STDIN or Path(name).exists() for name in names)


def file_word(name: str) -> str:
    """Write the name of a file so that it is not taken for an option.

    >>> file_word("-run.json"), file_word("<stdin>")
    ('./-run.json', '-')
    """
    return "-" if name == STDIN else f"./{name}" if name.startswith("-") else name


def shell(
    evaluator: Evaluator, verb: str, files: Sequence[str], *flags: str, **axes: Any
) -> str:  # fmt: skip
    """Write a command as a shell takes it, with the measures, convention and axes asked for."""
    words = ["idealist", verb, *map(file_word, files), *flags]
    if verb == "eval" and not evaluator.usual:
        words += [word for label in evaluator.measures for word in ("-m", label)]
    if evaluator.convention.name != DEFAULT:
        words += ["--convention", evaluator.convention.name]
    for axis, value in _axes(evaluator, axes).items():
        words += ["--set", f"{axis}={value}"]
    return shlex.join(words)


def evaluate_again(evaluator: Evaluator, *files: str, **axes: Any) -> str:
    """Write the command, or the call, that evaluates with other axes.

    It is empty where only some queries count or where they have weights, which no axis says.
    """
    if evaluator.asked or evaluator.weights:
        return ""
    if is_filed(*files):
        return shell(evaluator, "eval", files, **axes)
    words = ["qrels", "run"]
    if not evaluator.usual:
        words.append(repr(list(evaluator.measures)))
    if evaluator.convention.name != DEFAULT:
        words.append(f"convention={evaluator.convention.name!r}")
    words += (f"{axis}={value!r}" for axis, value in _axes(evaluator, axes).items())
    return f"evaluate({', '.join(words)})"


def _axes(evaluator: Evaluator, axes: Mapping[str, Any]) -> dict[str, str]:
    return {axis: str(value) for axis, value in {**evaluator.axes, **axes}.items()}
