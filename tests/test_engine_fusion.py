"""Fusion as search engines do it: numbers from their documentation and their own tests."""

from __future__ import annotations

from typing import Any

import pytest

import idealist as il

Lists = list[dict[str, float]]


def fused(runs: Lists, method: str, **parameters: Any) -> dict[str, float]:
    rows = il.fuse([{"q": one} for one in runs], method, **parameters).rows()
    assert rows.scores is not None
    return dict(zip(rows.documents, rows.scores.tolist(), strict=True))


def numbered(*lists: list[float]) -> Lists:
    """Name documents by their places, as Weaviate's tests do."""
    return [{str(i): score for i, score in enumerate(one)} for one in lists]


def normalised(scores: list[float], norm: str) -> list[float]:
    """Normalise one list; another, of another document, is fused with it."""
    found = fused([*numbered(scores), {"other": 1.0}], "sum", norm=norm)
    return [found[str(i)] for i in range(len(scores))]


@pytest.mark.parametrize(("method", "given"), [("rrf", {"k": 1}), ("wrrf", {"k": 1})])
def test_elasticsearch_rrf(method: str, given: dict[str, Any]) -> None:
    """The full example of the page on reciprocal rank fusion, with rank_constant 1."""
    query = {"4": 0.16152832, "3": 0.15876243, "2": 0.15350538, "1": 0.13963442}
    knn = {"3": 1.0, "2": 0.5, "1": 0.2, "5": 0.1}
    wanted = {"3": 0.8333, "2": 0.5833, "4": 0.5, "1": 0.45, "5": 0.2}
    assert fused([query, knn], method, **given) == pytest.approx(wanted, abs=5e-5)


@pytest.mark.parametrize(("runs", "norm", "weights", "wanted"), [
    ([{"1": 10.0}, {"4": 1.0}], "none", (0.5, 2), {"1": 5, "4": 2}),
    ([{"1": 10.0, "2": 5.0}, {"3": 5.0, "4": 4.0}], "none", (2, 3),
     {"1": 20, "3": 15, "4": 12, "2": 10}),
    ([{"1": 10.0, "2": 9.0, "3": 5.0}, {"4": 1.0}], "minmax", (10, 2),
     {"1": 10, "2": 8, "4": 2, "3": 0}),
])  # fmt: skip
def test_elasticsearch_linear(
    runs: Lists, norm: str, weights: tuple[float, ...], wanted: dict[str, float]
) -> None:
    """Its tests, 10_linear_retriever.yml."""
    assert fused(runs, "linear", norm=norm, weights=weights) == pytest.approx(wanted)


@pytest.mark.parametrize(("norm", "scores", "wanted"), [
    ("l2", [3.0, 4.0], [0.6, 0.8]), ("l2", [0.0, 0.0], [0, 0]), ("l2", [42.0], [1]),
    ("l2", [3e-12, 4e-12], [0.6, 0.8]),
    ("elastic-minmax", [7.0], [1]), ("elastic-minmax", [7.0, 7.0000005], [1, 1]),
    ("elastic-minmax", [7.0, 7.00001], [0, 1]),
    ("opensearch-min-max", [10.0, 9.0, 5.0], [1, 0.8, 0.001]),
    ("opensearch-min-max", [0.5], [1]), ("opensearch-min-max", [0.5, 0.5], [1, 1]),
    ("opensearch-min-max", [3e-12, 2e-12, 1e-12], [1, 0.5, 0.001]),
    ("opensearch-z-score", [2.0, 7.0, 8.0], [0.001, 0.41478074, 0.72586626]),
    ("opensearch-z-score", [4.0, 5.0, 10.0], [0.001, 0.001, 1.1406468]),
    ("opensearch-z-score", [1.0], [1]), ("opensearch-z-score", [0.3, 0.3, 0.3], [0.3, 0.3, 0.3]),
    ("opensearch-z-score", [1.0, 2.0, 3.0], [0.001, 3, 1]),
    ("opensearch-z-score", [0.0, 1000.001, 2000.0], [0.001, 2e-6 / 3, 1]),
    ("distribution", [1.0, 2.0, 3.0], [2 / 6, 3 / 6, 4 / 6]), ("distribution", [0.1], [0.5]),
    ("distribution", [0.1, 0.1, 0.1], [0.5, 0.5, 0.5]),
    ("distribution", [1e-12, 2e-12, 3e-12], [2 / 6, 3 / 6, 4 / 6]),
    ("relative", [1.0, 8.0, 6.0, 11.0], [0, 0.7, 0.5, 1]), ("relative", [0.1, 0.1], [1, 1]),
    ("relative", [3e-12, 2e-12, 1e-12], [1, 0.5, 0]),
])  # fmt: skip
def test_normalisation(norm: str, scores: list[float], wanted: list[float]) -> None:
    """However close scores are, an engine stretches them.

    Those of Elasticsearch are from L2ScoreNormalizerTests and MinMaxScoreNormalizer, of OpenSearch
    from ZScoreNormalizationTechniqueTests, of Qdrant from score_fusion.rs and of Weaviate from
    hybrid_fusion.go; others follow from these by hand.
    """
    assert normalised(scores, norm) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("score", [0.1, 123456789.1, 1e12 + 0.1])
def test_z_scores_of_equal_scores_are_0(score: float) -> None:
    """Though their mean, in floating point, is not quite what they are."""
    assert normalised([score] * 3, "z-score") == [0.0] * 3


