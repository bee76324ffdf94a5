"""Conventions: the rules by which a tool computes its numbers, each under the tool's name."""

from __future__ import annotations

import re

from idealist.conventions.convention import Convention
from idealist.conventions.learning import CATBOOST, LIGHTGBM, RAX, SKLEARN, TF_RANKING, XGBOOST
from idealist.conventions.products import (
    ELASTICSEARCH,
    HAYSTACK,
    LLAMA_INDEX,
    MLFLOW,
    OPENSEARCH,
    PHOENIX,
    PYVESPA,
    QUEPID,
    QUEPID_CUT,
    SENTENCE_TRANSFORMERS,
)
from idealist.conventions.toolkits import (
    BEIR,
    BURGES,
    CWL_EVAL,
    GDEVAL,
    HELM,
    HELM_TREC,
    IR_MEASURES,
    JARVELIN_KEKALAINEN,
    MSMARCO,
    MTEB,
    NDEVAL,
    NTCIREVAL,
    PYNDEVAL,
    PYTREC_EVAL,
    RANX,
    SAMPLE_EVAL,
    STATAP,
    TORCHMETRICS,
    TREC_EVAL,
    TREC_EVAL_9,
)
from idealist.errors import UsageError, nearest

__all__ = ["CONVENTIONS", "DEFAULT", "Convention", "convention"]

#: Every convention by its name. Adding one means adding it here.
CONVENTIONS: dict[str, Convention] = {
    one.name: one
    for one in (
        TREC_EVAL, TREC_EVAL_9, PYTREC_EVAL, IR_MEASURES, RANX, GDEVAL, NDEVAL, PYNDEVAL, CWL_EVAL,
        BEIR, MTEB, HELM, HELM_TREC,
        MSMARCO, SKLEARN, TORCHMETRICS, LIGHTGBM, XGBOOST, CATBOOST, RAX, TF_RANKING,
        SENTENCE_TRANSFORMERS, LLAMA_INDEX, HAYSTACK, MLFLOW, PHOENIX, PYVESPA,
        ELASTICSEARCH, OPENSEARCH, QUEPID, QUEPID_CUT,
        SAMPLE_EVAL, STATAP, NTCIREVAL,
        BURGES, JARVELIN_KEKALAINEN,
    )
}  # fmt: skip
DEFAULT = TREC_EVAL.name
#: Other usual spellings of tools.
USUAL = {
    "treceval9": "trec_eval-9", "pytreceval": "pytrec_eval", "ms_marco_eval": "msmarco",
    "marco": "msmarco", "cwl": "cwl_eval", "sbert": "sentence-transformers", "tfr": "tf-ranking",
    "vespa": "pyvespa", "es": "elasticsearch",
}  # fmt: skip


def convention(given: str | Convention) -> Convention:
    """Find a convention by its name or its tool's, whatever the case, hyphens and blanks.

    >>> convention("scikit-learn").name, convention("trec-eval").name, convention("MS MARCO").name
    ('sklearn', 'trec_eval', 'msmarco')
    """
    if isinstance(given, Convention):
        return given
    folded = {_folded(one.tool): one for one in reversed(CONVENTIONS.values())}
    folded |= {_folded(name): CONVENTIONS[own] for name, own in USUAL.items()}
    folded |= {_folded(name): one for name, one in CONVENTIONS.items()}
    if _folded(given) not in folded:
        raise UsageError(f"there is no convention {given!r}", nearest(given, CONVENTIONS))
    return folded[_folded(given)]


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())
