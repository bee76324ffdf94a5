"""Our evaluator inside sentence-transformers, with models made here."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from idealist.errors import InputError
from idealist.tensors import RerankingEvaluator, values

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "a",
    "small",
    "red",
    "fox",
    "over",
    "some",
    "hills",
    "two",
    "old",
    "owls",
    "at",
    "night",
]
SAMPLES: list[dict[str, Any]] = [
    {"query": "red fox", "positive": ["a small red fox"], "negative": ["two old owls", "some hills"]},
    {"query": "owls", "positive": ["two old owls", "owls at night"], "documents": ["some hills", "two old owls", "a fox"]},
    {"query": "hills", "documents": ["two old owls", "over some hills", "night"], "labels": [0, 2, 1]},
]  # fmt: skip


def tokenizer() -> Tokenizer:
    made = Tokenizer(
        models.WordLevel(
            {word: i for i, word in enumerate(dict.fromkeys(WORDS))}, unk_token="[UNK]"
        )
    )
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> Any:
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("reranker")
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, num_labels=1,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer(), unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
        sep_token="[SEP]", model_max_length=32,
    ).save_pretrained(folder)  # fmt: skip
    return CrossEncoder(str(folder), device="cpu")


def test_a_cross_encoder(reranker: Any, tmp_path: Path) -> None:
    evaluator = RerankingEvaluator(SAMPLES, ["nDCG@10", "AP"], name="dev")
    found = evaluator(reranker, str(tmp_path), epoch=1, steps=20)
    lists = [
        ("red fox", ["a small red fox", "two old owls", "some hills"], [1, 0, 0], []),
        ("owls", ["some hills", "two old owls", "a fox"], [0, 1, 0], [1]),
        ("hills", ["two old owls", "over some hills", "night"], [0, 2, 1], []),
    ]
    scores = [reranker.predict([(query, one) for one in texts]) for query, texts, _, _ in lists]
    labels, judged = [np.array(one[2]) for one in lists], [one[3] for one in lists]
    wanted = values(["nDCG@10", "AP"], scores, labels, judged=judged)
    assert found == pytest.approx(
        {f"dev_{label}": one.mean() for label, one in wanted.items()}, abs=1e-6
    )
    assert evaluator.primary_metric == "dev_nDCG@10"
    assert evaluator.greater_is_better
    assert evaluator.evaluation is not None
    assert len(evaluator.evaluation.queries) == 3
    evaluator(reranker, str(tmp_path), epoch=2, steps=40)
    with (tmp_path / "idealist_dev_results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["1", "2"]
    assert float(rows[0]["AP"]) == pytest.approx(found["dev_AP"])


def test_an_embedder() -> None:
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    torch.manual_seed(0)
    model = SentenceTransformer(
        modules=[StaticEmbedding(tokenizer(), embedding_dim=8)], device="cpu"
    )
    found = RerankingEvaluator(SAMPLES, "RR@10")(model)
    queries = [str(one["query"]) for one in SAMPLES]
    texts = [
        ["a small red fox", "two old owls", "some hills"],
        SAMPLES[1]["documents"],
        SAMPLES[2]["documents"],
    ]
    scores = [
        np.asarray(model.similarity(model.encode([q]), model.encode(t)))[0]
        for q, t in zip(queries, texts, strict=True)
    ]
    labels = [np.array(one) for one in ([1, 0, 0], [0, 1, 0], [0, 2, 1])]
    assert found == pytest.approx({"RR@10": values("RR@10", scores, labels).mean()})


def test_samples_that_lack_something_are_refused() -> None:
    for bad in (
        {"query": "a"},
        {"query": "a", "documents": ["b"], "labels": [1, 2]},
        {"documents": ["a"], "labels": [1]},
    ):
        with pytest.raises(InputError, match="sample 0"):
            RerankingEvaluator([bad])
