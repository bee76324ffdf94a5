"""The report of a comparison: the answer, the tables, what is behind it, how it was compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from idealist.comparing import verdict_words
from idealist.comparing.changed_queries import changed_blocks
from idealist.comparing.compare_options import CORRECTIONS, TESTS
from idealist.comparing.pair_data import flat
from idealist.comparing.pairing import name_of_test
from idealist.comparing.qualification import qualified
from idealist.conventions.signature import shortened
from idealist.notation import many
from idealist.rendering import document as doc
from idealist.rendering.document import P_VALUE, SIGNED, TEXT, Column, Document, Marked, Table, Text
from idealist.rendering.plain_data import records_table
from idealist.rendering.terminal import SUPERSCRIPTS
from idealist.rendering.wording import few, shared_signatures, signed, weights_words

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison
    from idealist.comparing.pair import Pair


#: The letters that name systems.
LETTERS = tuple(SUPERSCRIPTS)
#: The most systems that a matrix has room for.
MOST = 12
#: The ways a pair can end, best first.
WAYS = ("better", "held back", "no different", "worse", "not measured")
#: The size of a difference, as short as a matrix needs it.
SIZE = doc.Format(lambda cell: "-" if math.isnan(cell) else f"{abs(cell):.3f}".removeprefix("0"))

SIDES = (
    "The tests are two-sided: they ask whether the runs differ, in either direction. idealist gate "
    "asks one side only, whether the run is worse, so the two may decide differently on the same "
    "data."
)


def report(comparison: Comparison) -> Document:
    """Describe a comparison: the answer first, then the tables, then what is behind it."""
    answer = Text("\n".join(answers(comparison)), strong=True)
    behind = doc.Items(tuple(reasons(comparison)))
    details = doc.Details("More about it", tuple(more_about(comparison)))
    queries = [queries_table(comparison)] if comparison.per_query else []
    settings = (Text(line) for line in (*heading(comparison), *comparison.remarks))
    known = shortened(comparison.signatures, comparison.evaluations[0].convention).values()
    signatures = doc.Signatures(tuple(shared_signatures([*known])))
    return Document(
        (
            answer,
            *tables(comparison),
            *latency_blocks(comparison),
            behind,
            *changed_blocks(comparison),
            details,
            *queries,
        ),
        (*settings, doc.Doubts(comparison.doubts), signatures),
    )


def latency_blocks(comparison: Comparison) -> Iterator[doc.Block]:
    """Say how much slower the runs are, where their times are known."""
    if (times := comparison.latencies) is not None:
        yield times.table(comparison.baseline)
        yield Text(times.words(comparison.baseline))


# --- the answer


def answers(comparison: Comparison) -> list[str]:
    """Say what it comes to: the verdict of two runs, or where many stand."""
    primary = comparison[comparison.primary]
    if len(primary) == 1:
        return [primary[0].verdict]
    unmeasured = dict.fromkeys(pair.verdict for pair in comparison.pairs if pair.unmeasured)
    return [*unmeasured, *standing(primary)] or [primary[0].verdict]


def standing(pairs: Sequence[Pair]) -> list[str]:
    """Say where the runs stand by a measure."""
    if not pairs[0].n or all(pair.unmeasured for pair in pairs):
        return []
    return [(_all_pairs if pairs[0].options.all_pairs else _baseline)(best_first(pairs))]


def way(pair: Pair) -> str:
    """Name the way a pair ended."""
    if pair.unmeasured:
        return "not measured"
    if not pair.significant:
        return "held back" if pair.held_back else "no different"
    return "better" if pair.better else "worse"


def best_first(pairs: Sequence[Pair]) -> list[Pair]:
    """Order pairs by how they ended, and by the size of the difference."""
    return sorted(
        pairs, key=lambda pair: (WAYS.index(way(pair)), -pair.difference * (pair.sense or 1))
    )


def _baseline(pairs: Sequence[Pair]) -> str:
    """Name the runs that are better than the baseline, that are worse, and the others."""
    higher, lower = ("better", "worse") if pairs[0].sense else ("higher", "lower")
    words = {
        "better": f"{higher} than {pairs[0].baseline} on {pairs[0].measure}", "worse": lower,
        "held back": f"not counted, since {pairs[0].primary} is not significant",
        "no different": "not significantly different", "not measured": "not measured",
    }  # fmt: skip
    parts: list[str] = []
    for end, said in words.items():
        own = [pair for pair in pairs if way(pair) == end]
        names = ", ".join(map(_named, own))
        if own or not parts:
            among = "" if parts else f" of {len(pairs)} runs"
            count = f"{len(own) or 'None'}{among} {'are' if len(own) > 1 else 'is'}"
            parts.append(f"{count} {said}{names and f': {names}'}")
    return f"{'; '.join(parts)}."


def _named(pair: Pair) -> str:
    """Name a run with its difference, and whether a verdict on it is in doubt."""
    if pair.unmeasured:
        return pair.run
    doubted = " (in doubt)" if pair.significant and qualified(pair) else ""
    return f"{pair.run} {signed(pair.difference)}{doubted}"


def _all_pairs(pairs: Sequence[Pair]) -> str:
    """Count the pairs that differ, and say what the best run beats."""
    options, found = pairs[0].options, sum(pair.significant for pair in pairs)
    by = f" by {CORRECTIONS['tukey']}" if options.correction == "tukey" else ""
    start = f"{found} of {len(pairs)} pairs differ significantly on {pairs[0].measure}{by}"
    return f"{start}. {_top(pairs)}."


def _top(pairs: Sequence[Pair]) -> str:
    """Say what the run with the best mean is better than, and what not."""
    best, better = ("best", "better") if pairs[0].sense else ("highest", "higher")
    means = _means(pairs)
    top = next(iter(means))
    own = [pair for pair in pairs if top in (pair.run, pair.baseline)]
    level = [pair for pair in own if not pair.significant]
    names = [pair.baseline if pair.run == top else pair.run for pair in level]
    count = f"{len(own) - len(level)} of {len(own)} others"
    start = f"{top} has the {best} mean, significantly {better} than {count}"
    return f"{start}, but not than {few(names)}" if level else start


def _means(pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the mean of each run, best first."""
    sign = -1 if pairs[0].sense < 0 else 1
    ends = {pair.run: pair.run_mean for pair in pairs} | {p.baseline: p.base_mean for p in pairs}
    return {run: ends[run] for run in sorted(ends, key=lambda run: -sign * ends[run])}


