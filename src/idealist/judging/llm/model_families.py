"""Families of models, by their names: a judge favours what its own family ranked.

A name says little, so what is found is a reason to look, and what is not found proves nothing.
"""

from __future__ import annotations

import re

#: Families, and what the names of their models, and of rerankers made of them, contain. A word
#: begins where no letter stands before it.
FAMILIES: dict[str, str] = {
    "Claude": r"claude|(?<![a-z])(?:sonnet|haiku|opus)(?![a-z])",
    "Command": r"cohere|(?<![a-z])command-?[ra](?![a-z])",
    "DeepSeek": r"deepseek",
    "Falcon": r"(?<![a-z])falcon",
    "Gemini and Gemma": r"gemini|gemma",
    "GLM": r"(?<![a-z])(?:chat)?glm(?![a-z])",
    "GPT": r"gpt(?!-?(?:j|neo))|davinci|(?<![a-z0-9])o[134](?:-(?:mini|pro|preview))?(?![a-z0-9.])",
    "Granite": r"(?<![a-z])granite",
    "Grok": r"(?<![a-z])grok",
    "Jamba": r"(?<![a-z])jamba",
    "Kimi": r"(?<![a-z])kimi",
    "Llama": r"llama(?!-?(?:index|\.cpp|cpp))|vicuna",
    "Mistral": r"mistral|mixtral|ministral|magistral|zephyr",
    "Nova": r"(?<![a-z])nova-(?:micro|lite|pro|premier)",
    "OLMo": r"(?<![a-z])olmo",
    "Phi": r"(?<![a-z])phi-?\d",
    "Qwen": r"qwen|(?<![a-z])qwq",
    "SmolLM": r"smollm",
    "T5": r"(?:mono|duo|rank|flan|list)-?t5|(?<![a-z])t5(?![a-z])",
    "Yi": r"(?<![a-z])yi-\d",
}
_PROMPT = re.compile(r"/[^/@]+@[^/@]+$")


def families_of(name: str) -> set[str]:
    """Find the families that the name of a judge, a model or a run points to.

    A model that was taught by another belongs to the families of both.

    >>> families_of("gpt-4o-mini/graded@1"), sorted(families_of("deepseek-r1-distill-qwen-7b"))
    ({'GPT'}, ['DeepSeek', 'Qwen'])
    """
    model = _model(name)
    return {family for family, words in FAMILIES.items() if re.search(words, model)}


def same_family(judge: str, other: str) -> str:
    """Name the family that a judge shares with a model or a run; empty where none is known.

    Of no known family, the same name is the same model.

    >>> same_family("gpt-4o/graded@1", "rankgpt-top20"), same_family("gpt-4o", "bm25")
    ('GPT', '')
    """
    shared = families_of(judge) & families_of(other)
    if shared:
        return min(shared)
    return _model(judge) if _model(judge) == _model(other) else ""


def _model(name: str) -> str:
    """Take the prompt off the name of a judge, and write it as other names are."""
    return re.sub(r"[\s_]+", "-", _PROMPT.sub("", name).lower())
