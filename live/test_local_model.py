"""A real model on loopback answers as endpoints do: strict schema, log-probabilities, usage."""

from __future__ import annotations

import json
from typing import Any

import httpx2

import local_model

pytest_plugins = ["local_model"]

SCHEMA = {
    "type": "object",
    "properties": {"grade": {"type": "integer", "enum": [0, 1, 2, 3]}},
    "required": ["grade"],
    "additionalProperties": False,
}


def test_it_answers_within_the_schema(model: str) -> None:
    body: dict[str, Any] = {
        "model": local_model.NAME,
        "messages": [{"role": "user", "content": "How relevant is a cat to cats, from 0 to 3?"}],
        "max_tokens": 30,
        "logprobs": True,
        "top_logprobs": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
    }
    answer = httpx2.post(f"{model}/chat/completions", json=body, timeout=300).json()
    choice = answer["choices"][0]
    assert json.loads(choice["message"]["content"])["grade"] in {0, 1, 2, 3}
    assert choice["logprobs"]["content"][0]["top_logprobs"]
    assert answer["usage"]["completion_tokens"] > 0