def _not_found(pairs: Sequence[Pair]) -> list[str]:
    """Say how large a difference has to be; Tukey's test has one limit for all pairs."""
    small = [pair for pair in pairs if pair.missed and not pair.held_back]
    if not small:
        return []
    if small[0].options.correction != "tukey":
        found = verdict_words.showable(small).replace("with", "With", 1)
        return [f"{found}: {few([verdict_words.who(pair) for pair in small])}."]
    most = max(abs(pair.difference) for pair in small)
    return [f"With {small[0].n} queries, differences up to {most:.4f} are not significant."]


# --- the tables


def tables(comparison: Comparison) -> Iterator[Table]:
    """Tabulate systems, pairs (as a matrix where they are all), and slices."""
    every = comparison.options.all_pairs and len(comparison.evaluations) > 2
    yield runs_table(comparison)
    if not every:
        ordered = [p for label in comparison.measures for p in best_first(comparison[label])]
        yield pairs_table(ordered)
    elif len(comparison.evaluations) <= MOST:
        yield from (matrix_table(comparison, label) for label in comparison.measures)
    if comparison.slices:
        yield pairs_table(comparison.slices)


def _letters(comparison: Comparison) -> dict[str, str]:
    """Name the systems by letters; more systems than there are letters have none."""
    runs = [one.run for one in comparison.evaluations]
    return dict(zip(runs, LETTERS, strict=False)) if len(runs) <= len(LETTERS) else {}


def runs_table(comparison: Comparison) -> Table:
    """Tabulate the systems, as papers do: each value with the letters of those it beats."""
    letters, rows = _letters(comparison), []
    for one in comparison.evaluations:
        cells = []
        for label in comparison.measures:
            beaten = comparison.beaten(one.run, label) if letters else []
            cells.append(Marked(one[label], "".join(sorted(letters[run] for run in beaten))))
        rows.append((letters.get(one.run, ""), one.run, *cells))
    head = Column("", TEXT), Column("run", TEXT, shortens=True)
    table = Table((*head, *map(Column, comparison.measures)), tuple(rows))
    return table if letters else table.without([""])


