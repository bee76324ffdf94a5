"""Rules that compare a run with another one."""

from __future__ import annotations

from idealist.diagnosing.evidence import Clause
from idealist.diagnosing.rule import DL21, Rule
from idealist.diagnosing.samples import MAIN
from idealist.diagnosing.samples_of_two import HURT, TESTS, THREE, URISK, change
from idealist.diagnosing.slices import OnSlice

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
