"""Documents, figures and results: what verbs say, and the forms it is written in.

The verb `idealist.report` has the name of this package, so the package can be called.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A module that is called as the verb of its name."""

    def __call__(self, *given: Any, **options: Any) -> Any:
        """Make a report."""
        return import_module("idealist.reporting").report(*given, **options)


sys.modules[__name__].__class__ = _Callable
