"""The story of a reranker and its baseline: before, after, who won, who lost, what to try next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from idealist.comparing import Comparison, Pair, compare
from idealist.data import Qrels, Queries, Run
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluations import Evaluations
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import read_qrels, read_queries, read_run
from idealist.rendering import document as doc
from idealist.rendering.document import TEXT, Block, Column, Document, Items, Table, Text
from idealist.rendering.result import Result
from idealist.rendering.wording import clipped, p_words

MAIN = "nDCG@10"
MEASURES = (MAIN, "nDCG@5")
#: A value below this is 0, and a difference none.
SAME = 1e-9
#: Tools that differ from each other in what they call nDCG.
TOOLS = ("trec_eval", "burges", "jarvelin-kekalainen", "sklearn", "lightgbm", "quepid")
#: How wide a line of bars and the longest bar are, and how many gains are shown.
WIDTH, BAR, SHOWN = 79, 16, 5


@dataclass(frozen=True, repr=False)
class Story(Result):
    """A baseline, a reranking of its candidates, the judgments and the queries."""

    qrels: Qrels
    queries: Queries
    before: Run
    after: Run

    @classmethod
    def read(cls, folder: Path) -> Story:
        """Read the files that the demo leaves behind."""
        before, after = (read_run(folder / f"{name}.run").loaded() for name in ("bm25", "reranked"))
        queries = read_queries(folder / "queries.csv")
        return cls(read_qrels(folder / "qrels.txt"), queries, before, after)

    @cached_property
    def comparison(self) -> Comparison:
        """Both runs, evaluated and compared."""
        kinds = self.queries.columns.get("kind", dict.fromkeys(self.qrels.queries, "all"))
        return compare(self.qrels, [self.before, self.after], MEASURES, slices=kinds)

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """Both runs, evaluated."""
        return self.comparison.evaluations

    @property
    def pair(self) -> Pair:
        """Their difference by the main measure."""
        return self.comparison.pairs[0]

    @cached_property
    def changes(self) -> dict[str, float]:
        """What each query gained, the greatest gain first."""
        gained = dict(zip(self.pair.queries, self.pair.differences.tolist(), strict=True))
        return dict(sorted(gained.items(), key=lambda pair: -pair[1]))

    @property
    def summary(self) -> str:
        """Whether the reranking is better."""
        return self.pair.verdict

    def report(self) -> Document:
        """Tell the story: the verdict, the means, the queries, the kinds, what to try next."""
        advice = tuple(self._hints())
        blocks: tuple[Block, ...] = (
            Text(self.summary, strong=True), Text(self.counts()), self.means(),
            Text(self.bars()), self.slices(), Text(self.conventions()),
            doc.Heading("What to try next"), Items(advice),
        )  # fmt: skip
        signatures = doc.Signatures(Evaluations(self.evaluations).signatures)
        return Document(blocks, (Text("± is the longer half of a 95 % interval"), signatures))

    def data(self) -> Any:
        """Return the comparison as plain data."""
        return self.comparison.data()

    def means(self) -> Table:
        """Tabulate the means before and after, with the improvement."""
        columns = [Column("measure", TEXT), *(Column(one.run) for one in self.evaluations)]
        columns += [Column("difference", doc.SIGNED), Column("relative", doc.PERCENT)]
        rows = [
            (pair.measure, pair.base_mean, pair.run_mean,
             doc.Estimate(pair.difference, (pair.ci[1] - pair.ci[0]) / 2), pair.relative)
            for pair in self.comparison.pairs
        ]  # fmt: skip
        return Table(tuple(columns), tuple(rows))

    def counts(self) -> str:
        """Count wins, ties and losses, and what they rest on."""
        pair, judged = self.pair, "all" if self._covered() else "not all"
        counts = f"{pair.wins} queries better, {pair.ties} the same, {pair.losses} worse."
        counted = f"{pair.n} of {len(self.queries)} queries count"
        return f"{counts}\n{counted}; {judged} documents of their first 10 are judged."

    def _covered(self) -> bool:
        judged = Evaluator(self.qrels, ["Unjudged@10"])
        return not any(judged(run)["Unjudged@10"] for run in (self.before, self.after))

    def bars(self) -> str:
        """Draw what the queries with the greatest gains, and all that lost, changed by."""
        changes = list(self.changes.items())
        lost = [(query, change) for query, change in changes if change < -SAME]
        widest = max(abs(change) for _, change in changes) or 1.0
        heading = [f"Greatest gains in {MAIN}", *self._bar_lines(changes[:SHOWN], widest)]
        return "\n".join([*heading, "", "Losses", *(self._bar_lines(lost, widest) or ["  none"])])

    def _bar_lines(self, changes: Sequence[tuple[str, float]], widest: float) -> list[str]:
        return [
            _shorten(
                f"  {query}  {change:+.3f}  {_bar(abs(change) / widest)}",
                self.queries.text.get(query, ""),
            )
            for query, change in changes
        ]

    def slices(self) -> Table:
        """Tabulate the mean by kind of query."""
        own = [pair for pair in self.comparison.slices if pair.measure == MAIN]
        rows = [
            (pair.slice, pair.n, pair.base_mean, pair.run_mean, pair.difference,
             p_words(pair.p_adjusted) if pair.tested else "too few to test")
            for pair in sorted(own, key=lambda pair: -pair.difference)
        ]  # fmt: skip
        columns = [Column("kind of query", TEXT), Column("queries", doc.COUNT)]
        columns += [Column(one.run) for one in self.evaluations]
        return Table((*columns, Column("difference", doc.SIGNED), Column("test")), tuple(rows))

    def conventions(self) -> str:
        """Say what other tools would print for the same ranking."""
        values = {
            name: Evaluator(self.qrels, MAIN, convention=name)(self.after)[MAIN] for name in TOOLS
        }
        listed = ", ".join(f"{name} {value:.4f}" for name, value in values.items())
        return f"{MAIN} of {self.after.name} by the rules of others:\n{listed}"

    def _hints(self) -> Iterator[str]:
        reached, ceiling = self.evaluations[1][MAIN], self._ceiling()
        yield (
            f"Retrieve more: these candidates in the best possible order have {MAIN} "
            f"{ceiling[MAIN]:.4f}, and {self.after.name} has {reached:.4f}. No reranker passes it."
        )
        for query, best in zip(ceiling.queries, ceiling.values[MAIN].tolist(), strict=True):
            if best < SAME:
                words = (
                    f"nothing relevant is among its candidates ({self.queries.text.get(query, '')})"
                )
                yield f"Look at {query}: {words}."
        if worse := self._worse_at_the_top():
            yield f"Look at the first document of {', '.join(worse)}: it was better before."
        if "weight" not in self.queries.columns:
            return
        weights = Evaluator(self.qrels, MAIN, weights=self.queries)
        before, after = (weights(run)[MAIN] for run in (self.before, self.after))
        yield f"Weigh queries by their traffic: {MAIN} is {before:.4f} before, {after:.4f} after."

    def _worse_at_the_top(self) -> list[str]:
        evaluator = Evaluator(self.qrels, "nDCG@1")
        before, after = (evaluator(run) for run in (self.before, self.after))
        lower = after.values["nDCG@1"] < before.values["nDCG@1"] - SAME
        return [query for query, worse in zip(before.queries, lower, strict=True) if worse]

    def _ceiling(self) -> Evaluation:
        """Evaluate the candidates in the best order there is."""
        rows, grades = self.before.rows(), self.qrels.to_dict()
        best = {
            query: {d: grades.get(query, {}).get(d, 0.0) for d in rows.documents[span]}
            for query, span in rows.spans().items()
        }
        return Evaluator(self.qrels, MAIN)(best)


def _shorten(start: str, text: str) -> str:
    """Put a text behind a start, cut where the line ends."""
    return f"{start}  {clipped(text, WIDTH - len(start) - 2)}"


def _bar(share: float) -> str:
    return ("█" * round(share * BAR) or "▏").ljust(BAR)
