"""Rules about the passages that a language model reads."""

from __future__ import annotations

from idealist.diagnosing.evidence import Clause
from idealist.diagnosing.rule import Rule
from idealist.diagnosing.samples import in_context

OF_CONTEXT: tuple[Rule, ...] = (
    Rule(
        "context-empty",
        "contexts hold nothing relevant, where the candidates would fill them",
        "the model is asked without the answer, which was retrieved further down",
        "rerank the candidates, or give more passages",
        (
            Clause(
                in_context("the share of contexts with a relevant passage", lambda x: x.answered),
                "<",
                0.90,
            ),
            Clause(
                in_context("the share that the candidates would add", lambda x: x.fillable),
                ">",
                0.10,
            ),
        ),
        "unrag.dev for Success (weak evidence: a target of practitioners); thresholds suggested",
        "context",
    ),
    Rule(
        "misleading",
        "many contexts hold a passage that misleads",
        "the model may answer from it, even where the right passage stands beside it",
        "leave such passages out: filter or rerank by what answers, not by what is similar; "
        "give fewer",
        (
            Clause(
                in_context("the share of contexts with a misleading passage", lambda x: x.misled),
                ">",
                1 / 3,
            ),
        ),
        "Amiraz et al. 2025, arXiv:2505.06914, on distracting passages; threshold suggested",
        "marks",
    ),
    Rule(
        "noise",
        "the context finds what there is, but holds much else",
        "the prompt is full of noise",
        "give fewer passages, or rerank them",
        (
            Clause(in_context("the recall of the context", lambda one: one.recall), ">", 0.80),
            Clause(in_context("its precision", lambda one: one.precision), "<", 0.60),
        ),
        "qaskills, gadaalabs (weak evidence: targets of practitioners)",
        "context",
    ),
    Rule(
        "middle",
        "the first relevant passage often stands in the middle",
        "language models overlook what stands in the middle of a long context",
        "put the best passages first and last, or give fewer",
        (
            Clause(
                in_context(
                    "the share of contexts whose first relevant passage is in the middle third",
                    lambda one: one.middle,
                ),
                ">",
                1 / 3,
            ),
        ),
        "Liu et al. 2024, arXiv:2307.03172; threshold suggested: what chance would give",
        "context",
    ),
    Rule(
        "distracting",
        "UDCG is below one half",
        "the context misleads the model more than it helps",
        "leave out passages that mislead; give fewer",
        (
            Clause(
                in_context("UDCG of the context", lambda one: one.worth),
                "<",
                0.5,
            ),
        ),
        "Trappolini et al. 2026, arXiv:2510.21440: a half is what an empty effect is worth",
        "signal",
    ),
)
