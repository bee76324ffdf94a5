"""The rules, as data: about one run, about two, about the context of a language model."""

from __future__ import annotations

from idealist.diagnosing.evidence import Clause
from idealist.diagnosing.query_slices import OnSlice
from idealist.diagnosing.rule_samples import (
    CAPPED,
    CONDENSED,
    DUPLICATES,
    HURT,
    LENGTH,
    MAIN,
    NONE_RELEVANT,
    RECALL,
    TESTS,
    THREE,
    TIES,
    URISK,
    change,
    gap,
    in_context,
    reranking,
    value,
)
from idealist.diagnosing.ruling import DL21, Rule

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


#: Differences below this do not matter (suggested: the region of practical equivalence).
ROPE = 0.01
#: Two measures are the same if they differ by less than this (suggested).
SAME = 0.02

OF_TWO: tuple[Rule, ...] = (
    Rule(
        "pool-bias",
        "Judged@10 is lower than the other run's",
        "the other run's documents were judged, this one's were not: the comparison is biased",
        "judge this run's holes too, or compare by the bounds of the difference",
        (Clause(change("Judged@10"), "<", -0.05),),
        "TREC-COVID rounds 1 and 5; threshold suggested",
        "other",
    ),
    Rule(
        "coverage-regression",
        "R@100 falls, P@10 does not",
        "coverage got worse",
        "look at index, filters and first stage: what is no longer retrieved?",
        (Clause(change("R@100"), "<", 0.0), Clause(change("P@10"), "within", SAME)),
        "aievals.co: any significant drop; what counts as the same is suggested",
        "other",
    ),
    Rule(
        "ranking-regression",
        "RR falls, R@100 does not",
        "the order got worse",
        "look at the reranker and at how scores are combined",
        (Clause(change("RR"), "<", 0.0), Clause(change("R@100"), "within", SAME)),
        "aievals.co: any significant drop; what counts as the same is suggested",
        "other",
    ),
    Rule(
        "unstable",
        "the mean rises, many queries fall",
        "the gain is not stable",
        "look at the queries that lose; count wins and losses (idealist compare)",
        (Clause(change(MAIN), ">", 0.0), Clause(HURT, ">", 1 / 3)),
        "Dinçer et al. 2016 on the risk of losing; threshold suggested",
        "other",
    ),
    Rule(
        "risky",
        "the mean rises, URisk is below 0",
        "the losses, counted twice, are more than the gains",
        "look at the queries that lose, if losing one hurts more than winning one helps",
        (Clause(change(MAIN), ">", 0.0), Clause(URISK, "<", 0.0)),
        "Wang et al. 2012, doi:10.1145/2348283.2348385",
        "other",
    ),
    Rule(
        "few-queries",
        "the mean rises by a few queries",
        "three queries make most of the gain",
        "look at the three, and at the mean without them",
        (Clause(change(MAIN), ">", 0.0), Clause(THREE, ">", 0.5)),
        "threshold suggested",
        "other",
    ),
    Rule(
        "tests",
        "t-test and randomisation test disagree",
        "few queries differ, or a few by much: t is not to be relied on",
        "believe the randomisation test (idealist compare), and look at the queries that differ",
        (Clause(TESTS, ">", 2.0),),
        "Smucker et al. 2007, doi:10.1145/1321440.1321528; threshold suggested",
        "other",
    ),
    Rule(
        "void",
        "significant but tiny",
        "the change is real, and too small to matter",
        "do not pay for it with time or money",
        (Clause(change(MAIN), ">", 0.0), Clause(change(MAIN), "within", ROPE)),
        "Ihemelandu and Ekstrand 2023, SIGIR; region suggested",
        "other",
    ),
    Rule(
        "under-powered",
        "not significant, and the interval is wide",
        "the data cannot tell; that is not to be equal",
        "add queries, or look for a larger change (idealist power)",
        (Clause(change(MAIN), "open", ROPE),),
        "a t-test of 50 queries finds an effect of d_z 0.40 in 4 of 5 cases; region suggested",
        "other",
    ),
    Rule(
        "noisy-win",
        "RR rises, nDCG does not",
        "RR varies far more than other measures: noise comes first to mind",
        "ask for some 560 queries before believing a change of 0.05 in RR",
        (Clause(change("RR"), ">", 0.0), Clause(change(MAIN), "open", 0.0)),
        f"variances of {DL21}",
        "other",
    ),
    Rule(
        "split",
        "one run is better on a slice of the queries, the other on another",
        "they are good at different queries, such as key words and paraphrases",
        "combine them, as hybrid search does, or choose between them by the kind of query",
        (OnSlice(">"), OnSlice("<")),
        "practice; each interval is as wide as so many slices ask for",
        "slices",
    ),
)


