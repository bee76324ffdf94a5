"""Agreement: how far judges agree on labels, and on the systems that labels are to rank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from idealist.comparing import COMPARED
from idealist.conventions import DEFAULT, Convention
from idealist.conventions import convention as find_convention
from idealist.data import Qrels, Run
from idealist.data.remarks import Remark
from idealist.errors import UsageError
from idealist.formats import one_or_several, read_qrels
from idealist.formats.source import distinct, run_name
from idealist.formats.stored_judgments import KINDS, judges_behind, store_address
from idealist.judging.agreeing.agreement_report import Agreement, Lack
from idealist.judging.agreeing.label_agreement import LabelAgreement, PanelAgreement
from idealist.judging.agreeing.panel import Panel, same_scale
from idealist.judging.agreeing.system_agreement import SystemAgreement, systems_of
from idealist.notation import many, tidy
from idealist.rendering.wording import few, told


def agreement(
    a: Any,
    b: Any,
    runs: Any = (),
    measures: Any = None,
    *,
    others: Iterable[Any] = (),
    rel: float | Sequence[float] | None = None,
    top: int | None = None,
    shared_pairs: bool = False,
    alpha: float = 0.05,
    seed: int = 0,
    names: Sequence[str] = (),
    convention: str | Convention = DEFAULT,
    **axes: Any,
) -> Agreement:
    """Compare judges: what they say of the same pairs and, given runs, how they rank systems.

    `a`, `b` and the `others` are judgments in any form that `read_qrels` takes, such as a judge
    inside a store, ``labels.db#ann``; `a` is the one that the others are measured by. On labels
    there are kappa, alpha, AC1, AC2 and the bias, with intervals by drawing queries with
    replacement. The `runs` are ranked by each judge, on the queries that both judged, by
    `measures`, those of `compare` if None. The `top` ones are the best, else a quarter of them.
    With `shared_pairs`, only documents that both judged count there.

    `rel` is the grade from which on a document is relevant, for one more kappa. Judges on different
    scales need it, or one each: their labels are then compared as relevant or not. `names` are
    those of the judges, in the same order. Everything else is as in `compare`.

    >>> a = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1, "d2": 0}}
    >>> b = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1, "d2": 1}}
    >>> found = agreement(a, b)
    >>> found.labels.values["kappa"], found.labels.confusion.tolist()
    (0.5, [[1.0, 1.0], [0.0, 2.0]])
    """
    judged = [read_qrels(one) for one in (a, b, *others)]
    read = [] if isinstance(runs, (tuple, list)) and not runs else one_or_several(runs)
    called = list(names) or _names(judged)
    _check_apart(judged, called)
    thresholds, least = _thresholds(rel, judged)
    _check_threshold(least, judged)
    if measures is not None and not read:
        raise UsageError("measures rank runs, and there are none", "give runs, or no measures")
    panel = Panel.of(judged, called, thresholds)
    asked = COMPARED if measures is None else measures
    options = {"top": top, "alpha": alpha, "seed": seed, "convention": convention, **axes}
    return Agreement(
        panel=panel,
        pairs={both: LabelAgreement.of(panel, *both, least, seed) for both in panel.pairs()},
        all_judges=PanelAgreement(panel, seed),
        systems=_systems(judged, called, read, asked, shared_pairs, **options),
        lone_queries=tuple(len(own.known - judged[0].known) for own in judged),
        missed_queries=tuple(len(judged[0].known - own.known) for own in judged),
        lacking={i: _lacking(judged[0], own) for i, own in enumerate(judged) if i},
        remarks=tuple(_remarks(judged)),
        convention=find_convention(convention).name,
        thresholds=tuple(thresholds or ()),
        shared_pairs=shared_pairs,
        between=tuple(_between(judged)),
        copies=frozenset(
            (a, b) for a, b in panel.pairs() if judged[a].to_dict() == judged[b].to_dict()
        ),
    )


def _remarks(judged: Sequence[Qrels]) -> Iterator[Remark]:
    """Pass on what readers noticed; that a judge is a model is no news here."""
    every = (remark for own in judged for remark in own.remarks)
    yield from (one for one in every if one.code != "model-grades" or one.count < one.total)


def _check_apart(judged: Sequence[Qrels], names: Sequence[str]) -> None:
    """Refuse two parts of a store where the grade of one rests on the other's judgment."""
    addresses = [store_address(one.name) for one in judged]
    for (a, one), (b, other) in combinations(zip(names, addresses, strict=True), 2):
        if one is None or other is None or one.path.resolve() != other.path.resolve():
            continue
        parts = {one.only, other.only}
        if len(parts) == 2 and not parts & {"", *KINDS}:  # two judges
            continue
        own, theirs = judges_behind(one), judges_behind(other)
        both = own.keys() & theirs.keys()
        shared = {pair: own[pair] & theirs[pair] for pair in both if own[pair] & theirs[pair]}
        if shared:
            who = few(sorted(set[str]().union(*shared.values())), 3)
            message = f"{told(a)} and {told(b)} both rest on judgments of {who}, in "
            message += f"{len(shared):,} of {many(len(both), 'shared pair', 'shared pairs')}: "
            hint = f"name judges apart, such as {one.path}#human and {one.path}#model, or compare "
            hint += f"all of them: idealist judge agree {one.path}"
            raise UsageError(f"{message}a judge always agrees with himself", hint)


