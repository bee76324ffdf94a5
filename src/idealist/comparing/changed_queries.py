"""Changed queries: those that lost or gained most in a comparison, and the order of all of them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from idealist.explaining.worsened_queries import query_changes
from idealist.rendering.document import Block, Command, Table, Text
from idealist.rendering.plain_data import records_table

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison
    from idealist.comparing.pair import Pair


@dataclass(frozen=True)
class QueryView:
    """Which queries of a comparison are shown, and how.

    `worst` and `best` say how many queries that lost and gained most are listed for each pair, by
    the primary measure; `sort` orders all queries, where they are shown: ``query``, ``difference``
    or ``value``, the worst first. `texts` has the texts of queries, and `commands` explains a query
    of a pair, {(baseline, run): command}, once ``--query ID`` is added.
    """

    worst: int = 0
    best: int = 0
    sort: str = "query"
    texts: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def lists(self) -> dict[str, int]:
        """How many queries are listed, by which way they went."""
        asked = {"worst": self.worst, "best": self.best}
        return {name: count for name, count in asked.items() if count}


def changed_blocks(comparison: Comparison) -> Iterator[Block]:
    """Tabulate the queries that changed most, and say how to look at the first of them."""
    view = comparison.view
    for pair in comparison[comparison.primary] if view.lists else ():
        lists = {name: _rows(pair, view, name) for name in view.lists}
        for name, rows in lists.items():
            yield _listed(pair, "lost" if name == "worst" else "gained", rows)
        first = next((row["query"] for rows in lists.values() for row in rows), None)
        command = view.commands.get((pair.baseline, pair.run))
        if first is not None and command:
            yield Text(f"To see why query {first} changed:")
            yield Command(f"{command} --query {shlex.quote(first)}")


def _listed(pair: Pair, verb: str, rows: Sequence[Mapping[str, Any]]) -> Block:
    by = f"by {pair.measure} from {pair.baseline} to {pair.run}"  # of which less may be better
    if not rows:
        return Text(f"No query {verb} anything {by}.")
    cells = [(row["query"], row.get("text", ""), row["baseline"], row["run"]) for row in rows]
    return query_changes(pair.baseline, pair.run, cells, f"Queries that {verb} most {by}")


def changed_data(comparison: Comparison) -> dict[str, Any]:
    """Return the same as plain data: a list for each way, an entry for each pair."""
    view = comparison.view
    return {
        name: [
            {
                "measure": pair.measure, "baseline": pair.baseline, "run": pair.run,
                "queries": _rows(pair, view, name),
            }
            for pair in comparison[comparison.primary]
        ]
        for name in view.lists
    }  # fmt: skip


def changed_table(comparison: Comparison) -> Table:
    """Tabulate for programs: a row for each query that changed most."""
    records = [
        {
            "measure": pair["measure"], "baseline": pair["baseline"], "run": pair["run"],
            "list": name,
            "query": row["query"], "text": row.get("text", ""), "baseline's": row["baseline"],
            "run's": row["run"], "difference": row["difference"],
        }
        for name, pairs in changed_data(comparison).items()
        for pair in pairs
        for row in pair["queries"]
    ]  # fmt: skip
    return records_table(records)


def _rows(pair: Pair, view: QueryView, name: str) -> list[dict[str, Any]]:
    values, sign = pair.by_query(), -1 if name == "worst" else 1
    return [
        {"query": query, **({"text": text} if (text := view.texts.get(query)) else {})}
        | values[query]
        for query, _ in pair.most_changed(sign, view.lists[name])
    ]
