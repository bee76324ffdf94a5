"""Families of models by name: what real names of models and runs point to."""

from __future__ import annotations

from itertools import product

import pytest

from idealist.judging.llm.model_families import families_of, same_family

NAMES = {
    "gpt-4o": "GPT", "gpt-4.1-mini/graded@1": "GPT", "openai/gpt-oss-120b": "GPT", "o3-mini": "GPT",
    "o4-mini": "GPT", "rankgpt": "GPT", "willia-umbrela-GPT4o": "GPT", "text-davinci-003": "GPT",
    "claude-sonnet-4-5": "Claude", "anthropic.claude-3-haiku-20240307-v1:0": "Claude",
    "gemini-2.5-flash": "Gemini and Gemma", "bge-reranker-v2-gemma": "Gemini and Gemma",
    "meta-llama/Llama-3.3-70B-Instruct": "Llama", "RankLLaMA-7b": "Llama", "rank_vicuna_7b_v1": "Llama",
    "Qwen3-Reranker-0.6B": "Qwen", "qwq-32b": "Qwen", "mixtral:8x7b": "Mistral",
    "rank_zephyr_7b_v1_full": "Mistral", "e5-mistral-7b-instruct": "Mistral", "deepseek-v3": "DeepSeek",
    "command-r-plus": "Command", "cohere-rerank-v3": "Command", "phi-4": "Phi", "Phi3-mini": "Phi",
    "monot5-3b": "T5", "flan-t5-xl": "T5", "SmolLM2-135M-Instruct": "SmolLM", "grok-4": "Grok",
    "yi-34b": "Yi", "kimi-k2": "Kimi", "OLMo-2-7B": "OLMo", "glm-4.6": "GLM",
}  # fmt: skip

PLAIN = [
    "bm25", "bm25_rm3", "splade-v3", "colbert", "all-MiniLM-L6-v2", "run1", "sabir.meta.docs",
    "gpt-neox-20b", "gpt-j-6b", "llamaindex", "llama-index-hybrid", "philosophy", "co3", "o2",
    "run.o3.4", "opusculum", "ibm-rerank", "commander", "base", "yield", "novartis", "",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_that_point_to_one_family(name: str) -> None:
    assert families_of(name) == {NAMES[name]}
    assert families_of(name.upper()) == {NAMES[name]}


@pytest.mark.parametrize("name", PLAIN)
def test_names_that_point_to_none(name: str) -> None:
    assert families_of(name) == set()


def test_pairs() -> None:
    for (a, mine), (b, other) in product(NAMES.items(), repeat=2):
        assert same_family(a, b) == (mine if mine == other else "")
    assert same_family("ours-7b/graded@1", "Ours_7B") == "ours-7b"
    assert same_family("ours-7b/gpt-style@1", "rankgpt") == ""
    assert same_family("deepseek-r1-distill-llama-8b", "rankllama") == "Llama"
