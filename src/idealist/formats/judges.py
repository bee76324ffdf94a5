"""Several judges of one document: one grade of what they said, by a rule the user states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from idealist.data import Qrels, Scale
from idealist.data.columns import freeze
from idealist.data.judgments import JudgeRows, Judgments, check_grades
from idealist.data.remarks import Remark
from idealist.errors import Contradictions, Faults
from idealist.notation import many, tidy
from idealist.significance.means import mean

#: What a row says of: query, document and subtopic.
Key = tuple[str, str, str]
#: The rule that is proposed, and that an audit looks on with.
PROPOSED = "median"


def median(grades: Sequence[float]) -> float:
    """Return the middle grade, or the mean of the two in the middle."""
    ordered = sorted(grades)
    return mean([ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]])


def majority(grades: Sequence[float]) -> float:
    """Return the grade given most often; of several given equally often, the lowest.

    >>> majority([2, 0, 2]), majority([2, 0])
    (2, 0)
    """
    counts = Counter(grades)
    return min(grade for grade, count in counts.items() if count == max(counts.values()))


def latest(grades: Sequence[float]) -> float:
    """Return the grade given last."""
    return grades[-1]


RULES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": mean, "median": median, "majority": majority, "max": max, "min": min,
    "latest": latest,
}  # fmt: skip


@dataclass(frozen=True)
class Opinions:
    """What was said of each pair, as rows of `given`, which `Qrels.build` takes.

    A judge's own repeats are left out; rows without the name of a judge are each one's own.
    """

    given: Mapping[str, Any]
    rows: Mapping[Key, Sequence[int]]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Opinions:
        """Sort rows by what they are of; refuse a judge who contradicts himself."""
        faults, rows = Faults(given["name"]), _judgments(given)
        judges = (given["columns"] or {}).get("judge") or [""] * len(rows.query)
        first: dict[tuple[Key, str], int] = {}
        found: dict[Key, list[int]] = {}
        for i, key in enumerate(zip(rows.query, rows.document, rows.subtopic, strict=True)):
            before = first.setdefault((key, judges[i]), i) if judges[i] else i
            if before == i:
                found.setdefault(key, []).append(i)
            elif rows.grade[before] != rows.grade[i]:
                hint = f"keep one judgment of {judges[i]} for each query and document"
                rows.note_contradiction(i, before, faults, hint)
        faults.check()
        return cls(given, found)

    @cached_property
    def several(self) -> dict[Key, Sequence[int]]:
        """What more than one judge judged."""
        return {key: rows for key, rows in self.rows.items() if len(rows) > 1}

    @cached_property
    def disputed(self) -> dict[Key, Sequence[int]]:
        """What judges disagree about."""
        grade = self.given["grade"]
        return {
            key: rows for key, rows in self.several.items() if len({grade[i] for i in rows}) > 1
        }

    def grades(self, rows: Sequence[int]) -> list[float]:
        """Return the grades of some rows."""
        return [self.given["grade"][i] for i in rows]

    def said(self, row: int) -> str:
        """Say who gave which grade, and where."""
        lines, names = self.given["lines"], (self.given["columns"] or {}).get("judge")
        who = names[row] if names and names[row] else "a judge"
        where = f" (line {lines[row]})" if lines is not None else ""
        return f"{who} gave {tidy(self.given['grade'][row])}{where}"


def merged(given: Mapping[str, Any], rule: str) -> Qrels:
    """Make judgments of rows as `Qrels.build` takes them, one grade a pair.

    Where judges disagree and there is no rule, that is refused: nobody knows which grade is meant.
    """
    rows = _judgments(given)
    if len({*zip(rows.query, rows.document, rows.subtopic, strict=True)}) == len(rows.query):
        return Qrels.build(**given)
    opinions = Opinions.of(given)
    if not opinions.several:
        return Qrels.build(**given)
    disputed = opinions.disputed
    if disputed and not rule:
        raise _refusal(opinions)
    faults = Faults(given["name"])
    check_grades(rows, list(range(len(rows.query))), given["scale"], faults)
    faults.check()
    made = Qrels.build(**_one_each(opinions, RULES[rule or PROPOSED]))
    remark = Remark("judges", _words(opinions, rule), len(disputed))
    return replace(
        made, judged_by=_judge_rows(opinions, made), merge=rule if disputed else "",
        repeats=len(rows.query) - sum(map(len, opinions.rows.values())),
        remarks=(*made.remarks, remark) if disputed else made.remarks,
    )  # fmt: skip


def _judgments(given: Mapping[str, Any]) -> Judgments:
    subtopic = given["subtopic"] or [""] * len(given["query"])
    query, document, grade = (given[name] for name in ("query", "document", "grade"))
    return Judgments(query, document, grade, subtopic, given["lines"])


def _refusal(opinions: Opinions) -> Contradictions:
    disputed, total = opinions.disputed, len(opinions.several)
    (query, document, _), rows = next(iter(disputed.items()))
    faults, given = Faults(opinions.given["name"]), opinions.given
    said = ", ".join(map(opinions.said, rows[:3]))
    others = ", ".join(name for name in RULES if name != PROPOSED)
    faults.add(
        "judges", f"judges disagree on {len(disputed)} of {many(total, 'pair', 'pairs')} that "
        f"several judged: query {query!r}, document {document!r}: {said}",
        f'say how to merge them: --merge {PROPOSED}, or {others}; in Python, merge="{PROPOSED}"',
    )  # fmt: skip
    meanwhile = f"in all that follows, the {PROPOSED} of the judges counts"
    return Contradictions(faults.shown, 1, given, partial(merged, given, PROPOSED), meanwhile)


def _one_each(opinions: Opinions, rule: Callable[[Sequence[float]], float]) -> dict[str, Any]:
    """Return rows as `Qrels.build` takes them, one for each pair, with the grade of the rule."""
    given, keys = opinions.given, sorted(opinions.rows)
    rows = [opinions.rows[key] for key in keys]
    first = [own[0] for own in rows]
    disputed = opinions.disputed
    grades = [
        rule(opinions.grades(own)) if key in disputed else given["grade"][own[0]]
        for key, own in zip(keys, rows, strict=True)
    ]
    columns = dict(given["columns"] or {})
    columns.pop("judge", None)
    apart = [name for name, cells in columns.items() if any(_differ(cells, own) for own in rows)]
    scale = given["scale"]
    if scale is not None and not {*grades} <= {*scale.grades}:  # a mean lies between two grades
        scale = Scale(tuple(sorted({*scale.grades, *grades})))
    chosen = {
        name: given[name] and [given[name][i] for i in first] for name in ("subtopic", "lines")
    }
    return {
        **given, **chosen, "grade": grades, "scale": scale,
        "query": [key[0] for key in keys], "document": [key[1] for key in keys],
        "columns": {k: [c[i] for i in first] for k, c in columns.items() if k not in apart},
        "ignored": [*given["ignored"], *apart],
    }  # fmt: skip


def _differ(cells: Sequence[Any], rows: Sequence[int]) -> bool:
    return len({str(cells[i]) for i in rows}) > 1  # NaN is like NaN


def _judge_rows(opinions: Opinions, made: Qrels) -> JudgeRows | None:
    """Keep who said what, where documents are not judged by subtopic as well."""
    if made.subtopics is not None:
        return None
    names = (opinions.given["columns"] or {}).get("judge")
    rows = sorted(
        (made.lookup[query][document], i, names[i] if names else "")
        for (query, document, _), own in opinions.several.items()
        for i in own
    )
    grades = opinions.grades([i for _, i, _ in rows])
    return JudgeRows(
        freeze(np.array([pair for pair, _, _ in rows], dtype=np.int64)),
        tuple(judge for _, _, judge in rows),
        freeze(np.array(grades, dtype=np.float64)),
    )


def _words(opinions: Opinions, rule: str) -> str:
    """Say what was merged, and how."""
    disputed = opinions.disputed
    some = many(len(disputed), "pair was", "pairs were")
    words = f"{some} judged differently by several judges: the {rule} counts"
    tied = rule == "majority" and sum(_is_tied(opinions.grades(own)) for own in disputed.values())
    none = f"; {tied} had no majority, and the lowest of the most frequent grades counts"
    return f"{words}{none}" if tied else words


def _is_tied(grades: Sequence[float]) -> bool:
    (_, most), *others = Counter(grades).most_common(2)
    return any(count == most for _, count in others)
