"""The report of tuning: the verdict, the contenders, how sure the choice is, and curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from idealist.conventions.signature import shortened
from idealist.fusing.fusion import Fusion
from idealist.fusing.tuning.spaces import Setting, parameters_of, setting_text
from idealist.notation import many
from idealist.rendering.document import (
    P_VALUE,
    SIGNED,
    TEXT,
    Block,
    Column,
    Command,
    Details,
    Document,
    Doubts,
    Drawing,
    Interval,
    Items,
    Signatures,
    Table,
    Text,
)
from idealist.rendering.wording import few, number, p_words, signed

if TYPE_CHECKING:
    from idealist.comparing.pair import Pair
    from idealist.fusing.tuning.tuning_result import Tuning

#: How many of the settings tried the details show, the best first.
SHOWN = 20
#: How many weights a sentence tells.
WEIGHTS = 8
#: So many weights make a name too long; a line below tells them.
MANY_WEIGHTS = 4
#: Where estimates hold.
UNSEEN = "on queries that it was not chosen on"


def verdict(found: Tuning) -> str:
    """Say what to use, and why."""
    default, best = _named(found.family.default), _named(found.best)
    pair, among = found.pair, f"{found.tried:,} {found.noun}"
    if found.is_real:
        return _better(found, default, among)
    if found.tried == 1:
        return f"Keep {default}: nothing else was tried."
    if pair is None:
        return f"Keep {default}: none of {among} has a better {found.measure} on these queries."
    start = f"Keep {default}: the best of {among} tried, {best},"
    if found.gain * found.looks.trials.sense > 0:
        gain = f"gains about {signed(found.gain)} {found.measure} {UNSEEN}"
        return f"{start} {gain}, which may be chance ({p_words(pair.p_adjusted)})."
    lost = f"loses about {number(abs(found.gain))}" if found.gain else "gains no"
    return f"{start} {lost} {found.measure} {UNSEEN}."


def _better(found: Tuning, default: str, among: str) -> str:
    """Say what is better than the default, and whether it needed tuning."""
    one = found.winner
    gain = f"{signed(one.estimate - found.default.estimate)} {found.measure}"
    p = "" if one.pair is None else p_words(one.pair.p_adjusted)
    name = _named(one.setting)
    start = f"Use {name}: it gains about {gain}"
    over = f"over {default} ({p}, corrected for the {among} tried)"
    if one.setting == found.best:
        return f"{start} {UNSEEN}, {over}."
    worth = (
        f"what it chose is worth {number(found.estimate)} {UNSEEN}, {name} {number(one.estimate)}"
    )
    more = found.looks.trials.sense * (found.estimate - one.estimate) > 0
    why = "What tuning gains may be chance" if more else "Tuning adds nothing"
    return f"{start} {over}. {why}: {worth}."


def _named(setting: Setting) -> str:
    """Name a setting in a sentence.

    >>> from idealist.fusing.methods import make_fusion
    >>> _named(make_fusion("wsum", {"norm": "max", "weights": (1, 2, 3, 4)}))
    'WSUM(norm=max,weights=…)'
    """
    weights = str(getattr(setting, "weights", ""))
    many_weights = weights.count(",") >= MANY_WEIGHTS - 1
    return setting_text(setting).replace(weights, "…") if many_weights else setting_text(setting)


def report(found: Tuning) -> Document:
    """Describe the verdict, the contenders, how sure the choice is, and how it was made."""
    answer, behind = Text(found.verdict, strong=True), Items(tuple(_behind(found)))
    details = Details("More about it", (_folds_table(found), _trials_table(found)))
    notes: list[Block] = [*map(Text, _how(found)), Doubts(found.doubts)]
    notes.append(Signatures((_signature(found),)))
    curves = [Drawing(found.figure("response", parameter=one.parameter)) for one in found.responses]
    command: list[Block] = [Command(found.command)] if found.is_real and found.command else []
    blocks = (answer, contenders_table(found), behind, *command, *curves, details)
    return Document(blocks, tuple(notes))


def contenders_table(found: Tuning) -> Table:
    """Tabulate what was tuned and what needs no tuning, on queries seen and not seen."""
    rows = [
        (one.name, _named(one.setting), one.estimate, one.in_sample, *tested_cells(one.pair))
        for one in (found.tuned, *found.contenders)
    ]
    columns = (
        Column("", TEXT), Column(found.measure, TEXT, shortens=True), Column("not seen"),
        Column("seen"), Column("gain", SIGNED), Column("corrected interval", SIGNED),
        Column("p adj.", P_VALUE),
    )  # fmt: skip
    return Table(columns, tuple(rows))


def tested_cells(pair: Pair | None) -> tuple[Any, ...]:
    """Give the cells of a difference from the default; the default has none."""
    return ("", "", "") if pair is None else (pair.difference, Interval(*pair.ci), pair.p_adjusted)


def _behind(found: Tuning) -> Iterator[str]:
    """Say how much too good the best value is, how stable the choice, and how flat the optimum."""
    low, high = map(number, found.ci)
    level = f"{found.family.options.confidence} interval {low} to {high}"
    yield f"Chosen so, expect {number(found.estimate)} on new queries like these ({level})."
    if found.optimism * found.looks.trials.sense > 0:
        good = f"{number(found.in_sample)} on the queries that were chosen on"
        yield f"Optimism: {good} is too good by {number(abs(found.optimism))}."
    yield from _weighed(found)
    yield _chosen(found)
    yield from _surest(found)
    yield from _alone(found)


def _weighed(found: Tuning) -> Iterator[str]:
    """Say what the best setting weighs each run, the heaviest first."""
    names = found.source.names
    shares = parameters_of(found.best, len(names)).get("weights", ())
    if len(set(shares)) > 1:
        order = sorted(zip(shares, names, strict=True), key=lambda pair: -pair[0])
        told = [f"{name} {share:.2g}" for share, name in order if share]
        yield f"Weights of {setting_text(found.best).partition('(')[0]}: {few(told, WEIGHTS)}."


def _chosen(found: Tuning) -> str:
    """Say what was chosen fold by fold."""
    names = Counter(
        one.name if isinstance(one, Fusion) else setting_text(one) for one in found.chosen
    )
    told = ", ".join(f"{name} in {count}" for name, count in names.most_common())
    different = len(set(found.chosen))
    how = "the same setting each time" if different == 1 else f"{different} different settings"
    return f"Chosen in {len(found.chosen)} folds: {told} ({how})."


def _surest(found: Tuning) -> Iterator[str]:
    """Name a setting that is significantly better, where the best is not."""
    if found.surest is None or found.is_real:
        return
    pair, mean = found.family.pairs[found.surest], found.looks.whole.means[found.surest]
    yield (
        f"{_named(found.surest)} ({number(mean)}) is not the best, and significantly better than "
        f"the default ({p_words(pair.p_adjusted)}): more queries would tell what to use."
    )


def _alone(found: Tuning) -> Iterator[str]:
    """Name a single run that seems better than the default: nothing is tested against it."""
    single, sense = found.contenders[-1], found.looks.trials.sense
    better = sense * (single.estimate - found.default.estimate) > 0
    if better and isinstance(single.setting, str) and single is not found.winner:
        seems = f"{single.setting} alone seems better than the default"
        yield f"{seems} ({number(single.estimate)}): --default {single.setting} tests against it."


def _folds_table(found: Tuning) -> Table:
    rows = [
        (look.outer, int((~look.inside).sum()), setting_text(look.best()), look.means[look.best()])
        for look in found.looks.folds
    ]
    title = "What was chosen for each fold, and its mean on the other queries"
    return Table.of(["fold", "queries", "chosen"], ["mean"], rows, title=title)


def _trials_table(found: Tuning) -> Table:
    means, pairs = found.looks.whole.means, found.family.pairs
    sense = found.looks.trials.sense
    best_first = sorted(means, key=lambda one: -sense * means[one])[:SHOWN]
    rows = [(setting_text(one), means[one], *tested_cells(pairs.get(one))) for one in best_first]
    columns = (
        Column("setting", TEXT), Column(found.measure), Column("- default", SIGNED),
        Column("corrected", SIGNED), Column("p adj.", P_VALUE),
    )  # fmt: skip
    most = f"The best of {found.tried:,} {found.noun}; -f csv has them all"
    return Table(columns, tuple(rows), most)


def _how(found: Tuning) -> Iterator[str]:
    """Say how it was tuned."""
    folds, options = found.looks.trials.folds, found.family.options
    groups = f" in {folds.groups} groups" if folds.groups < found.n else ""
    yield (
        f"{many(found.n, 'query', 'queries')}{groups} in {folds.count} folds, seed {options.seed}; "
        "seen: on all of them; not seen: each fold measured with what was chosen on the others"
    )
    if found.assumed:
        middle = "the first value of each list, the middle of each range"
        yield f"nobody said what is in use: the default is {middle}"
    if found.left_out:
        lacking = many(found.left_out, "judged query is", "judged queries are")
        yield f"{lacking} left out, as some runs lack them: nothing here is about them"
    if any(map(found.source.learns, found.looks.trials.tried)):
        yield (
            "methods that learn: seen is with what they learnt of the same queries, and too good; "
            "gain is without"
        )
    yield (
        "gain: over the default, on all queries, which the choice saw; interval and p-value are "
        f"corrected for all {found.tried:,} {found.noun} tried, by MaxT and a bootstrap"
    )


def _signature(found: Tuning) -> str:
    [short] = shortened({found.measure: found.signature}, found.evaluation.convention).values()
    return short