def matrix_table(comparison: Comparison, label: str) -> Table:
    """Tabulate all pairs: by how much the row's run is better than the column's, best first."""
    pairs, letters = comparison[label], _letters(comparison)
    means = _means(pairs)
    cells = {
        frozenset((p.run, p.baseline)): Marked(p.difference, "*" * p.significant) for p in pairs
    }
    rows = []
    for i, (run, mean) in enumerate(means.items()):
        own = [cells[frozenset((run, r))] if i < j else "" for j, r in enumerate(means) if j]
        rows.append((letters[run], run, mean, *own))
    head = Column("", TEXT), Column(label, TEXT, shortens=True), Column("mean")
    return Table((*head, *(Column(letters[run], SIZE) for run in list(means)[1:])), tuple(rows))


def pairs_table(pairs: Sequence[Pair]) -> Table:
    """Tabulate differences with intervals, p-values, effect sizes, and wins, ties and losses."""
    options, first = pairs[0].options, pairs[0]
    columns: list[tuple[Column, Any]] = [
        (Column("measure", TEXT), lambda p: p.measure),
        (Column("slice", TEXT), lambda p: p.slice),
        (Column("baseline", TEXT, shortens=True), lambda p: p.baseline),
        (Column("run", TEXT, shortens=True), lambda p: p.run),
        (Column("n"), lambda p: str(p.n)),
        (Column("difference", SIGNED), lambda p: Marked(p.difference, "*" * p.significant)),
        (Column(f"{options.confidence} interval", SIGNED), verdict_words.interval),
        (Column("relative", doc.PERCENT, spare=1), lambda p: p.relative),
        (Column("p t", P_VALUE, spare=3), lambda p: p.p_t),
        (Column("p rand.", P_VALUE), lambda p: p.p_randomisation),
        (Column("p adj.", P_VALUE), lambda p: p.p_adjusted),
        *((Column(f"p {x}", P_VALUE), lambda p, x=x: p.tests[x]) for x in options.tests),
        (Column("d_z", doc.EFFECT, spare=2), lambda p: p.d_z),
        (Column("W/T/L"), lambda p: f"{p.wins}/{p.ties}/{p.losses}"),
    ]
    rows = tuple(tuple(cell(pair) for _, cell in columns) for pair in pairs)
    left = {
        "measure": len({pair.measure for pair in pairs}) == 1,
        "slice": not first.slice,
        "n": not first.slice,
        "baseline": not options.all_pairs,
        "p adj.": all(pair.p_adjusted == pair.p_randomisation for pair in pairs if pair.tested),
    }
    table = Table(tuple(column for column, _ in columns), rows)
    return table.without([name for name, out in left.items() if out])


def queries_table(comparison: Comparison) -> Table:
    """Tabulate both values of every query and the difference."""
    rows = [
        [pair.measure, pair.baseline, pair.run, query, *values.values()]
        for pair in comparison.pairs
        for query, values in pair.by_query(comparison.view.sort).items()
    ]
    words = ["measure", "baseline", "run", "query"]
    return Table.of(words, ["baseline's", "run's", "difference"], rows)


def rows_table(comparison: Comparison) -> Table:
    """Tabulate for programs: a row for each pair, all numbers in full."""
    return records_table([flat(one.data()) for one in (*comparison.pairs, *comparison.slices)])


# --- what is behind it


def reasons(comparison: Comparison) -> Iterator[str]:
    """Say what is behind the answer."""
    primary = comparison[comparison.primary]
    if len(primary) > 1:
        yield from _not_found(primary)
        for label in comparison.measures[1:]:
            where = [*standing(comparison[label]), *_not_found(comparison[label])]
            yield from [" ".join(where)] if where else []
        for pair in best_first(primary):
            if more := list(verdict_words.asked_for(pair)):
                yield from (pair.verdict, *(f"  {line}" for line in more))
        yield from _unjudged(primary)
        yield from _qualified(primary)
    elif not primary[0].unmeasured:
        yield from verdict_words.behind(primary[0])
        yield from verdict_words.asked_for(primary[0])


def _unjudged(pairs: Sequence[Pair]) -> list[str]:
    """Say which significant differences unjudged documents could reverse, or undo."""
    known = [pair for pair in pairs if pair.significant and pair.unjudged is not None]
    bounded = [p for p in known if p.unjudged.kind != "none" or p.unjudged.overturns is False]
    can = {False: "cannot", True: "could", None: "may or may not"}
    parts = [
        f"{word} flip the sign of {few([verdict_words.who(pair) for pair in some])}"
        for end, word in can.items()
        if (some := [pair for pair in bounded if pair.unjudged.overturns is end])
    ]
    if undone := [verdict_words.who(pair) for pair in bounded if pair.unjudged.undoes]:
        parts.append(f"could make {few(undone)} not significant (t-test)")
    return [f"Judging the unjudged documents {'; it '.join(parts)}."] if parts else []


