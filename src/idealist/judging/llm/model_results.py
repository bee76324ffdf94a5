"""What came of judging by a model, and what it would cost: said in a sentence, then in full."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from idealist.judging.llm.answers import NO_MAJORITY
from idealist.judging.llm.asked_pairs import AskedPair
from idealist.judging.llm.limits import Budget, Limits, Price, Usage
from idealist.judging.llm.runner import Tally
from idealist.notation import tidy
from idealist.rendering.document import (
    COUNT,
    EFFECT,
    SHARE,
    TEXT,
    Block,
    Column,
    Command,
    Details,
    Document,
    Format,
    Heading,
    Items,
    Table,
    Text,
)
from idealist.rendering.result import Result
from idealist.rendering.wording import amount_words, counted, number

#: What a server may not accept, in words.
WITHOUT = {
    "response_format": "a JSON schema, so answers were read from plain text",
    "logprobs": "log-probabilities, so there are no expected grades",
    "max_tokens": "max_tokens, so max_completion_tokens was sent",
    "seed": "a seed, so samples cannot be repeated",
    "temperature": "a temperature, so its own was used",
}
GRADE = Format(lambda cell: "-" if cell is None else str(tidy(cell)))
#: The kinds of reasons that a summary names.
REASONS = 3
#: Below this probability of all grades together, the model would rather have said something else.
HALF = 0.5


@dataclass(frozen=True)
class ModelGrade:
    """What a model said of one document: a grade, or the fault; else neither.

    It was `asked` if a request was sent, or an answer found; one that was stopped then has neither.

    `expected` is the mean grade by its log-probabilities or samples, `confidence` the probability
    of the grade or the share of samples that agree. `mass` is the probability that all grades had
    together. `cached` says that it was answered before.
    """

    query: str
    document: str
    grade: float | None = None
    expected: float | None = None
    confidence: float | None = None
    fault: str = ""
    cached: bool = False
    asked: bool = True
    mass: float | None = None

    def words(self, samples: int) -> str:
        """Say how sure it is, for the note of a judgment."""
        said = []
        if self.expected is not None:
            said.append(f"expected {self.expected:.2f}")
        if self.confidence is not None and samples > 1:
            said.append(f"{round(self.confidence * samples)} of {samples} samples agree")
        elif self.confidence is not None:
            said.append(f"confidence {self.confidence:.2f}")
        if self.is_forced:
            said.append(f"probability of a grade {self.mass:.2f}")
        return ", ".join(said)

    @property
    def is_forced(self) -> bool:
        """Whether the model would rather have said something that is no grade."""
        return self.mass is not None and self.mass < HALF


@dataclass(frozen=True, repr=False)
class ModelJudging(Result):
    """What came of asking a model: a row for each pair, and what was sent and used.

    Each pair is one of four: judged; failed (`lost`), where no answer came or none that can be
    read; `unanswered`, where it was stopped before all answers were in; or `unasked`.

    `people` is the kind of judges that it can be held to. `already` pairs were judged by it before,
    `skipped` have no text. `without` names what the server does not accept, `again` counts requests
    that were sent once more.
    """

    judge: str
    store: str
    people: str
    rows: tuple[ModelGrade, ...]
    already: int
    skipped: int
    tally: Tally
    without: tuple[str, ...]
    again: int
    notes: tuple[str, ...] = ()

    @property
    def judged(self) -> int:
        """How many pairs have a judgment now that had none."""
        return sum(row.grade is not None for row in self.rows)

    @property
    def lost(self) -> int:
        """How many pairs were asked about in vain."""
        return sum(bool(row.fault) for row in self.rows)

    @property
    def open(self) -> int:
        """How many pairs have neither a judgment nor failed, because it was stopped."""
        return len(self.rows) - self.judged - self.lost

    @property
    def unasked(self) -> int:
        """How many pairs nothing was sent about."""
        return sum(not row.asked for row in self.rows)

    @property
    def unanswered(self) -> int:
        """How many pairs were asked about when it was stopped."""
        return self.open - self.unasked

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it."""
        return self.tally.interrupted

    @property
    def faults(self) -> dict[str, int]:
        """Why pairs have no judgment, the most frequent reason first."""
        kinds = Counter(_kind(row.fault) for row in self.rows if row.fault)
        return dict(kinds.most_common())

    @property
    def summary(self) -> str:
        """Whether all was judged, and if not, why not."""
        pairs = counted(len(self.rows), "pair", "pairs")
        if not self.rows:
            return f"Nothing to ask: {self.judge} has judged all {_pairs(self.already)} before."
        if self.judged == len(self.rows):
            return f"{self.judge} judged all {pairs}{self._from_before}."
        said = f"INCOMPLETE: {self.judge} judged {self.judged:,} of {pairs}"
        if self.lost:
            said += f"; {self.lost:,} failed ({self._reasons})"
        said += open_words(self.unanswered, self.unasked, self.tally)
        return f"{said}. {self._advice}"

    @property
    def _advice(self) -> str:
        if self.tally.is_too_low:
            return "Raise the limit."
        if not self.open and self.faults.keys() == {NO_MAJORITY}:
            return "Where that stays so, take another number of samples, and --judge NAME."
        return "Run it again to ask for what is missing."

    @property
    def _from_before(self) -> str:
        cached = sum(row.cached for row in self.rows)
        if not cached:
            return ""
        return f", {'all' if cached == len(self.rows) else f'{cached:,}'} from answers kept before"

    @property
    def _reasons(self) -> str:
        full = {
            kind: {r.fault for r in self.rows if _kind(r.fault) == kind} for kind in self.faults
        }
        words = {kind: min(some) if len(some) == 1 else kind for kind, some in full.items()}
        said = [f"{n:,} × {words[kind]}" for kind, n in list(self.faults.items())[:REASONS]]
        return ", ".join(said) + (", …" if len(self.faults) > REASONS else "")

    def report(self) -> Document:
        """Show the grades, what failed, and what it took."""
        blocks: list[Block] = [Text(self.summary, strong=True)]
        grades = Counter(row.grade for row in self.rows if row.grade is not None)
        if grades:
            columns = (Column("grade", TEXT), Column("pairs", COUNT), Column("share", SHARE))
            rows = [(str(tidy(g)), n, n / self.judged) for g, n in sorted(grades.items())]
            blocks.append(Table(columns, tuple(rows)))
        if self.rows:
            blocks.append(Items(tuple(self._facts())))
            blocks.append(Details("Every pair", (self.table(),)))
        if self.people and self.judged + self.already:
            both = (shlex.quote(f"{self.store}#{name}") for name in (self.people, self.judge))
            blocks += [
                Text("How far it agrees with people:"),
                Command(f"idealist agree {' '.join(both)}"),
            ]
        return Document(tuple(blocks))

    def _facts(self) -> list[str]:
        tally = self.tally
        said = spending(tally.budget, self.again)
        if tally.cached:
            answers = counted(tally.cached, "answer", "answers")
            said.append(f"found {answers} in the store, which were not asked for again")
        confidence = [row.confidence for row in self.rows if row.confidence is not None]
        if confidence:
            said.append(f"mean confidence {number(sum(confidence) / len(confidence), 2)}")
        if forced := sum(row.is_forced for row in self.rows):
            said.append(
                f"{counted(forced, 'answer', 'answers')} would rather have been something else: "
                "all grades together had less than half of the probability"
            )
        said += self.notes
        failed = next((row for row in self.rows if row.fault), None)
        if failed is not None:
            said.append(f"the first failure, {failed.query} and {failed.document}: {failed.fault}")
        said += [f"the server does not accept {WITHOUT[name]}" for name in self.without]
        if self.already and self.rows:
            said.append(f"{_pairs(self.already)} were judged by it before")
        if self.skipped:
            said.append(f"{_pairs(self.skipped)} were left out: they have no text")
        return said

    def table(self) -> Table:
        """Return every pair with what was said of it."""
        columns = (
            Column("query", TEXT), Column("document", TEXT), Column("grade", GRADE),
            Column("expected", EFFECT), Column("confidence", EFFECT), Column("fault", TEXT),
        )  # fmt: skip
        rows = (
            (r.query, r.document, r.grade, r.expected, r.confidence, r.fault) for r in self.rows
        )
        return Table(columns, tuple(rows))

    def data(self) -> dict[str, Any]:
        """Return the counts, what was used, and every pair."""
        tally = self.tally
        return {
            "judge": self.judge, "pairs": len(self.rows), "judged": self.judged,
            "failed": self.lost, "unanswered": self.unanswered, "not_asked": self.unasked,
            "already_judged": self.already,
            "without_text": self.skipped, "stopped": tally.stopped, "faults": self.faults,
            "requests": tally.budget.sent, "requests_again": self.again,
            "answers_kept_before": tally.cached,
            "tokens_in": tally.budget.used.tokens_in, "tokens_out": tally.budget.used.tokens_out,
            "requests_estimated": tally.budget.guessed,
            **cost_data(tally.budget.cost, tally.budget.price),
            "not_accepted": list(self.without), "rows": [asdict(row) for row in self.rows],
        }  # fmt: skip