OF_ONE: tuple[Rule, ...] = (
    Rule(
        "rerank",
        "nDCG is far below what the candidates allow",
        "relevant documents are retrieved, but not ranked at the top",
        "rerank, or tune the reranker; look at the queries that lose to worse documents above",
        (Clause(reranking(100), ">", 0.30),),
        f"aievals.co, gadaalabs; threshold: median of {DL21}",
    ),
    Rule(
        "order",
        "CG is high, nDCG is low",
        "the first ten hold nearly the best documents there are, in the wrong order",
        "rerank the first ten, for the order is at fault; check how scores are computed and tied",
        (
            Clause(value("nDCG(discount=none)@10"), ">", 0.80),
            Clause(gap("nDCG(discount=none)@10", MAIN), ">", 0.10),
        ),
        "Järvelin and Kekäläinen 2002 for CG; thresholds suggested",
    ),
    Rule(
        "first-stage",
        "recall is low",
        "relevant documents are not among the candidates, where no reranker finds them",
        "look at the first stage: embedding, chunks, filters, the form of the queries, depth",
        (Clause(RECALL, "<", 0.80),),
        "aievals.co, gadaalabs (weak evidence: targets of practitioners)",
    ),
    Rule(
        "one-hit",
        "RR is high, AP is low",
        "one relevant document comes early, the others late or never",
        "fine where one answer is enough; for exhaustive tasks work on recall",
        (Clause(gap("RR", "AP"), ">", 0.63),),
        f"threshold: 95th percentile of {DL21}",
    ),
    Rule(
        "not-first",
        "P@1 is low, Success@10 is high",
        "a good document is among the first ten but seldom first",
        "look at what stands above it, such as ties and near duplicates",
        (
            Clause(gap("P@1", "Success@10", 0.5), "<", 0.0),
            Clause(value("Success@10"), ">", 0.80),
        ),
        "theory; thresholds suggested",
    ),
    Rule(
        "unanswered",
        "Success@10 is low",
        "whole queries have no relevant document among the first ten",
        "divide the queries into kinds and look at the one that fails",
        (Clause(value("Success@10"), "<", 0.90),),
        "unrag.dev (weak evidence: a target of practitioners)",
    ),
    Rule(
        "holes",
        "Judged@10 is low",
        "labels are missing, which looks like a failure of the system",
        "audit the data (idealist audit): do all ids match? If they do, judge the holes that it "
        "lists, and below 0.7 claim no order of systems; "
        "judgments that are sparse by design, as MS MARCO's, always look so",
        (Clause(value("Judged@10"), "<", 0.90),),
        "269 runs of TREC-COVID rounds 1 and 5; threshold suggested",
    ),
    Rule(
        "condensed",
        "nDCG without unjudged documents is much higher",
        "unjudged documents stand above relevant ones: holes, or truly worse documents",
        "judge the first of them (idealist explain --bounds) before changing the system",
        (Clause(CONDENSED, ">", 0.055),),
        "269 runs of TREC-COVID rounds 1 and 5: the gap where Judged@10 is 0.7 to 0.9",
    ),
    Rule(
        "top-grade",
        "nDCG with exponential gain is far below that with linear gain",
        "marginal documents are found, those of the top grade are missed",
        "look at what tells the best documents from good ones",
        (Clause(gap("nDCG(gain=exp2)@10", "nDCG(gain=linear)@10"), "<", -0.115),),
        f"threshold: 5th percentile of {DL21}",
    ),
    Rule(
        "capped",
        "most queries have more relevant documents than R@100 can count",
        "recall at 100 cannot reach 1",
        "read R-precision or R(denominator=min(k,R)) instead",
        (Clause(CAPPED, ">", 0.5),),
        "documentation of evidently",
    ),
    Rule(
        "ties",
        "many scores are equal",
        "the value depends on the order of ties",
        "let the system break its ties, and report both ends (idealist eval shows them)",
        (Clause(TIES, ">", ROPE),),
        "TREC-COVID round 3: 17 of 79 runs miss their published value by the order of ties; "
        "threshold suggested: what matters in a change",
    ),
    Rule(
        "duplicates",
        "lists hold documents twice",
        "repeats take the places of other documents",
        "remove duplicates before the list is cut",
        (Clause(DUPLICATES, ">", 0.05),),
        "Bernstein and Zobel 2005; threshold suggested",
    ),
    Rule(
        "no-relevant",
        "queries without a relevant document",
        "a topic that the collection does not have is not a document that cannot be found",
        "check them first; leave them out with no_relevant=skip, or report them apart",
        (Clause(NONE_RELEVANT, ">", 0.0),),
        "practice: topic gaps against capability gaps",
    ),
    Rule(
        "long-queries",
        "short queries do well, long ones do not",
        "long queries are represented badly",
        "shorten or divide long queries, or embed them otherwise",
        (Clause(LENGTH, "<", -0.05),),
        "aievals.co; threshold suggested",
        "texts",
    ),
)

#: All of them, in the order in which they are looked at.
RULES: tuple[Rule, ...] = (*OF_ONE, *OF_TWO, *OF_CONTEXT)
