# Where each public name lives: type checkers read it here, and so does __init__.py.
from typing import Any

from idealist._version import __version__
from idealist.auditing import Audit, PoolTeams, audit
from idealist.bounding import (
    Bounds,
    Judging,
    TieBounds,
    bounds,
    bounds_of_difference,
    tie_bounds,
)
from idealist.bundling.result_bundle import Bundle, bundle, read_bundle
from idealist.clicks.click_log import ClickLog, read_clicks
from idealist.clicks.click_model import ClickModel, click_model
from idealist.clicks.model_comparison import ClickModelComparison, compare_click_models
from idealist.collecting.collect_runs import collect
from idealist.collecting.collection_result import Collection
from idealist.comparing import Comparison, Pair, compare, compare_evaluations
from idealist.comparing.order_agreement import RBO, rbo, rbo_by_query
from idealist.comparing.reproduction import Reproduction, reproduce
from idealist.comparing.sample_sizes import Sizes, plan_queries
from idealist.conventions import CONVENTIONS, Convention
from idealist.conventions.signature import Signature
from idealist.data import Qrels, Queries, Run, Scale
from idealist.diagnosing import Diagnosis, diagnose
from idealist.errors import IdealistError, InputError, UsageError
from idealist.evaluating.curves import Curves, depth_curve, precision_recall_curve
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluator import Evaluator, evaluate
from idealist.evaluating.latencies import Latencies
from idealist.explaining.difference_explainer import DifferenceExplainer, explain_difference
from idealist.explaining.difference_explanation import Change, DifferenceExplanation
from idealist.explaining.explainer import Explainer, explain
from idealist.explaining.explanation import Explanation, Worst
from idealist.explaining.worsened_queries import WorsenedQueries
from idealist.formats import (
    read_arrays,
    read_chunks,
    read_evidence,
    read_pairs,
    read_preferences,
    read_prels,
    read_qrels,
    read_queries,
    read_run,
    read_strata,
)
from idealist.formats.evidence_gold import evidence_documents
from idealist.formats.id_mapping import map_ids
from idealist.formats.writing import write_qrels, write_run
from idealist.fusing.explained_fusion import ExplainedFusion, explain_fusion
from idealist.fusing.fusing import fuse
from idealist.fusing.fusion import Fusion
from idealist.fusing.methods import parse_fusion
from idealist.fusing.tuning.run_selection import RunSelection, select_runs
from idealist.fusing.tuning.tuner import tune
from idealist.fusing.tuning.tuning_result import Tuning
from idealist.gating import (
    Gate,
    GatePlan,
    assert_not_worse,
    gate,
    gate_evaluations,
    save_baseline,
)
from idealist.interleaving.click_analysis import compare_by_clicks
from idealist.interleaving.click_comparison import ClickComparison
from idealist.interleaving.interleaved import Interleaved, InterleavedList, interleave
from idealist.judging.agreeing.agreement import agreement
from idealist.judging.agreeing.agreement_report import Agreement
from idealist.judging.choosing.pooling import Pooling, pool
from idealist.judging.choosing.query_samples import QuerySample, sample_queries
from idealist.judging.choosing.sample_estimates import SampleEstimates, sample_estimates
from idealist.judging.correcting import corrected
from idealist.judging.corrections import Corrected
from idealist.judging.llm.duels import ModelPreferences
from idealist.judging.llm.model_judging import estimate_model_judging, judge_by_model
from idealist.judging.llm.model_results import JudgingEstimate, ModelJudging
from idealist.judging.llm.preferring import prefer_by_model
from idealist.judging.llm.probe_results import JudgeProbe
from idealist.judging.llm.probes import probe_judge
from idealist.judging.store import Store
from idealist.judging.store_records import Judgment
from idealist.measures import Measure, measure, parse
from idealist.measures.average_precision import AP
from idealist.measures.cumulative import CG, DCG, nDCG
from idealist.measures.first_relevant import RR, Success
from idealist.measures.judged import Judged, NumQ, NumRel, NumRelRet, NumRet, Unjudged
from idealist.measures.pairs import bpref
from idealist.measures.sets import AllHit, F, P, R, Rprec
from idealist.measures.stopping import ERR, RBP, RBPResidual
from idealist.measures.udcg import UDCG
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import listing, rank
from idealist.reconciling import Reconciliation, reconcile
from idealist.reconciling.attribution import Attribution, attribute
from idealist.rendering.doubt import Doubt
from idealist.reporting import Report, report
from idealist.verifying import Verification, verify

__all__ = [
    "AP",
    "CG",
    "CONVENTIONS",
    "DCG",
    "ERR",
    "RBO",
    "RBP",
    "RR",
    "UDCG",
    "Agreement",
    "AllHit",
    "Attribution",
    "Audit",
    "Bounds",
    "Bundle",
    "Change",
    "ClickComparison",
    "ClickLog",
    "ClickModel",
    "ClickModelComparison",
    "Collection",
    "Comparison",
    "Convention",
    "Corrected",
    "Curves",
    "Diagnosis",
    "DifferenceExplainer",
    "DifferenceExplanation",
    "Doubt",
    "Evaluation",
    "Evaluator",
    "ExplainedFusion",
    "Explainer",
    "Explanation",
    "F",
    "Fusion",
    "Gate",
    "GatePlan",
    "IdealistError",
    "InputError",
    "Interleaved",
    "InterleavedList",
    "JudgeProbe",
    "Judged",
    "Judging",
    "JudgingEstimate",
    "Judgment",
    "Latencies",
    "Measure",
    "ModelJudging",
    "ModelPreferences",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "Pair",
    "Placements",
    "PoolTeams",
    "Pooling",
    "Protocol",
    "Qrels",
    "Queries",
    "QuerySample",
    "R",
    "RBPResidual",
    "Reconciliation",
    "Report",
    "Reproduction",
    "Rprec",
    "Run",
    "RunSelection",
    "SampleEstimates",
    "Scale",
    "Signature",
    "Sizes",
    "Store",
    "Success",
    "TieBounds",
    "Tuning",
    "Unjudged",
    "UsageError",
    "Verification",
    "WorsenedQueries",
    "Worst",
    "__version__",
    "agreement",
    "assert_not_worse",
    "attribute",
    "audit",
    "bounds",
    "bounds_of_difference",
    "bpref",
    "bundle",
    "click_model",
    "collect",
    "compare",
    "compare_by_clicks",
    "compare_click_models",
    "compare_evaluations",
    "corrected",
    "depth_curve",
    "diagnose",
    "estimate_model_judging",
    "evaluate",
    "evidence_documents",
    "explain",
    "explain_difference",
    "explain_fusion",
    "fuse",
    "gate",
    "gate_evaluations",
    "interleave",
    "judge_by_model",
    "listing",
    "map_ids",
    "measure",
    "nDCG",
    "parse",
    "parse_fusion",
    "plan_queries",
    "pool",
    "precision_recall_curve",
    "prefer_by_model",
    "probe_judge",
    "rank",
    "rbo",
    "rbo_by_query",
    "read_arrays",
    "read_bundle",
    "read_chunks",
    "read_clicks",
    "read_evidence",
    "read_pairs",
    "read_preferences",
    "read_prels",
    "read_qrels",
    "read_queries",
    "read_run",
    "read_strata",
    "reconcile",
    "report",
    "reproduce",
    "sample_estimates",
    "sample_queries",
    "save_baseline",
    "select_runs",
    "tie_bounds",
    "tune",
    "verify",
    "write_qrels",
    "write_run",
]  # fmt: skip

def __getattr__(name: str) -> Any: ...  # the other measures
