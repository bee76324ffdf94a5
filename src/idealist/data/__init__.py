"""The three tables a user brings: judgments, a run, and optionally facts about the queries."""

from __future__ import annotations

from idealist.data.judgments import Scale
from idealist.data.qrels import Qrels
from idealist.data.queries import Queries
from idealist.data.run import Rows, Run

__all__ = ["Qrels", "Queries", "Rows", "Run", "Scale"]