def _qualified(pairs: Sequence[Pair]) -> list[str]:
    """Name the verdicts that have a but."""
    found = [verdict_words.who(pair) for pair in pairs if pair.significant and qualified(pair)]
    start = "In doubt, for reasons that --details gives"
    return [f"{start}: {few(found)}."] if found else []


def more_about(comparison: Comparison) -> Iterator[doc.Block]:
    """Say what few readers need: every verdict, with all that is known of it."""
    primary = comparison[comparison.primary]
    several = len(primary) > 1
    lines: list[str] = []
    for pair in best_first(primary):
        behind = verdict_words.behind(pair) if several else ()
        more = () if pair.unmeasured else (*behind, *verdict_words.statistics(pair))
        lines += [pair.verdict, *(f"  {line}" for line in more)] if several else more
    others = () if several else comparison.pairs[1:]
    lines += [pair.verdict for pair in (*others, *comparison.slices)]
    yield doc.Items(tuple(lines))
    if comparison.agreement:
        yield _orders(comparison)
    yield Text(SIDES)


def _orders(comparison: Comparison) -> Table:
    """Tabulate how far measures order the systems alike."""
    rows = [
        (*one.measures, one.tau_b, one.tau_ap, one.tau_ap_b, one.rbo)
        for one in comparison.agreement
    ]
    names = "tau-b", "tau-AP", "tau-AP,b", "RBO"
    columns = Column("measure", TEXT), Column("and", TEXT), *map(Column, names)
    tied = dict.fromkeys(label for one in comparison.agreement for label in one.tied)
    more = f"; all systems are tied by {', '.join(tied)}" if tied else ""
    title = f"How far measures order the systems alike{more}"
    return Table(columns, tuple(rows), title)


# --- how it was compared


def heading(comparison: Comparison) -> list[str]:
    """Say what was compared, and how."""
    options, pair = comparison.options, comparison.pairs[0]
    about = f"{comparison.primary} is the primary measure"
    weighted = weights_words(pair.statistics.weighted)
    convention = comparison.evaluations[0].convention
    count = many(pair.n, "query", "queries")
    lines = [f"{count}{weighted}, convention {convention}; {about}"]
    correction = CORRECTIONS[options.correction]
    if options.correction == "tukey":
        correction = f"Tukey HSD({pair.draws})"
    elif options.correction == "none" and _together((*comparison.pairs, *comparison.slices)):
        correction += f" for {comparison.primary}"
    how = f"{name_of_test(pair.n)}, seed {options.seed}; {correction}"
    kind = "intervals" if options.correction == "none" else "simultaneous intervals"
    lines.append(f"alpha {options.alpha:g}, two-sided; {how}; {options.confidence} {kind}")
    lines += [*_families(comparison), *key_to_marks(comparison)]
    if options.all_pairs and len(comparison.evaluations) > MOST:
        lines.append("the differences of all pairs are in -f tsv and -f json")
    if weighted and {"wilcoxon", "sign"} & set(options.tests):
        lines.append("Wilcoxon's test and the sign test take no weights")
    return lines + [TESTS[name] for name in options.tests]


def _families(comparison: Comparison) -> list[str]:
    """Say how the measures behind the first are decided, and how slices are."""
    behind = [pair for pair in comparison.pairs if pair.primary]
    marked = f"marked only where {comparison.primary} is" if behind else ""
    said = {
        "other measures": "; ".join(filter(None, (_together(behind), marked))),
        "slices": _together(comparison.slices),
    }
    return [f"{what}: {how}" for what, how in said.items() if how]


def _together(pairs: Sequence[Pair]) -> str:
    """Name the correction of a family, where it has one."""
    by = {pair.options.correction for pair in pairs} - {"none"}
    words = " and ".join(CORRECTIONS[one] for one in by)
    return words and f"corrected together by {words}, with simultaneous intervals"


def key_to_marks(comparison: Comparison) -> list[str]:
    """Say what letters and stars mean, where there are any."""
    if not any(pair.significant for pair in (*comparison.pairs, *comparison.slices)):
        return []
    letter = "a letter behind a value: better than the system of that letter"
    return [f"{letter}; *: the difference is significant"]
