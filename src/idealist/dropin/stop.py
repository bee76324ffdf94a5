"""How trec_eval ends where it cannot go on."""

from __future__ import annotations

from idealist.errors import IdealistError


class Stop(IdealistError):
    """An end with one of trec_eval's exit codes."""

    def __init__(self, code: int, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.code = code
