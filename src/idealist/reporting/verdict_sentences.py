"""The verdict of a report: two sentences that need no statistics to be read, and their tone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from idealist.comparing.comparison_report import way
from idealist.comparing.pair import Pair
from idealist.comparing.qualification import judged_less, qualified, reversible
from idealist.comparing.verdict_words import deciding_p, interval, showable
from idealist.errors import UsageError
from idealist.evaluating.evaluation import range_of
from idealist.files import fingerprint
from idealist.notation import many
from idealist.rendering.wording import number, percent, signed
from idealist.reporting.computing import Findings
from idealist.significance.means import FEWEST

#: The share of missing queries from which on the verdict says so. Suggested.
MANY_MISSING = 0.1


def sentences(findings: Findings) -> tuple[str, ...]:
    """Say what it comes to, and how sure that is."""
    if findings.comparison is None:
        return (*_one_run(findings), *_lacking(findings))
    pairs = findings.comparison[findings.comparison.primary]
    said = _two_runs(pairs[0]) if len(pairs) == 1 else _many_runs(findings, pairs)
    return (*said, *_same_file(findings), *_lacking(findings))


def _same_file(findings: Findings) -> Iterator[str]:
    """Say that a run without a difference is the baseline again."""
    pair = findings.comparison and findings.comparison.pair(findings.main)
    if not pair or pair.wins + pair.losses:
        return
    files = [fingerprint(findings.ranked[run].run.source.name) for run in findings.shown]
    if len({file and file.sha256 for file in files}) == 1 and files[0]:
        yield "Both files have the same content."


def _lacking(findings: Findings) -> Iterator[str]:
    """Say that a large part of the queries is missing from the runs, or that some failed."""
    runs: dict[str, list[str]] = {}
    for run in findings.shown:
        for doubt in findings.evaluation(run).doubts:
            lacking = doubt.code == "missing-queries" and doubt.count >= MANY_MISSING * doubt.total
            if lacking or doubt.code == "failed-queries":
                runs.setdefault(doubt.finding, []).append(run)
    yield from (f"In {' and '.join(names)}, {finding}." for finding, names in runs.items())


def to_mend(findings: Findings) -> str:
    """Say which error in the data has to be mended before anything is believed; often none."""
    errors = [one for one in findings.audit.findings if one.severity == "error"]
    if not errors:
        return ""
    what = f"Do not trust {errors[0].run} yet" if errors[0].run else "Do not trust the numbers yet"
    more = f" (and {len(errors) - 1} more, below)" if len(errors) > 1 else ""
    return f"{what}: {errors[0].finding}{more}."


def tone(findings: Findings) -> str:
    """Name the tone of the verdict: win, loss or unsure; nothing for a single run."""
    if findings.comparison is None:
        return ""
    compared = {"", findings.baseline, findings.main}
    if any(one.severity == "error" and one.run in compared for one in findings.audit.findings):
        return "unsure"
    found = way(findings.comparison.pair(findings.main))
    return {"better": "win", "worse": "loss"}.get(found, "unsure")


def _one_run(findings: Findings) -> tuple[str, ...]:
    found, label = findings.evaluation(findings.main), findings.label
    if found.unmatched:
        return (found.summary,)
    count = int(found.counted[label].sum())
    low, high = found.interval(label)
    _, most = range_of(found.signatures[label])
    perfect = f", where {most:g} is perfect" if math.isfinite(most) and findings.sense > 0 else ""
    ends = f" (95 % interval {number(low)} to {number(high)})"
    sure = "" if math.isnan(low) or count < FEWEST else ends
    scores = f"{found.run} reaches {label} {number(found[label])}{sure}"
    start = f"{scores} over {many(count, 'query', 'queries')}{perfect}."
    if isinstance(findings.diagnosis, UsageError):
        return (start,)
    return start, f"{findings.diagnosis.summary}."


def _two_runs(pair: Pair) -> tuple[str, ...]:
    if pair.unmeasured or not pair.tested or not pair.wins + pair.losses or pair.n < 2:
        return (pair.verdict,)
    over = f"over {many(pair.n, 'query', 'queries')}"
    share = "" if math.isnan(pair.relative) else f", {percent(pair.relative)}"
    values = f"its mean {pair.measure} {over} is {number(pair.run_mean)}"
    numbers = f"{values}, against {number(pair.base_mean)} ({signed(pair.difference)}{share})"
    if not pair.significant:
        start = f"{pair.run} is not shown to differ from {pair.baseline}: {numbers}."
        return (
            start,
            f"Chance alone could well make such a difference ({_sure(pair)}){_power(pair)}.",
        )
    higher = "higher" if pair.difference > 0 else "lower"
    word = ("better" if pair.better else "worse") if pair.sense else higher
    doubts = [qualified(pair), "" if judged_less(pair) else reversible(pair)]
    but = "".join(f", {clause}" for clause in doubts if clause)
    little = pair.rope and pair.p_equal > 1 - pair.options.alpha
    small = f", though it is less than {pair.rope:g}" if little else ""
    return (
        f"{pair.run} is {word} than {pair.baseline}: {numbers}.",
        f"Chance alone would seldom make such a difference ({_sure(pair)}){small}{but}.",
    )


def _sure(pair: Pair) -> str:
    low, high = interval(pair)
    ends = (
        ""
        if math.isnan(low)
        else f"{pair.options.confidence} interval {signed(low)} to {signed(high)}, "
    )
    return f"{ends}{deciding_p(pair)}"


def _power(pair: Pair) -> str:
    """Say what so many queries would have shown, where the difference is smaller."""
    known = not math.isnan(pair.detectable) and abs(pair.difference) < pair.detectable
    return f"; {showable([pair])}" if known else ""


def _many_runs(findings: Findings, pairs: tuple[Pair, ...]) -> tuple[str, ...]:
    measured = [pair for pair in pairs if not pair.unmeasured and pair.n]
    if not measured:
        return (pairs[0].verdict,)
    label, base = findings.label, findings.baseline
    main, first = findings.evaluation(findings.main), findings.evaluation(base)
    values = f"{label} {number(main[label])}, against {number(first[label])}"
    over = f"over {many(measured[0].n, 'query', 'queries')}"
    if (main[label] - first[label]) * findings.sense > 0:
        start = f"Of {len(pairs)} runs, {main.run} does best against {base}: {values} {over}."
    else:
        start = (
            f"No other run does better than {base}: {main.run}, the nearest, has {values} {over}."
        )
    ends = Counter(way(pair) for pair in pairs)
    better, worse = ("better", "worse") if pairs[0].sense else ("higher", "lower")
    words = {
        "better": f"{better} than {base}", "worse": worse, "no different": "not shown to differ",
        "not measured": "not measured",
    }  # fmt: skip
    said = [
        f"{ends[end]} {'is' if ends[end] == 1 else 'are'} {of}"
        for end, of in words.items()
        if ends[end]
    ]
    return start, f"After correction for so many comparisons, {'; '.join(said)}."
