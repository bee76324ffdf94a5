"""The strategy `decisive`: judge what could still change which of some runs is better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from idealist.auditing.chances import ODDS_SPREAD, POOL_ODDS, Chances
from idealist.bounding.differences import names_ahead
from idealist.conventions import DEFAULT
from idealist.data import Qrels, Scale
from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.judging.choosing.decisive_answer import DecisiveAnswer
from idealist.judging.choosing.decisive_effects import Effects, effects_of
from idealist.judging.choosing.decisive_plan import Contest, DecisivePlan, contests_of
from idealist.judging.choosing.pool_case import Choice, PoolCase, fused, ranks_of
from idealist.judging.choosing.relevance_odds import chances_of
from idealist.judging.store_records import Pooled
from idealist.ranking.document_lists import ALL
from idealist.ranking.ranked import Ranked
from idealist.rendering.wording import counted

#: How far down the runs a document's rank says something about it. Suggested.
TELLING = 100
#: How far the odds of all that favours one run may be off, in logarithms, where judgments are
#: missing by chance. With it, wrong signs were as frequent as said, or rarer, on TREC-COVID.
UNSURE = 0.35
#: What a verdict may be: which run has the higher mean, or also whether that is significant.
VERDICTS = ("sign", "significant")


def by_decisive(
    case: PoolCase, *, measure: Any = "nDCG@10", verdict: str = "sign", alpha: float = 0.05,
    scale: Any = None, odds: float | None = None, convention: str = DEFAULT,
) -> Choice:  # fmt: skip
    """Choose the documents whose grades could change a verdict, those that matter most first.

    The verdict is which of two runs has the higher mean, for all pairs of the runs; with
    ``verdict="significant"`` also whether a t-test of the pair, at `alpha`, finds the difference.
    `scale` declares the grades that a document could get. `odds` says how the odds that an
    unjudged document is relevant compare with those of judged ones ranked alike: 1 where judgments
    are missing by chance; it sets the order, and no verdict depends on it.
    """
    if verdict not in VERDICTS:
        raise UsageError(f"there is no verdict {verdict!r}", f"choose {' or '.join(VERDICTS)}")
    if odds is not None and not odds > 0:
        raise UsageError(f"odds are {odds!r}", "give a number above 0, such as 1")
    if len(case.runs) < 2:
        raise UsageError("a verdict is about two runs", "give at least two that differ")
    evaluator = Evaluator(_judged(case, scale), measure, convention=convention, **case.axes)
    if len(evaluator.measures) > 1:
        raise UsageError("one measure decides", "give a single one, such as nDCG@10")
    (label,) = evaluator.measures
    runs = ranked_with_names(case, evaluator, label)
    contests = contests_of(evaluator, label, runs, verdict == "significant", alpha)
    plan = plan_of(case, evaluator, label, runs, contests, odds)
    queries = evaluator.qrels.queries
    pairs = [(queries[plan.effects.query[i]], plan.effects.documents[i]) for i in plan.order]
    chosen = _within(case, pairs or (_below(case, queries) if plan.open else []))
    answer = DecisiveAnswer(evaluator, label, plan, len(chosen))
    pooled = tuple(Pooled(*pair, place) for place, pair in enumerate(chosen, 1))
    parameters = {"measure": label, "verdict": verdict, "alpha": alpha}
    remarks = (*_untold(case, pairs), *_remarks(case, evaluator))
    return Choice(pooled, _how(pairs, plan), parameters, remarks, answer)


def ranked_with_names(case: PoolCase, evaluator: Evaluator, label: str) -> list[Ranked]:
    """Rank the runs, with the names of as many unjudged documents as bounds ask for."""
    instrument = evaluator.instruments[label]
    naming = {instrument.protocol: names_ahead(instrument) or ALL}
    return [evaluator.ranked(run, naming) for run in case.runs]


def plan_of(
    case: PoolCase, evaluator: Evaluator, label: str, runs: Sequence[Ranked],
    contests: list[Contest], odds: float | None = None,
) -> DecisivePlan:  # fmt: skip
    """Find what each unjudged document would do, and how likely it is relevant.

    Where most runs were pooled, which shows in judgments that thin out with rank, an unjudged
    document is one that nobody pooled: the odds that it is relevant are lower, as `Chances` says.
    """
    effects = effects_of(evaluator, label, runs)
    if odds is None:
        thins = [Chances(one[evaluator.instruments[label].protocol]).thins for one in runs]
        odds = POOL_ODDS if 2 * sum(thins) > len(thins) else 1.0
    chance = _chances(case, evaluator.qrels.queries, effects, odds)
    unsure = UNSURE if odds == 1.0 else math.log(ODDS_SPREAD)
    return DecisivePlan(contests, effects, chance, unsure, case.seed)


def _judged(case: PoolCase, scale: Any) -> Qrels:
    """Return what is judged, with the queries of a store, or of the runs, that have no judgment."""
    qrels = case.qrels
    if qrels is None:
        qrels = Qrels.build([], [], [], empty=list(case.asked or case.lists), scale=case.scale)
    elif new := set(case.asked or ()) - qrels.known:
        sizes = dict(zip(qrels.queries, np.diff(qrels.starts).tolist(), strict=True))
        names = tuple(sorted({*sizes, *new}))
        every = np.arange(len(qrels))
        qrels = qrels.at(every, names, [sizes.get(name, 0) for name in names])
    return qrels if scale is None else qrels.on(Scale.of(scale))


def _chances(case: PoolCase, queries: Sequence[str], effects: Effects, odds: float) -> Floats:
    """Estimate how likely each unjudged document is relevant, from those that are judged."""
    rows: list[tuple[int, ...]] = []
    query: list[int] = []
    relevant: list[float] = []
    starts = np.searchsorted(effects.query, np.arange(len(queries) + 1)).tolist()
    nowhere = (0,) * len(case.runs)
    for i, name in enumerate(queries):
        ranks = ranks_of(case.cut(name, TELLING)) if name in case.lists else {}
        judged = {one: float(g >= case.rel) for one, g in case.known(name).items() if one in ranks}
        unjudged = effects.documents[starts[i] : starts[i + 1]]
        rows += [ranks.get(one, nowhere) for one in (*unjudged, *judged)]
        relevant += [np.nan] * len(unjudged) + [*judged.values()]
        query += [i] * (len(unjudged) + len(judged))
    if not rows:
        return np.zeros(0)
    known = np.array(relevant)
    found: Floats = chances_of(np.array(rows), np.array(query), known, odds)[np.isnan(known)]
    return found


def _below(case: PoolCase, queries: Sequence[str]) -> list[tuple[str, str]]:
    """List what the runs retrieve below the cutoff: it can raise the ideal, or R."""
    orders = {query: case.unjudged(query, fused(case.lists[query])) for query in queries
              if query in case.lists}  # fmt: skip
    deepest = max(map(len, orders.values()), default=0)
    return [(q, order[i]) for i in range(deepest) for q, order in orders.items() if i < len(order)]


def _within(case: PoolCase, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keep the first that the budget, and what each query may have, allow."""
    given: dict[str, int] = {}
    kept = []
    for query, document in pairs:
        if document in case.untold.get(query, ()):
            continue
        if case.per_query is None or given.get(query, 0) < case.per_query:
            given[query] = given.get(query, 0) + 1
            kept.append((query, document))
    return kept[: case.budget]


def _how(pairs: list[tuple[str, str]], plan: DecisivePlan) -> str:
    if not plan.open:
        return "no judgment can turn the verdict"
    if not pairs:
        return (
            "all that the runs rank high is judged; these could still raise what a list is held to"
        )
    return "those that matter most to the verdict first"


def _untold(case: PoolCase, pairs: list[tuple[str, str]]) -> Iterator[str]:
    """Say which documents matter and are left out because people could not tell."""
    found = [pair for pair in pairs if pair[1] in case.untold.get(pair[0], ())]
    if found:
        some = counted(len(found), "document that matters is", "documents that matter are")
        yield (
            f"{some} left out, as people could not tell: idealist judge adjudicate STORE "
            f"{' '.join(found[0])} GRADE decides one; judge grade --judgments 2 asks another judge"
        )


def _remarks(case: PoolCase, evaluator: Evaluator) -> tuple[str, ...]:
    """Say which queries of the runs the verdict is not about."""
    left = [query for query in case.lists if query not in evaluator.qrels.known]
    if not left:
        return ()
    queries = counted(len(left), "query", "queries")
    return (f"the verdict leaves out {queries} of the runs that nobody has judged at all",)
