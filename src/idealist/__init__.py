"""idealist evaluates ranked retrieval: numbers that say exactly what they mean.

>>> import idealist as il
>>> from idealist import nDCG
>>> round((nDCG @ 5)([1, 3, 0, 2, 2]), 4)
0.7954

Names are imported when they are first used, so that ``idealist --help`` needs no NumPy.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from idealist._version import __version__

if TYPE_CHECKING:
    from idealist.auditing import Audit, audit
    from idealist.bounding import (
        Bounds,
        Judging,
        TieBounds,
        bounds,
        bounds_of_difference,
        tie_bounds,
    )
    from idealist.comparing import Comparison, Pair, compare, compare_evaluations
    from idealist.comparing.overlap import RBO, rbo, rbo_by_query
    from idealist.comparing.sample_sizes import Sizes, plan_queries
    from idealist.conventions import CONVENTIONS, Convention
    from idealist.conventions.signature import Signature
    from idealist.data import Qrels, Queries, Run, Scale
    from idealist.diagnosing import Diagnosis, diagnose
    from idealist.errors import IdealistError, InputError, UsageError
    from idealist.evaluating.evaluation import Evaluation
    from idealist.evaluating.evaluator import Evaluator, evaluate
    from idealist.explaining.explainer import Explainer, explain
    from idealist.explaining.explanation import Explanation
    from idealist.explaining.worst_queries import Worst
    from idealist.formats import (
        read_arrays,
        read_pairs,
        read_preferences,
        read_prels,
        read_qrels,
        read_queries,
        read_run,
        read_strata,
    )
    from idealist.formats.id_mapping import map_ids
    from idealist.formats.writing import write_qrels, write_run
    from idealist.gating import Gate, GatePlan, assert_not_worse, gate, save_baseline
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
    from idealist.report.doubt import Doubt


_HOMES = {
    "auditing": "Audit audit",
    "bounding": "Bounds Judging TieBounds bounds bounds_of_difference tie_bounds",
    "comparing": "Comparison Pair compare compare_evaluations",
    "comparing.overlap": "RBO rbo rbo_by_query",
    "comparing.sample_sizes": "Sizes plan_queries",
    "conventions": "CONVENTIONS Convention",
    "conventions.signature": "Signature",
    "data": "Qrels Queries Run Scale",
    "diagnosing": "Diagnosis diagnose",
    "errors": "IdealistError InputError UsageError",
    "evaluating.evaluation": "Doubt Evaluation",
    "evaluating.evaluator": "Evaluator evaluate",
    "explaining.explainer": "Explainer explain",
    "explaining.explanation": "Explanation",
    "explaining.worst_queries": "Worst",
    "formats": "read_arrays read_pairs read_preferences read_prels read_qrels read_queries "
    "read_run read_strata",
    "formats.id_mapping": "map_ids",
    "formats.writing": "write_qrels write_run",
    "gating": "Gate GatePlan assert_not_worse gate save_baseline",
    "measures": "AP AllHit CG DCG ERR F Judged Measure NumQ NumRel NumRelRet NumRet P R RBP "
    "RBPResidual RR Rprec Success UDCG Unjudged bpref measure nDCG parse",
    "protocol": "Protocol",
    "ranking.placements": "Placements",
    "ranking.ranked": "listing rank",
    "reconciling": "Reconciliation reconcile",
    "reconciling.attribution": "Attribution attribute",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "AP", "CG", "CONVENTIONS", "DCG", "ERR", "RBO", "RBP", "RR", "UDCG", "AllHit", "Attribution",
    "Audit", "Bounds", "Comparison", "Convention", "Diagnosis", "Doubt", "Evaluation", "Evaluator",
    "Explainer", "Explanation", "F", "Gate", "GatePlan", "IdealistError", "InputError",
    "Judged", "Judging", "Measure", "NumQ", "NumRel", "NumRelRet", "NumRet", "P", "Pair",
    "Placements", "Protocol", "Qrels", "Queries", "R", "RBPResidual", "Reconciliation", "Rprec",
    "Run", "Scale", "Signature", "Sizes", "Success", "TieBounds", "Unjudged", "UsageError", "Worst",
    "__version__", "assert_not_worse", "attribute", "audit", "bounds", "bounds_of_difference",
    "bpref", "compare", "compare_evaluations", "diagnose", "evaluate", "explain", "gate", "listing",
    "map_ids", "measure", "nDCG", "parse", "plan_queries", "rank", "rbo", "rbo_by_query",
    "read_arrays", "read_pairs", "read_preferences", "read_prels", "read_qrels", "read_queries",
    "read_run", "read_strata", "reconcile", "save_baseline", "tie_bounds", "write_qrels",
    "write_run",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    home = _HOME.get(name) or ("measures" if _is_measure(name) else None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"idealist.{home}"), name)
    globals()[name] = value
    return value


def _is_measure(name: str) -> bool:
    """Whether it is a measure that is not listed here; modules are not looked for among them."""
    if name.startswith("_") or find_spec(f"idealist.{name}") is not None:
        return False
    return name in import_module("idealist.measures").MEASURES


def __dir__() -> list[str]:
    return __all__
