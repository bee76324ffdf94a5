"""Random label noise: kappa is what it says, redraws are measured as labels are, and it is real."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import idealist as il
from effort import SLOW
from idealist.cli.main import cli
from idealist.comparing.fragility import noise
from idealist.comparing.fragility.confusion import Confusion
from idealist.comparing.fragility.noise import label_noise
from idealist.comparing.fragility.relabelling import Relabelling
from idealist.data.columns import Floats
from idealist.errors import IdealistError, UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.significance.paired import differences, paired

EXAMPLES = Path(__file__).parents[1] / "examples"
FILES = [str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "reranked.run")]
Judged = dict[str, dict[str, float]]


def kappa_of(joint: Floats, power: float) -> float:
    """Compute Cohen's kappa with weights |i - j|^power; 0 counts every disagreement alike."""
    i, j = np.indices(joint.shape)
    weights = np.where(i == j, 0.0, np.abs(i - j) ** power)
    chance = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float(1 - (weights * joint).sum() / (weights * chance).sum())


@pytest.mark.parametrize("kappa", [0.0, 0.3, 0.5, 1.0])
def test_kappa_is_the_share_of_labels_that_are_kept(kappa: float) -> None:
    grades = np.repeat([0.0, 1.0, 2.0, 3.0], [50, 20, 25, 5])
    found = Confusion.of(kappa, grades)
    joint = found.shares * np.array([[0.5], [0.2], [0.25], [0.05]])
    assert joint.sum(axis=0) == pytest.approx([0.5, 0.2, 0.25, 0.05])
    for power in (0.0, 1.0, 2.0):
        assert kappa_of(joint, power) == pytest.approx(kappa)
    cut = np.add.reduceat(np.add.reduceat(joint, [0, 2], axis=0), [0, 2], axis=1)
    assert kappa_of(cut, 0.0) == pytest.approx(kappa)


def test_labels_are_drawn_as_often_as_the_shares_say() -> None:
    grades = np.repeat([0.0, 2.0], [3000, 1000])
    table = {0: {0: 70, 1: 20, 2: 10}, 2: {0: 1, 2: 3}}
    drawn = Confusion.of(table, grades).redrawn(grades, 10, np.random.default_rng(0))
    assert drawn.shape == (10, 4000)
    for rows, shares in ((slice(3000), (0.7, 0.2, 0.1)), (slice(3000, None), (0.25, 0.0, 0.75))):
        counts = Counter(drawn[:, rows].ravel().tolist())
        share = [counts[grade] / drawn[:, rows].size for grade in (0.0, 1.0, 2.0)]
        assert share == pytest.approx(shares, abs=0.015)


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "P@5", "R@5"])
def test_redrawn_labels_are_measured_as_judgments_are(measure: str) -> None:
    qrels, base, new = FILES
    evaluator = Evaluator(qrels, measure)
    runs = Relabelling.of(evaluator, measure, evaluator.ranked(base), evaluator.ranked(new))
    drawn = Confusion.of(0.5, runs.grades).redrawn(runs.grades, 3, np.random.default_rng(1))
    judged = evaluator.qrels
    for grades, apart in zip(drawn, runs.redrawn(drawn), strict=True):
        made = {q: dict(zip(judged.documents[a:b], grades[a:b].tolist(), strict=True))
                for q, a, b in judged.spans()}  # fmt: skip
        whole = il.read_qrels(made).on(il.Scale.of(3))
        x, y = (il.evaluate(whole, run, measure).by_query(measure) for run in (base, new))
        told = [y[query] - x[query] for query in judged.queries]
        assert apart == pytest.approx(told, abs=1e-12)


def noise_of(measure: str, agreement: Any = None, **options: Any) -> Any:
    qrels, *runs = FILES
    found = il.compare(qrels, runs, measure, fragility=True, agreement=agreement, **options)
    return found.pairs[0].fragility.noise


def test_perfect_agreement_changes_nothing_and_none_leaves_chance() -> None:
    same, none = noise_of("P@5", 1), noise_of("P@5", 0)
    assert (same.sign, same.significant) == (1.0, 1.0)
    assert none.significant < 0.2
    assert abs(none.difference) < 0.05
    assert noise_of("P@5", 0.5).difference == pytest.approx(same.difference / 2, abs=0.03)


def test_the_seed_decides_what_is_drawn() -> None:
    assert noise_of("nDCG@10") == noise_of("nDCG@10", 0.5, seed=0)
    assert noise_of("nDCG@10") != noise_of("nDCG@10", 0.5, seed=1)


def test_the_worst_case_is_called_so_and_has_random_noise_beside_it(tmp_path: Path) -> None:
    table = tmp_path / "agreement.csv"
    table.write_text("grade,0,1,2,3\n0,9,1,0,0\n1,1,8,1,0\n2,0,1,8,1\n3,0,0,1,9\n")
    words = ["compare", *FILES, "-m", "nDCG@10", "--fragility"]
    shown = CliRunner().invoke(cli, [*words, "--agreement", str(table)]).stdout
    flat = " ".join(shown.split())
    assert "Labels, at worst: it takes 2 labels to make it not significant" in flat
    assert "Labels redrawn at random, the agreement given: reranked is ahead in" in flat
    data = json.loads(CliRunner().invoke(cli, [*words, "-f", "json"]).stdout)
    found = data["pairs"][0]["fragility"]["noise"]
    assert found["agreement"] == "kappa 0.5"
    assert found["redraws"] == 500
    assert 0.2 < found["significant"] < found["sign"] <= 1


