"""Every fusion method by name, and the names that other tools have for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from idealist.errors import UsageError, nearest
from idealist.fusing import engine_fusion, rank_fusion, score_fusion, trained_fusion
from idealist.fusing.fusion import Fusion
from idealist.notation import call

#: The methods of each module, family by family. A new method is added here.
FAMILIES: dict[str, tuple[type[Fusion], ...]] = {
    "By ranks": (
        rank_fusion.RRF, rank_fusion.WRRF, rank_fusion.RBC, rank_fusion.ISR, rank_fusion.LogISR,
        rank_fusion.LogNISR, rank_fusion.Borda, rank_fusion.WBorda, rank_fusion.Condorcet,
        rank_fusion.WCondorcet,
    ),
    "By scores": (
        score_fusion.CombSUM, score_fusion.CombMIN, score_fusion.CombMAX, score_fusion.CombMED,
        score_fusion.CombANZ, score_fusion.CombMNZ, score_fusion.CombGMNZ, score_fusion.WSUM,
        score_fusion.WMNZ, score_fusion.Mixed,
    ),
    "As search engines do": engine_fusion.METHODS,
    "Trained on judgments": (
        trained_fusion.BayesFuse, trained_fusion.MAPFuse, trained_fusion.PosFuse,
        trained_fusion.ProbFuse, trained_fusion.SegFuse, trained_fusion.SlideFuse,
    ),
}  # fmt: skip
#: What methods are made from, which are none themselves.
BASES = (Fusion, rank_fusion.ByRank, trained_fusion.Trained)
#: Every method by its name.
FUSIONS: dict[str, type[Fusion]] = {
    one.__name__: one for methods in FAMILIES.values() for one in methods
}
#: What others call them, in lower case: ranx, the engines and people.
SPELLINGS = {
    "sum": "CombSUM", "min": "CombMIN", "max": "CombMAX", "med": "CombMED", "median": "CombMED",
    "anz": "CombANZ", "mnz": "CombMNZ", "gmnz": "CombGMNZ", "log_isr": "LogISR",
    "logn_isr": "LogNISR", "bordafuse": "Borda", "w_bordafuse": "WBorda",
    "weighted_borda": "WBorda", "weighted_bordafuse": "WBorda", "w_condorcet": "WCondorcet",
    "weighted_condorcet": "WCondorcet", "condorcetfuse": "Condorcet", "weighted_sum": "WSUM",
    "weighted_rrf": "WRRF", "reciprocal_rank_fusion": "RRF",
} | engine_fusion.SPELLINGS  # fmt: skip
_FOLDED = {name.lower(): name for name in FUSIONS} | SPELLINGS
#: Parameters and values of ranx, with ours.
_PARAMETERS = {"n_segments": "parts"}
_NORMS = {
    "min_max": "min-max", "minmax": "min-max", "zmuv": "z-score", "z_score": "z-score",
    "zscore": "z-score", "min_max_inverted": "min-max-inverted", "l2_norm": "l2",
}  # fmt: skip


def parse_fusion(written: str) -> Fusion:
    """Parse a fusion method from text.

    >>> parse_fusion("rrf"), parse_fusion("RRF(k=10)"), parse_fusion("wsum(weights=(0.7,0.3))")
    (RRF, RRF(k=10), WSUM(weights=(0.7,0.3)))
    >>> parse_fusion("w_bordafuse"), parse_fusion("sum(norm=zmuv)")
    (WBorda, CombSUM(norm=z-score))
    """
    try:
        name, inside = call(written)
    except ValueError:
        raise UsageError(f"{written!r} cannot be read", "write RRF, or RRF(k=10)") from None
    pairs = [part.partition("=") for part in inside]
    if any(not sign for _, sign, _ in pairs):
        hint = "name each parameter: RRF(k=10)"
        raise UsageError(f"{written!r} cannot be read", hint)
    parameters = {key.strip(): value.strip() for key, _, value in pairs}
    if len(parameters) < len(pairs):
        raise UsageError(f"{written!r} sets a parameter twice", "set each parameter once")
    return make_fusion(name, parameters)


def make_fusion(name: str, parameters: Mapping[str, Any]) -> Fusion:
    """Make a method with these parameters; refuse what it does not have."""
    cls = FUSIONS.get(_FOLDED.get(name.lower(), ""))
    if cls is None:
        known = [*FUSIONS, *SPELLINGS]
        raise UsageError(f"there is no fusion method {name!r}", nearest(name, known, else_=FUSIONS))
    given = {_PARAMETERS.get(key, key): value for key, value in parameters.items()}
    if "norm" in given:
        asked = given["norm"] or "none"
        given["norm"] = (_NORMS | cls.norms).get(str(asked), asked)
    for key in given.keys() - cls.parameters().keys():
        hint = nearest(key, cls.parameters())
        if key == "weights":
            hint = "WRRF, WSUM and others take weights: see idealist fuse --list"
        if key == "alpha" and "weights" in cls.parameters():
            hint = "give a weight for each run, in their order: weights=(1-alpha,alpha)"
        raise UsageError(f"{cls.__name__} has no parameter {key!r}", hint)
    return cls(**given)


def stated(method: Any) -> frozenset[str]:
    """Name the parameters that a method states, in its text or by other values than the defaults.

    >>> sorted(stated("rrf(k=60)")), sorted(stated("rrf"))
    (['k'], [])
    """
    if isinstance(method, str):
        pairs = (part.partition("=") for part in call(method)[1])
        return frozenset(_PARAMETERS.get(key.strip(), key.strip()) for key, _, _ in pairs)
    return frozenset(method.changed()) if isinstance(method, Fusion) else frozenset()


def as_fusion(method: Any, runs: Sequence[str] = (), **parameters: Any) -> Fusion:
    """Accept a method, its class or its text, and parameters that it leaves open.

    Weights may be given by the names of the runs.

    >>> as_fusion("wsum", ("bm25", "dense"), weights={"dense": 0.7, "bm25": 0.3})
    WSUM(weights=(0.3,0.7))
    """
    if isinstance(method, type) and issubclass(method, Fusion):
        method = method()
    if isinstance(method, str):
        method = parse_fusion(method)
    if not isinstance(method, Fusion) or type(method) in BASES:
        raise UsageError(f"{method!r:.60} is not a fusion method", "give 'rrf', or RRF(k=10)")
    if isinstance(weights := parameters.get("weights"), Mapping):
        parameters["weights"] = _in_order(weights, runs)
    for key in parameters.keys() & method.changed().keys():
        raise UsageError(f"{key} is set twice", f"leave it out of {method}")
    if not parameters:
        return method
    return make_fusion(method.name, method.changed() | parameters)


def _in_order(weights: Mapping[Any, Any], runs: Sequence[str]) -> list[Any]:
    """Put weights by name into the order of the runs."""
    if weights.keys() != set(runs):
        hint = f"give one weight for each of {', '.join(runs)}"
        raise UsageError(f"there are weights for {', '.join(map(str, weights)) or 'nothing'}", hint)
    return [weights[run] for run in runs]
