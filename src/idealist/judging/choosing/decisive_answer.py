"""Where verdicts stand: decided whatever is judged, or open, and what could turn them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from idealist.bounding.bound_case import grades_of
from idealist.evaluating.evaluator import Evaluator
from idealist.judging.choosing.decisive_plan import FOLLOWED, Contest, DecisivePlan, Outlook
from idealist.notation import many, tidy
from idealist.rendering.document import SHARE, SIGNED, TEXT, Block, Column, Document, Table, Text
from idealist.rendering.plain_data import finite, records_table
from idealist.rendering.result import Result
from idealist.rendering.wording import counted, number, signed

#: How many documents, and how many open pairs of runs, are shown.
SHOWN = 20
#: What chances are, and what they are for.
#: How many judgments a query must have on average before their further number is estimated. With
#: one or two of TREC-COVID's, half of those needed were expected. Suggested.
ENOUGH = 3
ESTIMATED = "Chances are estimated from the ranks of what is judged; they only set the order."


@dataclass(frozen=True, eq=False, repr=False)
class DecisiveAnswer(Result):
    """Whether judgments can still turn a verdict, and what the documents that matter could do.

    So many of them were `chosen` to be judged.
    """

    evaluator: Evaluator
    measure: str
    plan: DecisivePlan
    chosen: int

    @property
    def decided(self) -> bool:
        """Whether no judgment can turn any verdict."""
        return not self.plan.open

    @cached_property
    def matter(self) -> int:
        """How many documents could turn a verdict, of those that a list is measured by."""
        return len(self.plan.order)

    @property
    def summary(self) -> str:
        """Whether to go on judging, in one sentence."""
        contests = self.plan.contests
        if self.decided:
            what = self._proven(contests[0]) if self._alone else f"{self._question}, for every pair"
            return f"decided: {what}; {self._powerless}: stop judging"
        documents = many(self.matter, "document matters", "documents matter")
        left = "" if self._alone else f" for {len(self.plan.open)} of {len(contests)} pairs"
        if self.matter > 1 and not self._foreseen:
            unknown = "how many judgments that takes is not estimated"
            return f"undecided: {documents} to {self._question}{left}; {unknown}"
        return f"undecided: {documents}; {self._needed} {self._question}{left}"

    @property
    def _foreseen(self) -> bool:
        """Whether a number of judgments can be said; it was tried where bounds are exact."""
        contests, qrels = self.plan.contests, self.evaluator.qrels
        exact = all(one.effect.kind == "exact" and not one.tested for one in contests)
        return exact and len(qrels) >= ENOUGH * len(qrels.queries)

    @property
    def _question(self) -> str:
        """What the verdict is about."""
        effect, tested = self.plan.contests[0].effect, self.plan.contests[0].tested
        which = f"{effect.baseline} or {effect.run}" if self._alone else "which run"
        if self._alone and not self.decided:
            which = f"whether {which}"
        if tested:
            return f"{which} has a higher mean {self.measure}, and whether significantly"
        return f"{which} has the higher mean {self.measure}"

    @property
    def _powerless(self) -> str:
        """Say that no grade can turn it, and of how many documents."""
        unjudged = len(self.plan.effects)
        if not unjudged:
            fixed = all(one.effect.fixed for one in self.plan.contests)
            return "no document that it depends on is unjudged" if fixed else "no grade can turn it"
        which = (
            "the one unjudged document" if unjudged == 1 else f"the {unjudged} unjudged documents"
        )
        return f"no grade of {which} can turn it"

    @property
    def _needed(self) -> str:
        """Say how many judgments are expected to decide it."""
        if not self.matter:
            return "only what the runs rank lower is left, and it takes that to decide"
        if self.matter == 1:
            return "it is expected to be needed to decide"
        about = max(1, round(self.plan.needed))
        if about >= min(self.matter, FOLLOWED):
            whole = "it is" if self.matter == 1 else "all of them are"
            all_of_them = whole if self.matter <= FOLLOWED else f"over {FOLLOWED:,} are"
            return f"{all_of_them} expected to be needed to decide"
        judgments = many(about, "more judgment is", "more judgments are")
        return f"roughly {judgments} expected to decide"

    @property
    def _alone(self) -> bool:
        return len(self.plan.contests) == 1

    def _proven(self, contest: Contest) -> str:
        """Say what holds whatever is judged."""
        effect = contest.effect
        if contest.tested and not contest.significant:
            return (
                f"{effect.run} and {effect.baseline} do not differ significantly in {self.measure}"
            )
        if not contest.sign:
            return f"{effect.run} and {effect.baseline} are level in mean {self.measure}"
        better, worse = (effect.run, effect.baseline)[:: contest.sign]
        least = min(abs(effect.low), abs(effect.high))
        now, surely = number(abs(effect.value)), number(least)
        by = f"by {now} now and {surely} at least" if now != surely else f"by {now}"
        if now == surely and not effect.fixed:
            by += " now and at the least"
        said = f"{better} has a higher mean {self.measure} than {worse}, {by}"
        return said + (", and significantly so" if contest.tested else "")

    def _now(self) -> str:
        """Say how a single open pair stands, and how likely that is wrong."""
        (outlook,) = self.plan.open
        effect = outlook.contest.effect
        value = signed(effect.value) if outlook.contest.known else "unknown"
        now = f"{effect.run} - {effect.baseline} is {value} now"
        between = f"could be {signed(effect.low)} to {signed(effect.high)}"
        return f"{now}, and {between}.{self._chances(outlook) if self.matter else ''}"

    def _chances(self, outlook: Outlook) -> str:
        """Say how likely the better run is better, and the other, if they may be level too."""
        effect, ahead = outlook.contest.effect, outlook.better >= outlook.worse
        first, second = (effect.run, effect.baseline)[:: 1 if ahead else -1]
        most, least = (outlook.better, outlook.worse)[:: 1 if ahead else -1]
        said = f" The chance that {first} is better is put at {_share(most)}"
        if outlook.level > 0.005:
            said += f", that {second} is at {_share(least)}, and that they are level at "
            said += _share(outlook.level)
        return f"{said}."

    def report(self) -> Document:
        """Say whether to go on, what is assumed, and what the documents could do."""
        shown: list[Block] = [Text(f"{self.summary}.", strong=True)]
        if self.plan.open:
            shown.append(Text(self._now()) if self._alone else self._pairs())
        if self.matter:
            shown.append(self._documents())
        return Document((*shown, Text(self._assumed)))

    @property
    def _assumed(self) -> str:
        """Say which verdict it is, and what must hold for it."""
        qrels, first = self.evaluator.qrels, self.plan.contests[0]
        written = grades_of(qrels, self.evaluator.instruments[self.measure]).values()
        grades = ", ".join(str(tidy(grade)) for grade in sorted(written))
        source = "as declared" if qrels.scale else "those seen so far, and 0 and 1"
        queries = counted(len(qrels.queries), "query", "queries")
        test = f" and whether a t-test at {first.effect.alpha:g} finds it" if first.tested else ""
        every = all(one.effect.reach == "collection" for one in self.plan.contests)
        reach = "" if every else ", only documents that the runs retrieved are judged"
        verdict = (
            f"The verdict is which run has the higher mean {self.measure} over {queries}{test}."
        )
        holds = f"What is decided holds as long as grades are {grades} ({source}){reach}, and no "
        said = [verdict, f"{holds}judgment changes.", *([] if self.decided else [ESTIMATED])]
        return " ".join(said)

    def _pairs(self) -> Table:
        """Tabulate the open pairs, those most likely to turn first."""
        ordered = sorted(self.plan.open, key=lambda one: -one.flip)[:SHOWN]
        rows = tuple((*_names(one), *_range(one), min(one.better, one.worse)) for one in ordered)
        columns = (
            Column("run", TEXT, shortens=True), Column("baseline", TEXT, shortens=True),
            Column("difference", SIGNED), Column("low", SIGNED), Column("high", SIGNED),
            Column("chance of the other sign", SHARE),
        )  # fmt: skip
        title = f"Open pairs, the closest first ({len(rows)} of {len(self.plan.open)}):"
        return Table(columns, rows, title=title)

    def _documents(self) -> Table:
        """Tabulate the documents that matter most, and what each could do."""
        rows = [tuple(one.values()) for one in self._records(min(SHOWN, self.chosen))]
        moved = [Column("moves", SIGNED)]
        if not self._alone:
            moved = [Column("run", TEXT), Column("baseline", TEXT), *moved]
        columns = (
            Column("query", TEXT), Column("document", TEXT, shortens=True),
            Column("chance", SHARE), *moved,
        )  # fmt: skip
        (effect, *_) = (one.contest.effect for one in self.plan.open)
        what = f"{effect.run} - {effect.baseline}" if self._alone else "run - baseline most"
        title = f"Judge first, and by how much each moves {what} if it is relevant:"
        return Table(columns, tuple(rows), title=title)

    def _records(self, most: int) -> list[dict[str, Any]]:
        """Return the documents that matter most: how likely relevant, and what each would do."""
        plan, queries = self.plan, self.evaluator.qrels.queries
        moves = np.array([one.moves for one in plan.open])
        found = []
        for i in plan.order[:most].tolist():
            at = int(np.argmax(np.abs(moves[:, i])))
            where = dict(zip(("run", "baseline"), _names(plan.open[at]), strict=True))
            found.append({
                "query": queries[plan.effects.query[i]], "document": plan.effects.documents[i],
                "chance": float(plan.chance[i]), **({} if self._alone else where),
                "moves": float(moves[at, i]),
            })  # fmt: skip
        return found

    def table(self) -> Table:
        """Return the documents that matter, with what each could do."""
        return records_table(self._records(self.matter))

    def data(self) -> dict[str, Any]:
        """Return everything as plain data; undefined values are None."""
        pairs = [
            {
                "run": one.effect.run, "baseline": one.effect.baseline,
                "decided": one.decided, "difference": one.effect.value,
                "low": one.effect.low, "high": one.effect.high, "kind": one.effect.kind,
                "reach": one.effect.reach,
            }
            for one in self.plan.contests
        ]  # fmt: skip
        unknown = not self._foreseen and not self.decided
        needed = math.nan if unknown else 0 if self.decided else self.plan.needed
        found: dict[str, Any] = finite({
            "measure": self.measure, "decided": self.decided, "matter": self.matter,
            "expected": needed, "assumed": self._assumed, "pairs": pairs,
        })  # fmt: skip
        return found


def _share(chance: float) -> str:
    """Write a chance, never as certain."""
    if chance >= 0.995:
        return "over 99%"
    return f"{chance:.0%}" if chance >= 0.005 or not chance else "under 1%"


def _names(outlook: Outlook) -> tuple[str, str]:
    return outlook.contest.effect.run, outlook.contest.effect.baseline


def _range(outlook: Outlook) -> tuple[float, float, float]:
    effect = outlook.contest.effect
    return effect.value, effect.low, effect.high