def test_a_table_is_read_from_every_shape(tmp_path: Path) -> None:
    rows = {0: {0: 3, 1: 1}, 1: {0: 1, 1: 1}}
    (tmp_path / "a.json").write_text(json.dumps(rows))
    (tmp_path / "a.csv").write_text("given,0,1\n0,0.75,0.25\n1,0.5,0.5\n")
    (tmp_path / "a.tsv").write_text("\t0\t1\n0\t3\t1\n1\t1\t1\n")
    grades = np.array([0.0, 1.0, 1.0])
    for given in (rows, *(str(tmp_path / f"a.{suffix}") for suffix in ("json", "csv", "tsv"))):
        assert Confusion.of(given, grades).shares.tolist() == [[0.75, 0.25], [0.5, 0.5]]
    assert Confusion.of("0.5", grades).name == "kappa 0.5"


@pytest.mark.parametrize(
    ("agreement", "words"),
    [
        (1.5, "cannot be 1.5"),
        (-0.1, "cannot be"),
        (float("nan"), "cannot be"),
        ({0: {0: 1}}, "no row for grade 1"),
        ({0: {0: -1}, 1: {1: 1}, 2: {2: 1}, 3: {3: 1}}, "not made of shares"),
        ({0: {0: 0}, 1: {1: 1}, 2: {2: 1}, 3: {3: 1}}, "not made of shares"),
        ({0: "x"}, "no table"),
        ("no-such-file.csv", "no-such-file.csv"),
        (True, "no table"),
    ],
)
def test_what_is_no_agreement_is_refused(agreement: Any, words: str) -> None:
    with pytest.raises(IdealistError, match=words):
        noise_of("nDCG@10", agreement)


def test_an_agreement_alone_is_refused() -> None:
    with pytest.raises(UsageError, match="fragility"):
        il.compare(FILES[0], FILES[1:], "nDCG@10", agreement=0.5)


#: Second labels of the same pairs, with the first, and the quadratic and the plain kappa.
SECOND = {
    "llmjudge/willia-umbrela1.txt": ("llmjudge/human.txt", 0.504, 0.286),
    "llmjudge/h2oloo-zeroshot1.txt": ("llmjudge/human.txt", 0.494, 0.282),
    "llmjudge/TREMA-nuggets.txt": ("llmjudge/human.txt", 0.155, 0.060),
    "rag25/umbrela2.txt": ("rag25/nist.txt", 0.492, 0.233),
}


def judged_twice(data: Path, first: str, second: str) -> tuple[Judged, Judged]:
    """Read the labels of the pairs that both judges labelled."""
    one, two = (il.read_qrels(data / name).to_dict() for name in (first, second))
    ours = {q: {d: g for d, g in own.items() if d in two[q]} for q, own in one.items() if q in two}
    return ours, {q: {d: two[q][d] for d in own} for q, own in ours.items()}


@SLOW
@pytest.mark.parametrize("second", SECOND)
def test_redraws_foretell_what_second_labels_do(
    data: Path, second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noise, "REDRAWS", 100)
    first, *kappas = SECOND[second]
    ours, theirs = judged_twice(data, str(first), second)
    counts = Counter((g, theirs[q][d]) for q, own in ours.items() for d, g in own.items())
    scale = sorted({grade for pair in counts for grade in pair})
    ways = {i: {j: counts[i, j] for j in scale} for i in scale}, *kappas
    here, there = (
        Evaluator(il.read_qrels(one).on(il.Scale.of(scale)), "nDCG@10") for one in (ours, theirs)
    )
    rng, rows = np.random.default_rng(3), []
    for seed in range(60):
        runs = [
            {q: {d: g + sd * rng.normal() for d, g in own.items()} for q, own in ours.items()}
            for sd in rng.uniform(1, 4, 2)
        ]
        before, after = (
            paired(differences(*(judge(run).values["nDCG@10"] for run in runs)))
            for judge in (here, there)
        )
        if before.p >= 0.05:
            continue
        relabelling = Relabelling.of(here, "nDCG@10", *map(here.ranked, runs))
        told = [
            label_noise(relabelling, before.mean, 0.05, Confusion.of(way, relabelling.grades), seed)
            for way in ways
        ]
        same = after.mean * before.mean > 0
        rows.append(((same, same and after.p < 0.05), *((t.sign, t.significant) for t in told)))
    means = np.mean(rows, axis=0)
    columns = " | ".join(f"{sign:.2f}, {significant:.2f}" for sign, significant in means)
    print(f"\n| {second} | {kappas[0]:.2f} | {len(rows)} | {columns} |")
    assert means[1] == pytest.approx(means[0], abs=0.25)
    assert means[2] == pytest.approx(means[0], abs=0.25)