def _between(judged: Sequence[Qrels]) -> Iterator[int]:
    """Count for each judge the grades that no single judge gave, as a median of 0 and 1 is."""
    several = [
        np.isin(np.arange(len(one)), () if one.judged_by is None else one.judged_by.pair)
        for one in judged
    ]
    alone = [one.grades[~merged] for one, merged in zip(judged, several, strict=True)]
    said = [one.judged_by.grade for one in judged if one.judged_by is not None]
    given = np.unique(np.concatenate([*alone, *said]))
    for one, merged in zip(judged, several, strict=True):
        yield int(np.count_nonzero(merged & ~np.isin(one.grades, given)))


def _names(judged: Sequence[Qrels]) -> list[str]:
    """Name judges after their files, or by letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    found = []
    for i, one in enumerate(judged):
        address = store_address(one.name)
        letter = letters[i] if i < len(letters) else f"judge {i + 1}"
        file = letter if one.name == "qrels" else run_name(one.name)
        found.append(address.only if address and address.only else file)
    return distinct(found)


def _thresholds(rel: Any, judged: Sequence[Qrels]) -> tuple[list[float] | None, float | None]:
    """Find what each judge's grades are cut at, where they are; else what one kappa is cut at."""
    several = isinstance(rel, Iterable)
    if rel is None or (not several and same_scale(judged)):
        return None, None if rel is None else float(rel)
    found = [float(one) for one in (rel if several else [rel] * len(judged))]
    if len(found) != len(judged):
        hint = f"give one grade, or one for each of the {len(judged)} judges"
        raise UsageError(f"rel names {len(found)} grades", hint)
    return found, None


def _check_threshold(rel: float | None, judged: Sequence[Qrels]) -> None:
    """Refuse a threshold that no grade reaches, or all do: kappa says nothing then."""
    if rel is None:
        return
    scales = [one.scale.grades if one.scale else one.grades.tolist() for one in judged]
    least, most = min(map(min, scales)), max(map(max, scales))
    if not least < rel <= most:
        hint = f"give a grade above {tidy(least)}, up to {tidy(most)}"
        some = "no grade is" if rel > most else "all grades are"
        raise UsageError(f"rel cannot be {tidy(rel)}: {some} {tidy(rel)} or higher", hint)


def _systems(
    judged: Sequence[Qrels], names: Sequence[str], runs: Sequence[Run], measures: Any,
    shared_pairs: bool, **options: Any,
) -> dict[int, Mapping[str, SystemAgreement]]:  # fmt: skip
    """Rank the runs by the first judge, and by each of the others."""
    found: dict[int, Mapping[str, SystemAgreement]] = {}
    for i, other in enumerate(judged[1:], 1) if runs else ():
        both = [judged[0], other]
        if shared_pairs:
            both = [_only(one, than) for one, than in (both, both[::-1])]
        queries = [query for query in both[0].queries if query in both[1].known]
        if queries:
            called = names[0], names[i]
            found[i] = systems_of(both, called, runs, measures, queries=queries, **options)
    return found


def _lacking(one: Qrels, other: Qrels) -> tuple[Lack, Lack]:
    """Count what each judge lacks of the other's pairs, in the queries that both judged."""
    own, theirs = one.lookup, other.lookup
    both = [query for query in own if query in theirs]
    shared = sum(len(own[query].keys() & theirs[query].keys()) for query in both)
    first, second = (sum(len(each[query]) for query in both) for each in (own, theirs))
    return (first - shared, first), (second - shared, second)


def _only(qrels: Qrels, other: Qrels) -> Qrels:
    """Keep the pairs that another judge judged too."""
    kept, queries, sizes = [], [], []
    for query, start, end in qrels.spans():
        known = other.lookup.get(query, {})
        own = [i for i in range(start, end) if qrels.documents[i] in known]
        if own:
            kept += own
            queries.append(query)
            sizes.append(len(own))
    return qrels.at(np.array(kept, dtype=np.int64), tuple(queries), sizes)
