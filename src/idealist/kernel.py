"""Which kernel ranks: the compiled one, or the Python code that defines it."""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Literal

from idealist.errors import UsageError

#: Forces one kernel: ``native`` or ``python``.
KERNEL = "IDEALIST_KERNEL"
#: How many threads the compiled kernel may use.
THREADS = "IDEALIST_THREADS"
#: More threads than this would only wait for memory.
MOST_THREADS = 16

_REMEDY = "install a C++ compiler, then pip install --force-reinstall --no-cache-dir idealist"


def native() -> ModuleType | None:
    """Return the compiled kernel, or None if its Python twin ranks.

    The first time the twin is used although nobody asked for it, a line on standard error says so:
    it computes the same numbers, but slowly.
    """
    serving = _serving()
    if isinstance(serving, ModuleType):
        return serving
    if _choice() != "python":
        _say_once(
            f"idealist: {serving}; using the slower Python twin "
            f"({_REMEDY}; or set {KERNEL}=python to keep the twin)"
        )
    return None


def name() -> Literal["native", "python"]:
    """Name the kernel that ranks."""
    return "native" if isinstance(_serving(), ModuleType) else "python"


def description() -> str:
    """Name the kernel that ranks, and say why if it is not the compiled one."""
    serving = _serving()
    return "native kernel" if isinstance(serving, ModuleType) else f"python kernel: {serving}"


def threads() -> int:
    """Return the number of threads to use: what the user said, or the CPUs available."""
    said = os.environ.get(THREADS, "")
    if not said:
        return min(_cpus(), MOST_THREADS)
    if not re.fullmatch("[1-9][0-9]{0,3}", said):
        raise UsageError(
            f"{THREADS}={said!r} is not a number of threads",
            "set it to a whole number from 1 to 9999",
        )
    return int(said)


def _serving() -> ModuleType | str:
    """Return the compiled kernel, or the reason why its Python twin is used."""
    choice = _choice()
    if choice == "python":
        return f"{KERNEL}=python"
    compiled = _compiled()
    if choice == "native" and isinstance(compiled, str):
        raise UsageError(f"{KERNEL}=native, but {compiled}", f"{_REMEDY}; or unset {KERNEL}")
    return compiled


def _choice() -> str:
    choice = os.environ.get(KERNEL, "")
    if choice not in {"", "native", "python"}:
        raise UsageError(
            f"{KERNEL}={choice!r} is not a kernel", "set it to native or python, or unset it"
        )
    return choice


@cache
def _compiled() -> ModuleType | str:
    """Import the compiled kernel, or say why it cannot be imported."""
    try:
        return import_module("idealist._kernel")
    except ModuleNotFoundError:
        return "the compiled kernel is not installed"
    except ImportError as error:
        return f"the compiled kernel cannot be loaded ({error})"


@cache
def _say_once(line: str) -> None:
    if sys.stderr is not None:  # the shell may have closed it
        print(line, file=sys.stderr)


def _cpus() -> int:
    if sys.version_info >= (3, 13):
        count = os.process_cpu_count() or 1
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return count
