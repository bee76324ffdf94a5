"""The three tables a user brings: judgments, a run, and optionally facts about the queries."""

from idealist.tables.judgments import Scale
from idealist.tables.qrels import Qrels
from idealist.tables.queries import Queries
from idealist.tables.run import Rows, Run

__all__ = ["Qrels", "Queries", "Rows", "Run", "Scale"]