@dataclass(frozen=True, repr=False)
class JudgingEstimate(Result):
    """What judging by a model would send, and what that could use at most; some prompts in full."""

    judge: str
    pairs: int
    already: int
    skipped: int
    samples: int
    requests: int
    most: Usage
    price: Price | None
    limits: Limits
    shown: Sequence[AskedPair]
    messages: Sequence[Sequence[Mapping[str, str]]]
    notes: tuple[str, ...] = ()

    @property
    def cost(self) -> float | None:
        """What it costs at most, if the price is known."""
        return None if self.price is None else self.price.of(self.most)

    @property
    def summary(self) -> str:
        """How much would be sent, and what it could cost."""
        if not self.pairs:
            return f"Nothing to ask: {self.judge} has judged all {_pairs(self.already)} before."
        requests = counted(self.requests, "request", "requests")
        cost = (
            "" if self.price is None else f", at most {money(self.price.of(self.most), self.price)}"
        )
        return (
            f"{self.judge} would be sent {requests} about {_pairs(self.pairs)}: about "
            f"{self.most.tokens_in:,} tokens, and answers of at most "
            f"{self.most.tokens_out:,}{cost}. Nothing was sent."
        )

    def report(self) -> Document:
        """Show the estimate, then some prompts as they would be sent."""
        blocks: list[Block] = [Text(self.summary, strong=True)]
        if facts := self._facts():
            blocks.append(Items(tuple(facts)))
        for n, (pair, messages) in enumerate(zip(self.shown, self.messages, strict=True), 1):
            where = f"query {pair.query}, document {pair.document}"
            blocks.append(Heading(f"Prompt {n} of {len(self.shown)}: {where}"))
            blocks += [Text(f"[{one['role']}]\n{one['content']}") for one in messages]
        return Document(tuple(blocks))

    def _facts(self) -> list[str]:
        said = []
        if self.requests < self.pairs * self.samples:
            kept = self.pairs * self.samples - self.requests
            said.append(f"{kept:,} answers are kept already, or are those to the same words")
        if self.price is None and self.pairs:
            said.append("what it costs is not known: --prices FILE tells it")
        said += [f"{name} would be exceeded" for name in self._exceeded()]
        said += self.notes
        if self.already and self.pairs:
            said.append(f"{_pairs(self.already)} were judged by it before")
        if self.skipped:
            said.append(f"{_pairs(self.skipped)} are left out: they have no text")
        return said

    def _exceeded(self) -> list[str]:
        limits = self.limits
        most = (
            ("requests", limits.requests, self.requests),
            ("tokens", limits.tokens, self.most.total),
            ("cost", limits.cost, self.cost or 0.0),
        )
        return [f"--max-{name} {limit:,}" for name, limit, use in most if limit and use > limit]

    def data(self) -> dict[str, Any]:
        """Return the numbers and the prompts."""
        prompts = zip(self.shown, self.messages, strict=True)
        return {
            "judge": self.judge, "pairs": self.pairs, "already_judged": self.already,
            "without_text": self.skipped, "requests": self.requests,
            "tokens_in": self.most.tokens_in, "tokens_out": self.most.tokens_out,
            **cost_data(self.cost or 0.0, self.price), "exceeded": self._exceeded(),
            "prompts": [
                {"query": pair.query, "document": pair.document, "messages": list(messages)}
                for pair, messages in prompts
            ],
        }  # fmt: skip


