"""Adapters inside the tools that train: LightGBM, XGBoost, CatBoost, torchmetrics, Trainer, …"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import catboost
import lightgbm
import numpy as np
import pytest
import rax
import torch
import torch.multiprocessing
import xgboost
from sklearn.metrics import average_precision_score, ndcg_score
from torchmetrics import MetricCollection
from torchmetrics.retrieval import RetrievalMAP, RetrievalMRR, RetrievalNormalizedDCG

from idealist.errors import UsageError
from idealist.tensors import (
    DoubtWarning,
    Meter,
    TorchMetric,
    catboost_metric,
    compute_metrics,
    lightgbm_metric,
    values,
    xgboost_metric,
)

RNG = np.random.default_rng(0)
SIZES = RNG.integers(3, 12, 60)
CUT = int(SIZES[:40].sum())
X = RNG.standard_normal((int(SIZES.sum()), 5))
Y = np.clip((X[:, 0] + RNG.standard_normal(len(X)) / 2 + 1).round(), 0, 3).astype(int)
GROUPS = SIZES[:40], SIZES[40:]
PARTS = (slice(0, CUT), slice(CUT, None))


def test_lightgbm_while_it_trains() -> None:
    learn = lightgbm.Dataset(X[PARTS[0]], Y[PARTS[0]], group=GROUPS[0])
    check = learn.create_valid(X[PARTS[1]], Y[PARTS[1]], group=GROUPS[1])
    found: dict[str, Any] = {}
    settings = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [3], "verbose": -1}
    ours = lightgbm_metric(["nDCG@3", "ARP"], convention="lightgbm", negative="allow")
    model = lightgbm.train(
        settings, learn, 5, valid_sets=[check], feval=ours,
        callbacks=[lightgbm.record_evaluation(found)],
    )  # fmt: skip
    np.testing.assert_allclose(found["valid_0"]["nDCG@3"], found["valid_0"]["ndcg@3"], rtol=1e-12)
    assert [rises for _, _, rises in ours(model.predict(X[PARTS[1]]), check)] == [True, False]
    alone = SimpleNamespace(get_group=lambda: None, get_label=lambda: Y, get_weight=lambda: None)
    with pytest.raises(UsageError, match="does not say which documents belong together"):
        ours(Y, alone)


def test_xgboost_while_it_trains() -> None:
    learn, check = (xgboost.DMatrix(X[part], Y[part]) for part in PARTS)
    for matrix, group in zip((learn, check), GROUPS, strict=True):
        matrix.set_group(group)
    found: dict[str, Any] = {}
    ours = xgboost_metric(["nDCG@3", "AP"], convention="xgboost")
    xgboost.train(
        {"objective": "rank:ndcg", "eval_metric": "ndcg@3"}, learn, 4, evals=[(check, "check")],
        custom_metric=ours, evals_result=found, verbose_eval=False,
    )  # fmt: skip
    assert set(found["check"]) == {"ndcg@3", "nDCG@3", "AP"}
    np.testing.assert_allclose(found["check"]["nDCG@3"], found["check"]["ndcg@3"], atol=1e-6)
    with pytest.raises(UsageError, match="does not say which documents belong together"):
        ours(Y, xgboost.DMatrix(X, Y))


def test_catboost_while_it_trains() -> None:
    ids = np.repeat(np.arange(60), SIZES)
    learn, check = (catboost.Pool(X[part], Y[part], group_id=ids[part]) for part in PARTS)
    settings = {
        "loss_function": "YetiRank", "iterations": 4, "custom_metric": ["NDCG:top=3"],
        "verbose": False, "allow_writing_files": False,
    }  # fmt: skip
    ours = catboost_metric("nDCG@3", learn, check, convention="catboost")
    model = catboost.CatBoost({**settings, "eval_metric": ours})
    model.fit(learn, eval_set=check)
    found = model.get_evals_result()["validation"]
    np.testing.assert_allclose(found["nDCG@3"], found["NDCG:top=3;type=Base"], rtol=1e-9)
    assert model.best_score_["validation"]["nDCG@3"] == max(found["nDCG@3"])
    unknown = catboost.CatBoost({**settings, "eval_metric": catboost_metric("nDCG@3", check)})
    with pytest.raises(catboost.CatBoostError, match="does not know"):
        unknown.fit(learn, eval_set=check)
    with pytest.raises(UsageError, match="one metric at a time"):
        catboost_metric(["AP", "RR"], check)
    with pytest.raises(UsageError, match="does not say which documents belong together"):
        catboost_metric("AP", catboost.Pool(X, Y))


def some_tensors(rows: int = 90, width: int = 15) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(1)
    scores, labels = rng.permuted(np.tile(np.arange(1.0, width + 1), (rows, 1)), axis=1), None
    labels = (rng.random((rows, width)) < 0.3).astype(int)
    return torch.tensor(scores, dtype=torch.float32), torch.tensor(labels)


def test_a_metric_of_torchmetrics() -> None:
    scores, labels = some_tensors()
    theirs = {"nDCG@5": RetrievalNormalizedDCG(top_k=5), "AP": RetrievalMAP(), "RR": RetrievalMRR()}
    ours = TorchMetric(list(theirs), convention="torchmetrics")
    indexes = torch.arange(90).repeat_interleave(15)
    for rows in torch.arange(90).split(16):
        ours.update(scores[rows], labels[rows])
        for metric in theirs.values():
            some = indexes.reshape(90, 15)[rows].reshape(-1)
            metric.update(scores[rows].reshape(-1), labels[rows].reshape(-1), indexes=some)
    found = ours.compute()
    for label, metric in theirs.items():
        assert float(found[label]) == pytest.approx(float(metric.compute()), abs=1e-6)
    assert ours.higher_is_better
    assert pickle.loads(pickle.dumps(ours)).compute() == found
    assert copy.deepcopy(ours).compute() == found
    ours.reset()
    assert ours(scores, labels) == found


def test_documents_of_torchmetrics_come_in_any_batch() -> None:
    scores, labels = some_tensors()
    indexes, order = torch.arange(90).repeat_interleave(15), torch.randperm(1350)
    ours = TorchMetric("nDCG@5")
    for some in order.split(200):
        ours.update(scores.reshape(-1)[some], labels.reshape(-1)[some], indexes[some])
    assert float(ours.compute()) == pytest.approx(float(values("nDCG@5", scores, labels).mean()))


def test_a_collection_of_metrics() -> None:
    scores, labels = some_tensors()
    both = MetricCollection({"a": TorchMetric("nDCG@5"), "b": TorchMetric("AP", ignore=-100)})
    both.update(scores, labels)
    wanted = {
        name: float(values(label, scores, labels).mean())
        for name, label in (("a", "nDCG@5"), ("b", "AP"))
    }
    assert {name: float(one) for name, one in both.compute().items()} == pytest.approx(wanted)


def test_metrics_of_a_collection_keep_to_themselves() -> None:
    """torchmetrics lets metrics share a state that looks the same after the first batch."""
    both = MetricCollection({"a": TorchMetric("nDCG@2"), "b": TorchMetric("nDCG@10")})
    alone = TorchMetric("nDCG@2")
    for scores, labels in ((torch.tensor([[0.9, 0.1]]), torch.tensor([[1, 0]])), some_tensors()):
        both.update(scores, labels)
        alone.update(scores, labels)
    assert both.compute()["a"] == alone.compute() != both.compute()["b"]


def test_indexes_are_those_of_documents() -> None:
    scores, labels = some_tensors()
    metric = TorchMetric("AP")
    with pytest.raises(UsageError, match="not the query of each document"):
        metric.update(scores, labels, torch.arange(90))
    metric.update(scores.numpy(), labels.tolist(), np.arange(90)[:, None].repeat(15, axis=1))
    assert float(metric.compute()) == pytest.approx(float(values("AP", scores, labels).mean()))


def test_adapters_refuse_what_they_cannot_divide() -> None:
    for metric in (lightgbm_metric("AP"), xgboost_metric("AP")):
        with pytest.raises(UsageError, match="not called with the data set"):
            metric(Y, Y)
    with pytest.raises(UsageError, match="nothing says which predictions"):
        compute_metrics("AP")(SimpleNamespace(predictions=X[:, 0], label_ids=Y))
    halves = [catboost.Pool(X[:20], Y[:20], group_id=np.arange(20) // size) for size in (5, 10)]
    with pytest.raises(UsageError, match="the same labels and different groups"):
        catboost_metric("AP", *halves)
    weighted = xgboost.DMatrix(X, Y, weight=np.arange(60) + 1.0, group=SIZES)
    with pytest.warns(DoubtWarning, match="has weights"):
        xgboost_metric("AP")(X[:, 0], weighted)


def test_batches_of_the_trainer() -> None:
    scores, labels = (one.numpy() for one in some_tensors())
    measure = compute_metrics("AP")
    assert measure((scores[:50], labels[:50]), compute_result=False) == {}  # type: ignore[call-arg]
    found = measure((scores[50:], labels[50:]), compute_result=True)  # type: ignore[call-arg]
    assert found == measure((scores, labels))


def test_checkpoints_hold_a_meter(tmp_path: Path) -> None:
    meter = Meter(["nDCG@5", "AP"])
    meter.update(*some_tensors())
    torch.save(meter.state_dict(), tmp_path / "state.pt")
    again = Meter(["nDCG@5", "AP"])
    again.load_state_dict(torch.load(tmp_path / "state.pt"))
    assert again.compute() == meter.compute()


def test_a_repeated_query_may_be_padded_otherwise() -> None:
    scores, labels = some_tensors(rows=200)
    meter = Meter(["nDCG", "AP"])
    meter.update(scores, labels, qid=list(range(200)))
    wide = torch.nn.functional.pad(scores, (0, 80)), torch.nn.functional.pad(labels, (0, 80))
    meter.update(*wide, mask=torch.arange(95).expand(200, 95) < 15, qid=list(range(200)))
    assert len(meter.evaluation().queries) == 200


def _process(rank: int, folder: str) -> None:
    """Measure every second query in each of two processes, and gather."""
    import torch.distributed as dist

    dist.init_process_group("gloo", f"file://{folder}/meet", rank=rank, world_size=2)
    scores, labels = some_tensors()
    metric, meter = TorchMetric(["nDCG@5", "AP"]), Meter(["nDCG@5", "AP"])
    for first in range(rank * 10, 90, 20):
        rows = slice(first, first + 10)
        metric.update(scores[rows], labels[rows])
        meter.update(scores[rows], labels[rows])
    states: list[Any] = [None, None]
    dist.all_gather_object(states, meter.state_dict())
    whole = Meter(["nDCG@5", "AP"])
    whole.merge(*states)
    found = [{key: float(one) for key, one in metric.compute().items()}, whole.compute()]
    Path(folder, str(rank)).write_bytes(pickle.dumps(found))
    dist.destroy_process_group()


def test_processes_agree_to_the_last_bit(tmp_path: Path) -> None:
    context = torch.multiprocessing.spawn(_process, (str(tmp_path),), nprocs=2, join=False)
    while not context.join(timeout=120):
        pass
    alone = Meter(["nDCG@5", "AP"])
    alone.update(*some_tensors())
    for rank in ("0", "1"):
        for found in pickle.loads(Path(tmp_path, rank).read_bytes()):
            assert found == alone.compute()


def test_the_trainer_of_hugging_face() -> None:
    from transformers import EvalPrediction

    scores, labels = (one.numpy() for one in some_tensors())
    padded = np.where(np.arange(15) < 10, labels, -100)
    wanted = {"nDCG@5": values("nDCG@5", scores[:, :10], labels[:, :10]).mean()}
    measure = compute_metrics("nDCG@5")
    assert measure(EvalPrediction(scores, padded)) == pytest.approx(wanted)
    assert measure(EvalPrediction((scores[..., None], "hidden"), padded)) == pytest.approx(wanted)
    by_pair = compute_metrics("nDCG@5", qid=np.repeat(np.arange(90), 15))
    flat = by_pair(EvalPrediction(scores.reshape(-1, 1), labels.reshape(-1)))
    assert flat == pytest.approx({"nDCG@5": values("nDCG@5", scores, labels).mean()})


class Scorer(torch.nn.Module):  # type: ignore[misc]  # it has no types here
    """Scores each document of a list by its features."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = torch.nn.Linear(3, 1)

    def forward(self, features: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        scores = self.weights(features)[..., 0]
        return {"loss": (scores - labels).square().mean(), "logits": scores}


def test_the_trainer_itself(tmp_path: Path) -> None:
    from transformers import Trainer, TrainingArguments

    torch.manual_seed(0)
    rows = [
        {"features": torch.randn(7, 3), "labels": torch.randint(0, 3, (7,)).float()}
        for _ in range(30)
    ]
    settings = TrainingArguments(
        str(tmp_path), report_to=[], per_device_eval_batch_size=4, use_cpu=True, disable_tqdm=True
    )
    model = Scorer()
    trainer = Trainer(
        model, settings, eval_dataset=rows, compute_metrics=compute_metrics(["nDCG@5", "RR"])
    )
    found = trainer.evaluate()
    features, labels = (torch.stack([row[key] for row in rows]) for key in ("features", "labels"))
    with torch.no_grad():
        wanted = values(["nDCG@5", "RR"], model(features, labels)["logits"], labels)
    for label, one in wanted.items():
        assert found[f"eval_{label}"] == pytest.approx(float(one.mean()), abs=1e-6)


def test_every_peer_says_the_same() -> None:
    """scikit-learn and Rax on the same lists; LightGBM, XGBoost, CatBoost as they train."""
    rng = np.random.default_rng(2)
    scores, labels = rng.random((200, 12)).astype(np.float32), rng.integers(0, 4, (200, 12))
    ours = values(["nDCG@5", "nDCG"], scores, labels, convention="sklearn")
    assert ours["nDCG@5"].mean() == pytest.approx(ndcg_score(labels, scores, k=5), abs=1e-12)
    assert ours["nDCG"].mean() == pytest.approx(ndcg_score(labels, scores), abs=1e-12)
    average = values("AP", scores, labels > 1, convention="sklearn")
    theirs = [
        average_precision_score(a > 1, b) if (a > 1).any() else 0.0
        for a, b in zip(labels, scores, strict=True)
    ]
    np.testing.assert_allclose(average, theirs, atol=1e-12)
    ours = values(["nDCG@5", "RR", "AP"], scores, labels, convention="rax")
    names = {
        "nDCG@5": (rax.ndcg_metric, 5),
        "RR": (rax.mrr_metric, None),
        "AP": (rax.ap_metric, None),
    }
    for label, (metric, top) in names.items():
        wanted = np.array(
            [
                float(metric(a, b, topn=top))
                for a, b in zip(scores[:40], labels[:40] * 1.0, strict=True)
            ]
        )
        np.testing.assert_allclose(ours[label][:40], wanted, atol=1e-5)
