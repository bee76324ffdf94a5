"""Fusion as search engines define it, under their names.

What other engines do is a method of the literature: RRF is what Elasticsearch, OpenSearch, Vespa,
MongoDB and LangChain do, WRRF with weights, and CombSUM and WSUM are convex combinations.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from idealist.data.columns import Floats
from idealist.fusing.candidates import Candidates
from idealist.fusing.fusion import Fusion, Learnt, norm, weights
from idealist.fusing.rank_fusion import ByRank
from idealist.fusing.score_fusion import WSUM
from idealist.notation import Value, axis, number

Grid = dict[str, tuple[Value, ...]]


class DBSF(Fusion):
    """Qdrant's distribution-based score fusion: scores in terms of three deviations.

    Formula: Σ (s - (m - 3 d)) / 6 d, where m is the mean of the list and d its deviation (n - 1);
    ½ where all its scores are equal

    Reference: Qdrant 1.11, lib/segment/src/common/score_fusion.rs
    """

    norm: str = norm("distribution")


class QdrantRRF(ByRank):
    """Qdrant's reciprocal rank fusion: its k counts from the rank 0, and weights stretch ranks.

    Formula: Σ 1 / (rank / w + k - 1); nothing from a run of weight 0

    Reference: Qdrant 1.16, lib/segment/src/common/reciprocal_rank_fusion.rs
    """

    grid: ClassVar[Grid] = {"k": (2, 10, 60), "weights": ()}

    k: float = axis(2, number(1, 1e9), "how little the first ranks stand out")
    weights: str = weights()

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Give the reciprocal of the stretched rank."""
        weight = self.weight(candidates.runs)[candidates.run]
        with np.errstate(divide="ignore"):
            return np.where(weight > 0, 1 / (candidates.rank / weight + self.k - 1), 0.0)


class RankedFusion(ByRank):
    """Weaviate's rankedFusion.

    Formula: Σ w / (59 + rank)

    Reference: Weaviate, usecases/traverser/hybrid/hybrid_fusion.go
    """

    grid: ClassVar[Grid] = {"weights": ()}

    weights: str = weights()

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Give the weighted reciprocal rank."""
        return self.weight(candidates.runs)[candidates.run] / (59 + candidates.rank)


class RelativeScoreFusion(WSUM):
    """Weaviate's relativeScoreFusion: its alpha is the weight of vectors, 1 - alpha of keywords.

    Formula: Σ w (s - min) / (max - min); w where all scores of the list are equal

    Reference: Weaviate, usecases/traverser/hybrid/hybrid_fusion.go
    """

    grid: ClassVar[Grid] = {"weights": ()}

    norm: str = norm("relative")


class Linear(WSUM):
    """Elasticsearch's linear retriever, with its normalizer none, minmax or l2_norm.

    Formula: Σ w s

    Reference: Elasticsearch 9.1, LinearRetrieverBuilder.java
    """

    norms: ClassVar = {"minmax": "elastic-minmax", "min_max": "elastic-minmax"}

    grid: ClassVar[Grid] = {"norm": ("elastic-minmax", "l2"), "weights": ()}

    norm: str = norm("none")


#: What OpenSearch's normalisation processor calls its normalisations.
OPENSEARCH = {"min_max": "opensearch-min-max", "z_score": "opensearch-z-score"}


class ArithmeticMean(WSUM):
    """OpenSearch's arithmetic_mean; a run that did not find a document counts as 0.

    Formula: Σ w s / Σ w

    Reference: OpenSearch neural-search 3, ArithmeticMeanScoreCombinationTechnique.java
    """

    norms: ClassVar = OPENSEARCH
    adds_up: ClassVar[bool] = False
    grid: ClassVar[Grid] = {
        "norm": ("opensearch-min-max", "l2", "opensearch-z-score"), "weights": (),
    }  # fmt: skip

    norm: str = norm("opensearch-min-max")

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Weigh the scores; those below 0 do not count."""
        return np.where(candidates.score >= 0, super().given(candidates, learnt), 0.0)

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Divide by the weights of all runs, but those whose score is below 0."""
        weight = self.weight(candidates.runs)
        less = candidates.total(weight[candidates.run] * (candidates.score < 0))
        return _over(candidates.total(given), weight.sum() - less)


class GeometricMean(WSUM):
    """OpenSearch's geometric_mean, over the runs that found a document.

    Formula: exp(Σ w log s / Σ w), over scores above 0

    Reference: OpenSearch neural-search 3, GeometricMeanScoreCombinationTechnique.java
    """

    norms: ClassVar = OPENSEARCH
    adds_up: ClassVar[bool] = False
    grid: ClassVar[Grid] = {"norm": ("opensearch-min-max", "l2"), "weights": ()}

    norm: str = norm("opensearch-min-max")

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Weigh the logarithms."""
        positive = candidates.score > 0
        logs = np.log(np.where(positive, candidates.score, 1.0))
        return self.weight(candidates.runs)[candidates.run] * logs

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Divide by the weights of these runs."""
        weight = _counting(self, candidates)
        return np.where(weight > 0, np.exp(_over(candidates.total(given), weight)), 0.0)


class HarmonicMean(WSUM):
    """OpenSearch's harmonic_mean, over the runs that found a document.

    Formula: Σ w / Σ (w / s), over scores above 0

    Reference: OpenSearch neural-search 3, HarmonicMeanScoreCombinationTechnique.java
    """

    norms: ClassVar = OPENSEARCH
    adds_up: ClassVar[bool] = False
    grid: ClassVar[Grid] = {"norm": ("opensearch-min-max", "l2"), "weights": ()}

    norm: str = norm("opensearch-min-max")

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Divide the weights by the scores."""
        positive = candidates.score > 0
        weight = self.weight(candidates.runs)[candidates.run]
        return np.where(positive, weight / np.where(positive, candidates.score, 1.0), 0.0)

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Divide the weights of these runs by the sum."""
        return _over(_counting(self, candidates), candidates.total(given))


def _counting(method: Fusion, candidates: Candidates) -> Floats:
    """Sum the weights of the runs that give a document a score above 0."""
    weight = method.weight(candidates.runs)[candidates.run]
    return candidates.total(weight * (candidates.score > 0))


def _over(above: Floats, below: Floats) -> Floats:
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), 0.0)


METHODS: tuple[type[Fusion], ...] = (
    DBSF, QdrantRRF, RankedFusion, RelativeScoreFusion, Linear, ArithmeticMean, GeometricMean,
    HarmonicMean,
)  # fmt: skip
#: What the engines call them, in lower case.
SPELLINGS = {
    "qdrant_rrf": "QdrantRRF", "ranked_fusion": "RankedFusion",
    "relative_score": "RelativeScoreFusion", "relative_score_fusion": "RelativeScoreFusion",
    "rsf": "RelativeScoreFusion", "arithmetic_mean": "ArithmeticMean",
    "geometric_mean": "GeometricMean", "harmonic_mean": "HarmonicMean",
    "distribution_based_score_fusion": "DBSF", "convex": "WSUM", "convex_combination": "WSUM",
}  # fmt: skip
