"""Findings about several judges: how far they agree, and who stands out."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from idealist.auditing.audit_case import AuditCase
from idealist.auditing.judge_agreement import JudgeAgreement, JudgePair
from idealist.data import Qrels
from idealist.data.columns import freeze
from idealist.data.judgments import JudgeRows
from idealist.evaluating.doubt_case import file_word
from idealist.formats.judges import PROPOSED, RULES
from idealist.notation import many
from idealist.rendering.doubt import EXAMPLES, Doubt
from idealist.rendering.wording import number

#: Below this alpha, another judge would say something else of many documents. Suggested: kappa of
#: two judges of TREC is about .3 to .5.
ALPHA_LOW = 0.3
#: Documents that several judged without which alpha says little. Suggested.
ENOUGH = 20


def agreement(case: AuditCase) -> Iterator[Doubt]:
    """Say how far the judges agree."""
    if (found := case.judges) is None:
        return
    who = many(len(found.judges), "judge", "judges") if found.judges else "several judges"
    kappa = "" if math.isnan(found.kappa) else f"kappa of two judges is {number(found.kappa, 2)}, "
    counts = f"; the {case.qrels.merge} counts" if case.qrels.merge else ""
    low = found.alpha < ALPHA_LOW and found.documents >= ENOUGH
    yield Doubt(
        "judges",
        f"{who} judged {many(found.documents, 'pair', 'pairs')} in common and agree on "
        f"{found.agree:.0%}; {kappa}Krippendorff's alpha {number(found.alpha, 2)}{counts}",
        found.documents, severity="warning" if low else "note", total=len(case.qrels),
        examples=tuple(map(_words, found.pairs[:EXAMPLES])), remedy=_remedy(case, found),
    )  # fmt: skip


def _words(pair: JudgePair) -> str:
    kappas = f"kappa {number(pair.kappa, 2)}, linear {number(pair.linear, 2)}"
    said = f"{many(pair.documents, 'pair', 'pairs')}, {pair.agree:.0%} the same"
    return f"{' and '.join(pair.judges)}: {said}, {kappas}, quadratic {number(pair.quadratic, 2)}"


def _remedy(case: AuditCase, found: JudgeAgreement) -> str:
    """Say how to find what another judge could change, where kappa says that he would."""
    kappa = found.alpha if math.isnan(found.kappa) else found.kappa
    if not 0 < kappa < 1:
        return ""
    option = f"--fragility --agreement {kappa:.2f}"
    files = case.files()
    words = shlex.join([*map(file_word, files), *case.qrels.read_with])
    command = f"idealist compare {words} {option}" if len(files) > 2 else f"compare with {option}"
    return f"see what another judge like these could change: {command}"


def stands_out(case: AuditCase) -> Iterator[Doubt]:
    """Look for judges without whom the others agree much better, and price what they said."""
    if (found := case.judges) is None:
        return
    for name, alpha in found.apart.items():
        without = remerged(case.qrels, found.rows, name)
        yield Doubt(
            "judge-apart",
            f"{name} judged {found.judges[name]} pairs that others judged too, and often "
            f"differently: without {name}, alpha is {number(alpha, 2)} and not "
            f"{number(found.alpha, 2)}",
            found.judges[name], total=found.documents,
            examples=tuple(_words(one) for one in found.pairs if name in one.judges)[:EXAMPLES],
            price=case.for_each_run(partial(case.rejudged, qrels=without)),
            supposing=f"without {name}",
        )  # fmt: skip


def remerged(qrels: Qrels, rows: JudgeRows, without: str) -> Qrels:
    """Merge anew what all judges but one said."""
    rule, said = RULES[qrels.merge or PROPOSED], dict[int, list[tuple[str, float]]]()
    for pair, judge, grade in zip(rows.pair.tolist(), rows.judge, rows.grade.tolist(), strict=True):
        said.setdefault(pair, []).append((judge, grade))
    grades = qrels.grades.copy()
    for pair, own in said.items():
        others = [grade for judge, grade in own if judge != without]
        if others and grades[pair] == rule([grade for _, grade in own]):  # not adjudicated
            grades[pair] = rule(others)
    return replace(qrels, grades=freeze(grades))


CHECKS = (agreement, stands_out)
