"""What is said of a click model: its grades, how sure they are, how far users look, its doubts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from idealist.clicks.chain_models import ChainModel, DynamicModel
from idealist.clicks.click_rates import ClicksOverExpected
from idealist.clicks.position_model import PositionModel
from idealist.rendering.document import (
    COUNT,
    SHARE,
    TEXT,
    Block,
    Column,
    Details,
    Document,
    Doubts,
    Drawing,
    Format,
    Table,
    Text,
)
from idealist.rendering.doubt import Doubt
from idealist.rendering.wording import counted, few, number
from idealist.significance.beta_rates import FEWEST

if TYPE_CHECKING:
    from idealist.clicks.click_model import ClickModel

#: How many documents, and queries without grades, are shown.
SHOWN = 20
#: From which share of grades on that may be others a doubt is raised. Suggested.
UNSURE = 0.5
WHOLE = Format(lambda cell: f"{cell:,.0f}")
#: What no model can know.
LIMITS = (
    "Clicks compare documents that were shown, by what users saw of them before the click; of "
    "others they say nothing."
)


def summary(found: ClickModel) -> str:
    """Say what was graded, of what."""
    graded = int(found.is_graded.sum())
    if not graded:
        return f"No document was shown {found.least} times, so that none is graded"
    queries = len(found.grades.queries)
    pages = counted(found.log.pages, "page", "pages")
    are = "document is" if graded == 1 else "documents are"
    said = (
        f"{graded:,} {are} graded 0 to {len(found.cuts)} for "
        f"{counted(queries, 'query', 'queries')}, from {pages} by {found.fit.called}"
    )
    if found.left_out:
        have = "query has" if len(found.left_out) == 1 else "queries have"
        said += f"; {len(found.left_out):,} {have} too little traffic"
    return said


def report(found: ClickModel) -> Document:
    """Describe the grades, how far users look, and what was left out."""
    blocks: list[Block] = [Text(f"{summary(found)}.", strong=True)]
    if found.is_graded.any():
        blocks += [_grades(found), Text(LIMITS)]
    blocks.append(Drawing(found.figure("examination")))
    details: list[Block] = [_documents(found)]
    if found.left_out:
        details.append(_left_out(found))
    blocks.append(Details("Documents and queries", tuple(details)))
    return Document(tuple(blocks), (*map(Text, _how(found)), Doubts(found.doubts)))


def _grades(found: ClickModel) -> Table:
    """Tabulate the grades: from which estimate on, how many, and how many are sure."""
    own = found.grade[found.is_graded]
    sure = found.is_sure[found.is_graded]
    rows = []
    for grade, cut in reversed(list(enumerate((float("nan"), *found.cuts)))):
        some = own == grade
        rows.append((
            str(grade), cut, int(some.sum()), some.mean(),
            float(sure[some].mean()) if some.any() else float("nan"),
        ))  # fmt: skip
    columns = (
        Column("grade", TEXT), Column("from"), Column("documents", WHOLE), Column("share", SHARE),
        Column("sure", SHARE),
    )  # fmt: skip
    return Table(columns, tuple(rows))


def _documents(found: ClickModel) -> Table:
    """Tabulate the documents shown most often."""
    counts = found.log.counts
    order = np.argsort(-found.impressions, kind="stable")[:SHOWN].tolist()
    clicks, query, document = found.clicks, counts.pair_query, counts.pair_document
    rows = [
        (counts.queries[query[i]], counts.documents[document[i]],
         float(found.impressions[i]), float(clicks[i]), *(float(one[i]) for one in found.estimates),
         str(found.grade[i]) if found.is_graded[i] else "-")
        for i in order
    ]  # fmt: skip
    columns = (
        Column("query", TEXT, shortens=True), Column("document", TEXT, shortens=True),
        Column("impressions", COUNT), Column("clicks", COUNT), Column("estimate"), Column("low"),
        Column("high"), Column("grade", TEXT),
    )  # fmt: skip
    title = f"the {SHOWN} shown most often; -o FILE.csv writes all"
    return Table(columns, tuple(rows), title if len(found.impressions) > SHOWN else "")


def _left_out(found: ClickModel) -> Table:
    """Tabulate queries with too little traffic."""
    counts = found.log.counts
    pages = np.bincount(counts.query, counts.pages, len(counts.queries))
    known = {name: float(pages[i]) for i, name in enumerate(counts.queries)}
    rows = [(name, known[name]) for name in found.left_out[:SHOWN]]
    title = "queries with too little traffic, the most frequent first; -o FILE.json has all"
    return Table((Column("query", TEXT, shortens=True), Column("pages", COUNT)), tuple(rows), title)


def parameters(found: ClickModel) -> dict[str, Any]:
    """Return what the model has beside documents and positions, as plain data."""
    fit = found.fit
    if isinstance(fit, ClicksOverExpected):
        return {"prior_weight": fit.weight}
    said: dict[str, Any] = {"prior": list(fit.rates.prior)}
    if isinstance(fit, ChainModel):
        said["satisfaction_prior"] = list(fit.satisfaction.prior)
        value, low, high = (float(one[0]) for one in fit.gamma)
        said["gamma"] = {"value": value, "low": low, "high": high}
    return said


def _how(found: ClickModel) -> Iterator[str]:
    """Say how the grades came about."""
    log, fit = found.log, found.fit
    yield f"read: {log.name}: {log.read_as}; {log.summary}"
    kind = "you gave" if found.given_cuts else "quantiles of this log"
    if not found.given_cuts and all(low < high for low, high in pairwise((0, *found.cuts))):
        kind += f"; keep them with --cuts {','.join(f'{cut:.4g}' for cut in found.cuts)}"
    yield f"estimate: {fit.estimate}; the cuts are {kind}"
    yield _prior_said(found)
    yield "sure: the 95 % interval of the estimate lies within the grade"
    if isinstance(fit, DynamicModel):
        value, low, high = (number(float(one[0])) for one in fit.gamma)
        yield f"unsatisfied users look on with γ = {value} ({low} to {high})"


def _prior_said(found: ClickModel) -> str:
    """Say what is added to the counts of each document."""
    fit, few_pairs = found.fit, len(found.impressions) < FEWEST
    fitted = "as documents are too few to fit more" if few_pairs else "as fitted to all of them"
    how = "as you said" if found.given_prior else fitted
    if isinstance(fit, ClicksOverExpected):
        priors = {"clicks, as many as expected": (fit.weight, fit.weight)}
    elif isinstance(fit, ChainModel):
        priors = {
            "clicks in {} looks": fit.rates.prior,
            "satisfied in {} clicks": fit.satisfaction.prior,
        }
    else:
        priors = {"clicks in {} looks": fit.rates.prior}
    if not any(map(sum, priors.values())):
        return "nothing is added to the counts of a document"
    words = (
        f"{number(prior[0], 2)} {what.format(number(sum(prior), 2))}"
        for what, prior in priors.items()
    )
    return f"each document starts from {' and '.join(words)}, {how}"


def model_doubts(found: ClickModel) -> Iterator[Doubt]:
    """Say what is doubtful about the model and the grades."""
    fit, graded = found.fit, found.is_graded
    if isinstance(fit, PositionModel) and not fit.cells.linked.all():
        positions = fit.cells.positions[~fit.cells.linked].tolist()
        lost = int((~fit.cells.linked_pairs).sum())
        message = (
            f"no clicked document links position {few([str(one) for one in positions])} "
            f"to position {fit.cells.positions[0]}: how often it is looked at is unknown, and "
            f"{counted(lost, 'document has', 'documents have')} no estimate"
        )
        total = len(found.impressions)
        yield Doubt("clicks-unlinked", message, lost, total=total)
    climb = getattr(fit, "climb", None)
    if climb is not None and not climb.is_still:
        steps = f"{len(climb.likelihoods):,} steps"
        yield Doubt("clicks-unsettled", f"estimates were still moving after {steps} of EM")
    steps_up = enumerate(pairwise((*found.cuts, np.inf)), 1)
    empty = [str(grade) for grade, (low, high) in steps_up if not low < high]
    if empty and graded.any():
        message = (
            "documents are too few to fill all grades, or tie or have no click, which gets them "
            f"the lower grade: none has grade {few(empty)}"
        )
        yield Doubt("clicks-equal-cuts", message)
    unsure = int((~found.is_sure & graded).sum())
    if graded.any() and unsure > UNSURE * graded.sum():
        message = (
            f"{unsure:,} of {counted(int(graded.sum()), 'grade', 'grades')} may be another: their "
            "intervals reach beyond the cuts"
        )
        yield Doubt("clicks-unsure", message, unsure, total=int(graded.sum()))
    if found.left_out:
        count = len(found.left_out)
        have = "query has" if count == 1 else "queries have"
        message = f"{count:,} {have} no document that was shown {found.least} times: no grades"
        known = len(np.unique(found.log.counts.query))
        yield Doubt("clicks-few", message, count, found.left_out, total=known, severity="note")
