"""Where Spark comes from: its functions, its session, and what is sent to its executors."""

from __future__ import annotations

import os
import pickle
import sys
from functools import lru_cache
from importlib import import_module
from typing import Any

from idealist import kernel
from idealist.errors import InputError, UsageError


def functions() -> Any:
    """Import the functions of Spark's columns, or say how to get them."""
    try:
        return import_module("pyspark.sql.functions")
    except ImportError:
        message = "evaluation on Spark needs a package that is not installed"
        raise UsageError(message, "pip install 'idealist[spark]', and Java 17 or later") from None


def session() -> Any:
    """Return the session that there is, or start one whose workers run this Python."""
    functions()
    found = import_module("pyspark.sql").SparkSession
    if (active := found.getActiveSession()) is not None:
        return active
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return found.builder.appName("idealist").getOrCreate()


def is_frame(data: Any) -> bool:
    """Whether data is a data frame of Spark, which has an attribute that no other frame has."""
    return hasattr(data, "sparkSession") and hasattr(data, "mapInArrow")


def sent(data: Any) -> bytes:
    """Write what executors need; functions of a notebook go along."""
    found: bytes = import_module("pyspark.cloudpickle").dumps(data)
    return found


@lru_cache(maxsize=2)
def received(data: bytes) -> Any:
    """Read it on an executor, once for all tasks of its process, each of which has one core."""
    os.environ.setdefault(kernel.THREADS, "1")
    return pickle.loads(data)


def packed_error(error: Exception) -> tuple[str, Any, Any]:
    """Write an error of ours so that it can be raised on another machine."""
    if isinstance(error, InputError):
        return "input", error.faults, error.total
    return "usage", getattr(error, "message", str(error)), getattr(error, "hint", "")


def unpacked_error(written: tuple[str, Any, Any]) -> InputError | UsageError:
    """Read what `packed_error` wrote.

    >>> str(unpacked_error(packed_error(UsageError("no", "say yes"))))
    'no\\n  hint: say yes'
    """
    kind, first, second = written
    return InputError(first, second) if kind == "input" else UsageError(first, second)