def _pairs(count: int) -> str:
    return counted(count, "pair", "pairs")


def money(amount: float, price: Price) -> str:
    """Write an amount with its currency.

    >>> money(12.345, Price(1, 1)), money(0.0135, Price(1, 1)), money(8e-6, Price(1, 1, "EUR"))
    ('12.35 USD', '0.0135 USD', '<0.0001 EUR')
    """
    return f"{amount_words(amount)} {price.currency}"


def spending(budget: Budget, again: int = 0) -> list[str]:
    """Say what was sent and used; what servers did not say counts as the most it could be."""
    sent = counted(budget.sent, "request", "requests")
    said = [f"sent {sent}{f', {again:,} of them again' if again else ''}"]
    most = "at most " if budget.guessed else ""
    used = f"used {most}{budget.used.tokens_in:,} tokens in and {budget.used.tokens_out:,} out"
    if budget.guessed:
        many = counted(budget.guessed, "request", "requests")
        used += f"; of {many} it is not known, and the most is counted"
    said.append(used)
    if budget.price:
        said.append(f"cost {most}{money(budget.cost, budget.price)}")
    return said


def open_words(unanswered: int, unasked: int, tally: Tally) -> str:
    """Say what is left because it was stopped, and why; nothing if all is done."""
    said = [f"{unanswered:,} had no answer yet"] if unanswered else []
    said += [f"{unasked:,} were not asked"] if unasked else []
    return f"; {' and '.join(said)}, because {tally.why}" if said else ""


def _kind(fault: str) -> str:
    return fault.split(":", 1)[0]


def cost_data(amount: float, price: Price | None) -> dict[str, Any]:
    """Return an amount and its currency, none where no price is known."""
    known = price is not None
    return {"cost": amount if known else None, "currency": price.currency if price else None}
