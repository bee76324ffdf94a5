"""The rules, as data: about one run, about two, about the context of a language model."""

from __future__ import annotations

from idealist.diagnosing import rule_samples as sample
from idealist.diagnosing.evidence import Clause
from idealist.diagnosing.rule_samples import MAIN, OnSlice, change, gap, in_context, value
from idealist.diagnosing.ruling import Rule

#: Differences below this do not matter (suggested: the region of practical equivalence).
ROPE = 0.01
#: Two measures are the same if they differ by less than this (suggested).
SAME = 0.02
#: Where several thresholds come from.
DL21 = "63 runs of TREC DL 2021"
RISES = Clause(change(MAIN), ">", 0.0)

# A rule is: id, pattern / reading / what to do / clauses / source, what it needs, what it refines.
# fmt: off
OF_ONE: tuple[Rule, ...] = (
    Rule("one-hit", "RR is high, AP is low",
         "one relevant document comes early, the others late or never",
         "fine where one answer is enough; for exhaustive tasks work on recall",
         (Clause(gap("RR", "AP"), ">", 0.63),),
         f"threshold: 95th percentile of {DL21}"),
    Rule("not-first", "P@1 is low, Success@10 is high",
         "a good document is among the first ten but seldom first",
         "look at what stands above it, such as ties and near duplicates",
         (Clause(gap("P@1", "Success@10", 0.5), "<", 0.0), Clause(value("Success@10"), ">", 0.80)),
         "theory; thresholds suggested", refines="rerank"),
    Rule("top-grade", "nDCG with exponential gain is far below that with linear gain",
         "marginal documents are found, those of the top grade are missed",
         "look at what tells the best documents from good ones",
         (Clause(gap("nDCG(gain=exp2)@10", "nDCG(gain=linear)@10"), "<", -0.115),),
         f"threshold: 5th percentile of {DL21}", refines="rerank"),
    Rule("capped", "most queries have more relevant documents than R@100 can count",
         "recall at 100 cannot reach 1",
         "read R-precision or R(denominator=min(k,R)) instead",
         (Clause(sample.CAPPED, ">", 0.5),),
         "documentation of evidently"),
    Rule("ties", "many scores are equal",
         "the value depends on the order of ties",
         "let the system break its ties, and report both ends (idealist eval shows them)",
         (Clause(sample.TIES, ">", ROPE),),
         "TREC-COVID round 3: 17 of 79 runs miss their published value by the order of ties; "
         "threshold suggested: what matters in a change", refines="break ties"),
    Rule("duplicates", "lists hold documents twice",
         "repeats take the places of other documents",
         "remove duplicates before the list is cut",
         (Clause(sample.DUPLICATES, ">", 0.05),),
         "Bernstein and Zobel 2005; threshold suggested", refines="rerank"),
    Rule("no-relevant", "queries without a relevant document",
         "a topic that the collection does not have is not a document that cannot be found",
         "check them first; leave them out with no_relevant=skip, or report them apart",
         (Clause(sample.NONE_RELEVANT, ">", 0.0),),
         "practice: topic gaps against capability gaps"),
    Rule("long-queries", "short queries do well, long ones do not",
         "long queries are represented badly",
         "shorten or divide long queries, or embed them in another way",
         (Clause(sample.LENGTH, "<", -0.05),),
         "aievals.co; threshold suggested", "texts"),
)

