"""Tuning: parameters chosen on some queries, measured on the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from operator import eq
from typing import Any

import numpy as np

from idealist.comparing.compare_options import Options
from idealist.conventions import DEFAULT, Convention
from idealist.errors import UsageError
from idealist.fusing.fusing import check_method
from idealist.fusing.fusion import Fusion
from idealist.fusing.methods import as_fusion, stated
from idealist.fusing.tuning.looks import ROUNDS, Wanted, search
from idealist.fusing.tuning.preparing import (
    MEASURE,
    checked_runs,
    prepared_evaluator,
    prepared_trials,
)
from idealist.fusing.tuning.sources import CallSource, FusionSource
from idealist.fusing.tuning.spaces import FusionSpace, ParameterSpace, Space, TunedMethod
from idealist.fusing.tuning.trials import Source, Tick
from idealist.fusing.tuning.tuning_result import Tuning

#: The methods that are tuned where nobody says which.
METHODS = ("rrf", "wrrf", "sum", "mnz", "wsum")


def tune(
    qrels: Any,
    runs: Any,
    methods: Any = None,
    measure: Any = MEASURE,
    *,
    folds: int = 5,
    seed: int = 0,
    groups: Mapping[Any, Any] | None = None,
    slices: Mapping[Any, Any] | None = None,
    default: Any = None,
    rounds: int = ROUNDS,
    alpha: float = 0.05,
    window: int | None = None,
    missing: str = "error",
    queries: Iterable[Any] | None = None,
    convention: str | Convention = DEFAULT,
    tick: Tick | None = None,
    **axes: Any,
) -> Tuning:
    """Choose how to fuse runs, and say what that will do on new queries.

    Every fold of queries is measured with what was chosen on the others: the mean is the nested
    estimate. The value on the queries that were chosen on is told beside it; what it is too good by
    is the optimism. The verdict is to keep the `default`, RRF, unless the gain is more than chance
    makes of so many settings, at `alpha`.

    `methods` are fusion methods or their texts; parameters that they state stay, the others are
    tuned. Single runs, RRF and equal weights always compete. Queries of a group, {query: group},
    stay in one fold; every slice, {query: slice}, is spread over all folds. The search goes
    `rounds` times around the best. `window` and `missing` are those of `fuse`, all other options
    those of `evaluate`.

    `runs` may also be a function that makes a run of parameters; `methods` then says which there
    are, as lists of values or (low, high), and `default` which are used today; without it, the
    first of each list and the middle of each range are taken for that. It is called once for each
    combination, not from several threads; and again for a run that is wanted in the end and was
    let go.

    >>> import random
    >>> draw = random.Random(0).random
    >>> qrels = {f"q{i}": {"a": 1} for i in range(20)}
    >>> def make_run(boost):
    ...     return {query: {"a": boost + draw(), "b": draw()} for query in qrels}
    >>> found = tune(qrels, make_run, {"boost": [0.0, 2.0]}, "RR")
    >>> found.best, found.estimate, found.choice
    ((('boost', 2.0),), 1.0, (('boost', 2.0),))
    """
    options = Options(alpha=alpha, seed=seed)
    if callable(runs) and (window is not None or missing != "error"):
        raise UsageError("window and missing are for runs to fuse", "let the function see to that")
    given = None if callable(runs) else checked_runs(runs, window, missing, axes)
    rules = {"queries": queries, "convention": convention, **axes}
    evaluator, left_out = prepared_evaluator(qrels, measure, given, **rules)
    source: Source
    space: Space
    others: dict[str, Wanted] = {}
    if given is None:
        source, space = CallSource(evaluator, runs), ParameterSpace(methods, default)
    else:
        source = FusionSource(evaluator, given)
        space = _fusions(methods, default, source)
        others = _beside(space)
    coarse = space.coarse()
    first, learns = coarse[0], any(map(source.learns, coarse))
    trials = prepared_trials(source, first, folds, options, groups, slices, learns=learns)
    looks = search(trials, space, _rounds(rounds), tick)
    assumed = given is None and default is None
    return Tuning.of(looks, others, first, options, left_out, assumed=assumed)


def _fusions(methods: Any, default: Any, source: FusionSource) -> FusionSpace:
    """Say what is tried of fusion; without scores, only what needs none.

    The default comes first, then what always competes: RRF, equal weights, single runs.
    """
    names, unscored = source.ranked.names, source.ranked.unscored
    asked = _listed(METHODS if methods is None else methods)
    tuned = [TunedMethod(as_fusion(one, names), stated(one)) for one in asked]
    if methods is None and unscored:
        tuned = [one for one in tuned if not one.method.needs_scores]
    first = default if default in names else _default(default, names)
    usable = all(np.isfinite(one.scores).all() for one in source.ranked.lists)
    equal = as_fusion("sum", norm="min-max" if usable else "rank")
    for one in (*(each.method for each in tuned), first):
        if isinstance(one, Fusion):
            check_method(one, len(names), source.given.window)
            if one.needs_scores:
                source.ranked.check_scores()
    return FusionSpace(tuned, names, (first, as_fusion("rrf"), equal, *names))


def _default(given: Any, names: Sequence[str]) -> Fusion:
    """Return the method that is kept unless something is better."""
    try:
        return as_fusion("rrf" if given is None else given, names)
    except UsageError as error:
        hint = f"give a fusion method, or one of the runs: {', '.join(names)}"
        raise UsageError(f"the default cannot be {given!r:.60}: {error.message}", hint) from None


def _beside(space: FusionSpace) -> dict[str, Wanted]:
    """Say what competes beside the default."""
    default, rrf, equal, *_ = space.start
    alone = {} if default == rrf else {"untuned RRF": rrf}
    alone |= {} if default == equal else {"equal weights": equal}
    found: dict[str, Wanted] = {name: partial(eq, one) for name, one in alone.items()}
    return found | {"best single run": lambda one: not isinstance(one, Fusion)}


def _listed(methods: Any) -> Sequence[Any]:
    if isinstance(methods, (str, type, Fusion)):
        return [methods]
    if not isinstance(methods, Iterable):
        raise UsageError(f"methods cannot be {methods!r:.60}", "give 'wsum', or ['rrf', 'wsum']")
    return list(methods)


def _rounds(given: Any) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise UsageError(f"rounds cannot be {given!r}", "give a whole number from 0 on")
    return given
