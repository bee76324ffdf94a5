"""The index of measures: all of them by family, and the module that defines each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from idealist.measures.base import Measure


#: The module of each measure, family by family. A new measure is added here.
GROUPS: dict[str, dict[str, str]] = {
    "Graded relevance": {
        "cumulative": "nDCG DCG CG IDCG nDCGMinMax",
        "gain_averages": "nDCGRel RnDCG G binG AverageGain ARP",
        "qmeasure": "Q NCU OMeasure PMeasure PPlus",
    },
    "Precision and recall": {
        "average_precision": "AP GMAP yaap IPrec IAP",
        "first_relevant": "RR Success",
        "sets": "P R F SetAP AllHit Rprec FallOut Utility",
    },
    "User models": {
        "stopping": "ERR RBP RBPResidual nERR PFound",
        "cwl_models": "CWL SDCG INSQ INST SET NPV NERR8 NERR9 NERR10 NERR11",
        "cwl_costs": "BPM IFT TBG UMeasure",
        "udcg": "UDCG",
    },
    "Pairs and preferences": {
        "pairs": "Accuracy OPA bpref GMbpref Compat",
        "trec_preferences": (
            "prefs_simp prefs_pair prefs_avgjg prefs_num_prefs_poss prefs_num_prefs_ful"
        ),
    },
    "Sampled judgments": {"samples": "infAP xinfAP statAP infNDCG"},
    "Diversity and several judges": {
        "diversity": "alpha_nDCG alpha_DCG nERR_IA ERR_IA nNRBP NRBP AP_IA P_IA StRecall",
        "groups": "AP_avgjg P_avgjg Rprec_avgjg",
    },
    "Evidence in chunks": {"covered_text": "EvidenceRecall EvidencePrecision EvidenceIoU"},
    "Coverage and counts": {"judged": "Judged Unjudged NumRet NumRel NumRelRet NumNonRelRet NumQ"},
}
_HOME = {
    name: module
    for modules in GROUPS.values()
    for module, names in modules.items()
    for name in names.split()
}


class _Index(Mapping[str, "type[Measure]"]):
    """The measures by name, each imported on first use, because importing all is slow."""

    def __getitem__(self, name: str) -> type[Measure]:
        found: type[Measure] = getattr(import_module(f"idealist.measures.{_HOME[name]}"), name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in _HOME

    def __iter__(self) -> Iterator[str]:
        return iter(_HOME)

    def __len__(self) -> int:
        return len(_HOME)


#: Every measure by its name.
MEASURES = _Index()


def group_of(name: str) -> str:
    """Return the family a measure is listed in."""
    return next(group for group, modules in GROUPS.items() if _HOME[name] in modules)