OF_TWO: tuple[Rule, ...] = (
    Rule("pool-bias", "Judged@10 is lower than the other run's",
         "the other run's documents were judged, this one's were not: the comparison is biased",
         "judge this run's documents too, or compare by the bounds of the difference",
         (Clause(change("Judged@10"), "<", -0.05),),
         "TREC-COVID rounds 1 and 5; threshold suggested", "pool", refines="judge"),
    Rule("coverage-regression", "R@100 falls, P@10 does not",
         "coverage got worse",
         "look at index, filters and first stage: what is no longer retrieved?",
         (Clause(change("R@100"), "<", 0.0), Clause(change("P@10"), "within", SAME)),
         "aievals.co: any significant drop; what counts as the same is suggested", "other",
         refines="retrieve"),
    Rule("ranking-regression", "RR falls, R@100 does not",
         "the order got worse",
         "look at the reranker and at how scores are combined",
         (Clause(change("RR"), "<", 0.0), Clause(change("R@100"), "within", SAME)),
         "aievals.co: any significant drop; what counts as the same is suggested", "other",
         refines="rerank"),
    Rule("unstable", "the mean rises, many queries fall",
         "the gain is not stable",
         "look at the queries that lose; count wins and losses (idealist compare)",
         (RISES, Clause(sample.HURT, ">", 1 / 3)),
         "Dinçer et al. 2016 on the risk of losing; threshold suggested", "other"),
    Rule("risky", "the mean rises, URisk is below 0",
         "the losses, counted twice, are more than the gains",
         "look at the queries that lose, if losing one hurts more than winning one helps",
         (RISES, Clause(sample.URISK, "<", 0.0)),
         "Wang et al. 2012, doi:10.1145/2348283.2348385", "other"),
    Rule("few-queries", "the mean rises by a few queries",
         "three queries make most of the gain",
         "look at the three, and at the mean without them",
         (RISES, Clause(sample.THREE, ">", 0.5)),
         "threshold suggested", "other"),
    Rule("tests", "t-test and randomisation test disagree",
         "few queries differ, or a few by much: t is not to be relied on",
         "believe the randomisation test (idealist compare), and look at the queries that differ",
         (Clause(sample.TESTS, ">", 2.0),),
         "Smucker et al. 2007, doi:10.1145/1321440.1321528; threshold suggested", "other"),
    Rule("void", "significant but tiny",
         "the run is better, by too little to matter",
         "do not pay for it with time or money",
         (RISES, Clause(change(MAIN), "within", ROPE)),
         "Ihemelandu and Ekstrand 2023, SIGIR; region suggested", "other"),
    Rule("under-powered", "not significant, and the interval is wide",
         "the data cannot tell, which does not mean that the runs are equal",
         "add queries, or look for a larger change (idealist power)",
         (Clause(change(MAIN), "open", ROPE),),
         "a t-test of 50 queries finds an effect of d_z 0.40 in 4 of 5 cases; region suggested",
         "other"),
    Rule("noisy-win", "RR rises, nDCG does not",
         "RR varies far more than other measures, so the rise may well be noise",
         "ask for some 560 queries before believing a change of 0.05 in RR",
         (Clause(change("RR"), ">", 0.0), Clause(change(MAIN), "open", 0.0)),
         f"variances of {DL21}", "other"),
    Rule("split", "one run is better on a slice of the queries, the other on another",
         "they are good at different queries, such as key words and paraphrases",
         "combine them, as hybrid search does, or choose between them by the kind of query",
         (OnSlice(">"), OnSlice("<")),
         "practice; each interval is as wide as so many slices ask for", "slices"),
)

OF_CONTEXT: tuple[Rule, ...] = (
    Rule("context-empty", "contexts hold nothing relevant, where the candidates would fill them",
         "the model is asked without the answer, which was retrieved further down",
         "rerank the candidates, or give more passages",
         (Clause(in_context("fillable", "the share of contexts with nothing relevant, where "
                            "the list has something further down,"), ">", 0.10),),
         "threshold suggested", "context", refines="rerank"),
    Rule("misleading", "many contexts hold a passage that misleads",
         "the model may answer from it, even where the right passage stands beside it",
         "leave such passages out: filter or rerank by what answers, not by what is similar; "
         "give fewer",
         (Clause(in_context("misled", "the share of contexts with a misleading passage"), ">",
                 1 / 3),),
         "Amiraz et al. 2025, arXiv:2505.06914, on distracting passages; threshold suggested",
         "marks"),
    Rule("middle", "the first relevant passage often stands in the middle",
         "language models overlook what stands in the middle of a long context",
         "put the best passages first and last, or give fewer",
         (Clause(in_context("middle", "the share of contexts whose first relevant passage is in "
                            "the middle third"), ">", 1 / 3),),
         "Liu et al. 2024, arXiv:2307.03172; threshold suggested: what chance would give",
         "context"),
    Rule("distracting", "UDCG is below one half",
         "the context misleads the model more than it helps",
         "leave out passages that mislead; give fewer",
         (Clause(in_context("worth", "UDCG of the context"), "<", 0.5),),
         "Trappolini et al. 2026, arXiv:2510.21440: a half is what an empty effect is worth",
         "signal"),
)
# fmt: on

#: All of them, in the order in which they are looked at.
RULES: tuple[Rule, ...] = (*OF_ONE, *OF_TWO, *OF_CONTEXT)
