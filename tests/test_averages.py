"""Averages over lists, as TF-Ranking documents them."""

from __future__ import annotations

import pytest

import idealist as il

#: Labels and scores of TF-Ranking's examples of ARP, and the value of each list.
EXAMPLES = [
    ([0.0, 1.0, 1.0], [3.0, 1.0, 2.0], 2.5),
    ([0.0, 1.0], [2.0, 1.0], 2.0),
    ([1.0, 2.0, 0.0], [2.0, 5.0, 4.0], 5 / 3),
]


def lists(examples: list[tuple[list[float], list[float], float]]) -> tuple[il.Qrels, il.Run]:
    qrels = {f"q{i}": {f"d{j}": g for j, g in enumerate(one[0])} for i, one in enumerate(examples)}
    run = {f"q{i}": {f"d{j}": s for j, s in enumerate(one[1])} for i, one in enumerate(examples)}
    return il.read_qrels(qrels), il.read_run(run)


def test_arp_as_tf_ranking_documents_it() -> None:
    result = il.evaluate(*lists(EXAMPLES), "ARP", convention="tf-ranking")
    assert result.values["ARP"].tolist() == pytest.approx([value for _, _, value in EXAMPLES])


def test_the_mean_of_tf_ranking_weighs_lists_by_their_gains() -> None:
    """Its second example is of two lists, with the mean 1.75."""
    qrels, run = lists(EXAMPLES[1:])
    weights = {"q0": 1, "q1": 3}
    assert il.evaluate(qrels, run, "ARP", weights=weights)["ARP"] == pytest.approx(1.75)


def test_a_list_without_gains_is_left_out() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 0, "b": 2}}
    assert il.evaluate(qrels, {"q1": ["x", "a"], "q2": ["a"]}, "ARP")["ARP"] == 2
