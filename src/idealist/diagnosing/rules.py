"""The rules, as data; those about one run are here."""

from __future__ import annotations

from idealist.diagnosing.evidence import Clause
from idealist.diagnosing.rule import DL21, Rule
from idealist.diagnosing.rules_of_context import OF_CONTEXT
from idealist.diagnosing.rules_of_two import OF_TWO, ROPE
from idealist.diagnosing.samples import (
    CAPPED,
    CONDENSED,
    DUPLICATES,
    LENGTH,
    MAIN,
    NONE_RELEVANT,
    RECALL,
    TIES,
    gap,
    reranking,
    value,
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
