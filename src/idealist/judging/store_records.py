"""What a store holds: judgments, batches of documents to judge, and calls of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from idealist.formats.document_entries import DocumentText

#: What a judge may say: a grade, that he cannot tell, or that he will judge it later; and what a
#: row says that withdraws an earlier one.
STATUSES = ("graded", "cannot tell", "later", "undone")


@dataclass(frozen=True)
class Judgment:
    """What one judge said of one document for one query.

    `kind` is one of `KINDS`: human, import, clicks or model. A judgment that `adjudicates` decides
    where judges disagree. `inclusion` is the probability with which the document was chosen for the
    `batch`, `seen` the hash of the text that the judge saw, `call` the call of a model that it
    comes from. `undoes` names an earlier judgment that is withdrawn by this row. A `token` makes a
    judgment that is sent twice count once. The store sets `id` and `time`.

    >>> Judgment("q1", "d7", 2, "ann").status
    'graded'
    """

    query: str
    document: str
    grade: float | None
    judge: str
    kind: str = "human"
    status: str = "graded"
    adjudicates: bool = False
    seconds: float | None = None
    note: str = ""
    batch: int | None = None
    inclusion: float | None = None
    seen: str = ""
    call: int | None = None
    undoes: int | None = None
    token: str = ""
    time: str = ""
    id: int | None = None


@dataclass(frozen=True)
class Preference:
    """Which of two documents one judge found better for one query; `tied` where neither is."""

    query: str
    better: str
    worse: str
    judge: str
    tied: bool = False
    kind: str = "human"
    seconds: float | None = None
    note: str = ""
    call: int | None = None
    token: str = ""
    time: str = ""
    id: int | None = None


@dataclass(frozen=True)
class Task:
    """A document that is a judge's turn to judge.

    `seen` is the hash of its text, `put_off` says that this judge wanted to judge it later.
    """

    query: str
    document: str
    batch: int
    inclusion: float | None
    query_text: str
    text: DocumentText | None
    seen: str
    put_off: bool


@dataclass(frozen=True)
class Pooled:
    """A document that was pooled for a query, in a batch.

    `place` is its turn to be judged, None where it was not chosen or not drawn from its `stratum`.
    `ranks` are its ranks in the runs, 0 where one does not retrieve it; a strategy that learns from
    each judgment needs them to choose again.
    """

    query: str
    document: str
    place: int | None
    stratum: str = ""
    inclusion: float | None = None
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Batch:
    """Documents chosen to be judged, by a strategy and its parameters."""

    strategy: str
    pooled: tuple[Pooled, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    time: str = ""
    id: int | None = None


@dataclass(frozen=True)
class Call:
    """One request to a model, and what came back.

    `request` is the hash of the canonical request, `prompt` that of the prompt. `state` is answered
    or failed, with the `fault`. `answer` is the raw reply. A request that was answered is never
    sent again.
    """

    request: str
    model: str
    prompt: str
    parameters: Mapping[str, Any]
    state: str
    answer: str = ""
    fault: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    time: str = ""
    id: int | None = None