@pytest.mark.parametrize(("method", "scores", "weights", "wanted"), [
    ("arithmetic_mean", [1.0, 0.5, 0.3], (0.45, 0.15, 0.4), 0.645),
    ("arithmetic_mean", [1.0, 0.0, 0.6], (0.45, 0.15, 0.4), 0.69),
    ("arithmetic_mean", [1.0, None, 0.6], (0.45, 0.15, 0.4), 0.69),
    ("arithmetic_mean", [1.0, -1.0, 0.6], "equal", 0.8),
    ("geometric_mean", [1.0, 0.5, 0.3], (0.45, 0.15, 0.4), 0.5567),
    ("geometric_mean", [1.0, 0.0, 0.6], (0.45, 0.15, 0.4), 0.7863),
    ("geometric_mean", [1.0, None, 0.6], (0.45, 0.15, 0.4), 0.7863),
    ("geometric_mean", [0.0, None, -1.0], "equal", 0),
    ("harmonic_mean", [1.0, 0.5, 0.3], (0.45, 0.15, 0.4), 0.48),
    ("harmonic_mean", [1.0, 0.0, 0.6], (0.45, 0.15, 0.4), 0.7611),
    ("harmonic_mean", [1.0, None, 0.6], (0.45, 0.15, 0.4), 0.7611),
    ("harmonic_mean", [0.0, None, -1.0], "equal", 0),
])  # fmt: skip
def test_opensearch_combination(
    method: str, scores: list[float | None], weights: Any, wanted: float
) -> None:
    """Its tests, such as ArithmeticMeanScoreCombinationTechniqueTests.

    A score that is missing is 0 there; it was -1 in the first versions, and did not count.
    """
    runs = [{"other": 1.0} | ({} if s is None else {"d": s}) for s in scores]
    found = fused(runs, method, norm="none", weights=weights)
    assert found["d"] == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(("method", "theirs", "name"), [
    ("linear", "minmax", "elastic-minmax"), ("linear", "l2_norm", "l2"),
    ("arithmetic_mean", "min_max", "opensearch-min-max"), ("arithmetic_mean", "l2", "l2"),
    ("arithmetic_mean", "z_score", "opensearch-z-score"),
    ("geometric_mean", "min_max", "opensearch-min-max"),
    ("harmonic_mean", "min_max", "opensearch-min-max"), ("wsum", "min_max", "min-max"),
])  # fmt: skip
def test_an_engine_means_its_own_normalisation(method: str, theirs: str, name: str) -> None:
    runs = [{"a": 7.0}, {"b": 3.0, "c": 1.0, "d": 2.5}]
    assert fused(runs, method, norm=theirs) == fused(runs, method, norm=name)


@pytest.mark.parametrize(("weights", "lists", "wanted"), [
    ((0.5, 0.5), [[1.0, 2, 3], [0.0, 1, 2]], [0, 0.5, 1]),
    ((0.5, 0.5), [[0.0, 2, 0.1], [0.0, 0.2, 2]], [0, 0.55, 0.525]),
    ((0.75, 0.25), [[0.5, 0.5, 0.0], [0.0, 0.01, 0.001]], [0.75, 1, 0.025]),
    ((0.75, 0.25), [[1.0, 1], [1.0, 2]], [0.75, 1]),
    ((0.75, 0.25), [[1.0, 2, 3, 4], [1.0, 2, 3]], [0, 0.375, 0.75, 0.75]),
])  # fmt: skip
def test_weaviate_relative_score_fusion(
    weights: tuple[float, ...], lists: list[list[float]], wanted: list[float]
) -> None:
    """Its tests, fusion_test.go."""
    found = fused(numbered(*lists), "relative_score_fusion", weights=weights)
    assert found == pytest.approx({str(i): score for i, score in enumerate(wanted)})


def test_weaviate_ranked_fusion() -> None:
    """The first document of a list has rank 0 there, and gets 1/60."""
    found = fused([{"a": 9.0, "b": 8.0}, {"b": 7.0}], "ranked_fusion", weights=(0.75, 0.25))
    assert found == pytest.approx({"a": 0.75 / 60, "b": 0.75 / 61 + 0.25 / 60})


@pytest.mark.parametrize(("weights", "wanted"), [
    ("equal", {"1": 13 / 12, "2": 10 / 12, "3": 7 / 12, "5": 1 / 2}),
    ((1, 1, 0), {"1": 1 / 3 + 1 / 2, "2": 1 / 2 + 1 / 3, "3": 1 / 4, "5": 0}),
])  # fmt: skip
def test_qdrant_rrf(weights: Any, wanted: dict[str, float]) -> None:
    """Its tests, reciprocal_rank_fusion.rs."""
    runs = [{"2": 0.9, "1": 0.8}, {"1": 0.7, "2": 0.6, "3": 0.5}, {"5": 0.9, "3": 0.5, "1": 0.4}]
    assert fused(runs, "qdrant_rrf", weights=weights) == pytest.approx(wanted)


def test_qdrant_weights_stretch_ranks() -> None:
    """What ranks second in the list of weight 3 is as good as at rank 2/3, from 1."""
    runs = [{"1": 0.9, "2": 0.8}, {"2": 0.9, "1": 0.8}]
    wanted = {"2": 1 / (2 / 3 + 1) + 1 / 2, "1": 1 / (1 / 3 + 1) + 1 / 3}
    assert fused(runs, "qdrant_rrf", weights=(3, 1)) == pytest.approx(wanted)


def test_qdrant_k_of_the_literature_is_61() -> None:
    runs = [{"a": 9.0, "b": 8.0, "c": 7.0}, {"c": 9.0, "d": 8.0}]
    assert fused(runs, "qdrant_rrf", k=61) == pytest.approx(fused(runs, "rrf", k=60))


def test_qdrant_dbsf() -> None:
    runs = [{"a": 1.0, "b": 2.0, "c": 3.0}, {"c": 5.0}]
    assert fused(runs, "dbsf") == pytest.approx({"c": 4 / 6 + 1 / 2, "b": 3 / 6, "a": 2 / 6})
