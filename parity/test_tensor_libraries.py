"""Measures of tensors: PyTorch and JAX, eager and compiled, without waiting for a device."""

from __future__ import annotations

import random
import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

import idealist as il
from generated import PLAIN, some_measure
from idealist.errors import InputError, UsageError
from idealist.measures import Measure
from idealist.tensors import Meter, array_libraries, values
from tensor_cases import Case, some_batch

pytestmark = pytest.mark.filterwarnings("ignore::idealist.tensors.DoubtWarning")

MEASURES = [
    "nDCG@10",
    "AP",
    "RR",
    "P@5",
    "R@10",
    "Success@3",
    "RBP(gain=binary)",
    "ERR(max_grade=4)@10",
]


def cases(name: str, count: int) -> Iterator[tuple[Measure, Case, dict[str, Any], Any]]:
    """Give measures, batches, rules, and what NumPy computes of them."""
    for seed in range(count):
        rng = random.Random(f"{name} {seed}")
        measure, case = some_measure(rng, name), some_batch(rng, nan=seed % 5 == 0)
        ties = ["input", "input-reversed", "worst", "best"]
        ties += ["expected"] * 3 if measure.averages_ties else []
        rules: dict[str, Any] = {
            "ties": rng.choice(ties),
            "nonfinite": "last" if seed % 5 == 0 else "error",
        }
        with suppress(UsageError):  # parameters and grades that do not go together
            wanted = values(measure, case.scores, case.labels, **case.more, **rules)
            yield measure, case, rules, wanted


@pytest.mark.parametrize("name", PLAIN)
def test_every_measure_on_torch(name: str) -> None:
    tried = 0
    for measure, case, rules, wanted in cases(name, 30):
        scores, labels = torch.tensor(case.scores, requires_grad=True), torch.tensor(case.labels)
        found = values(measure, scores, labels, **case.more, **rules)
        assert found.dtype == torch.float64
        assert not found.requires_grad
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12, atol=1e-12)
        tried += 1
    assert tried > 15


@pytest.mark.parametrize("name", PLAIN)
def test_every_measure_on_jax(name: str) -> None:
    """One case, since JAX compiles each operation for each shape."""
    for measure, case, rules, wanted in list(cases(name, 3))[:1]:
        with jax.enable_x64(True):  # so that it gets the scores as they are
            scores, labels = jnp.asarray(case.scores), jnp.asarray(case.labels)
            found = values(measure, scores, labels, **case.more, **rules)
        assert isinstance(found, jax.Array)
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-12)


def some_arrays(rows: int = 20, width: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((rows, width)).astype(np.float32), rng.integers(0, 4, (rows, width))


#: What makes a device's host wait: reading a number, or a shape that depends on one.
WAITING = (
    "_local_scalar_dense",
    "aten.nonzero",
    "masked_select",
    "unique",
    "is_nonzero",
    "item",
    "equal.default",
)


class Watching(TorchDispatchMode):  # type: ignore[misc]  # it has no types here
    """Notes what would make the host wait for a device, and what leaves it."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[str] = []
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        if any(word in str(func) for word in WAITING):
            self.waited.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("ties", ["input", "expected", "worst"])
def test_nothing_waits_for_a_device_before_compute(
    ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shown on the processor: no operation that would wait on a device is asked for."""
    scores, labels = map(torch.tensor, some_arrays())
    mask = torch.arange(40) < torch.arange(20, 40)[:, None]
    some = [label for label in MEASURES if il.parse(label).averages_ties or ties != "expected"]
    wanted = values(some, scores, labels, mask=mask, ties=ties)
    library = array_libraries.library_of(scores)
    monkeypatch.setattr(library, "unseen", lambda array: True)
    meter = Meter(some, ties=ties)
    with Watching() as seen:
        found = values(some, scores, labels, mask=mask, ties=ties)
        meter.update(scores, labels, mask=mask)
    assert seen.count > 100
    assert not seen.waited
    for label in some:
        np.testing.assert_allclose(found[label], wanted[label], rtol=1e-12)
    with Watching() as seen:  # the check can fail
        bool((scores > 0).any())
    assert seen.waited


def test_everything_stays_on_the_device() -> None:
    """Tensors that hold nothing cannot be read, nor be mixed with others."""
    scores = torch.empty(50, 30, device="meta")
    labels = torch.empty(50, 30, dtype=torch.int64, device="meta")
    mask = torch.ones(50, 30, dtype=torch.bool, device="meta")
    flat = scores.reshape(-1), labels.reshape(-1)
    for ties in ("input", "expected", "best"):
        some = [label for label in MEASURES if il.parse(label).averages_ties or ties != "expected"]
        for found in (
            values(some, scores, labels, mask=mask, judged=[[1.0]] * 50, ties=ties),
            values(some, *flat, group=[10] * 60 + [20] * 45, ties=ties),
        ):
            assert {one.device.type for one in found.values()} == {"meta"}
    Meter(MEASURES).update(scores, labels, mask=mask)
    with pytest.raises(RuntimeError, match="device"):  # the check can fail
        scores + torch.ones(50, 30)


class Memory(TorchDispatchMode):  # type: ignore[misc]  # it has no types here
    """Adds up what tensors that hold nothing would take."""

    def __init__(self) -> None:
        super().__init__()
        self.live: dict[int, list[int]] = {}
        self.now = self.peak = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        for one in tree_flatten(found)[0]:
            if isinstance(one, torch.Tensor):
                storage = one.untyped_storage()
                known = self.live.setdefault(storage._cdata, [0, storage.nbytes()])
                self.now += 0 if known[0] else known[1]
                known[0] += 1
                weakref.finalize(one, self.drop, storage._cdata)
        self.peak = max(self.peak, self.now)
        return found

    def drop(self, key: int) -> None:
        self.live[key][0] -= 1
        if not self.live[key][0]:
            self.now -= self.live.pop(key)[1]


@pytest.mark.parametrize(("ties", "times"), [("input", 3.5), ("expected", 4.5)])
def test_memory_is_bounded_by_chunks(ties: str, times: float) -> None:
    """Without what a sort takes for itself, which only a device tells."""
    scores, labels = (
        torch.empty(65_536, 1000, device="meta"),
        torch.empty(65_536, 1000, device="meta"),
    )
    with Memory() as memory:
        values(["nDCG@10", "AP", "RR"], scores, labels, ties=ties)
    assert scores.nbytes < memory.peak < times * (scores.nbytes + labels.nbytes)


def test_bad_input_on_a_device_is_nan_and_raised_by_compute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores, labels = torch.tensor([[1.0, torch.nan], [2.0, 1.0]]), torch.tensor([[1, 0], [0, 1]])
    library = array_libraries.library_of(scores)
    meter = Meter("RR")
    with monkeypatch.context() as patch:
        patch.setattr(library, "unseen", lambda array: True)
        assert values("RR", scores, labels).isnan().tolist() == [True, False]
        meter.update(scores, labels)
        with pytest.raises(UsageError, match="depends on the highest grade"):
            values("ERR@5", scores, labels)
    strict = Meter("ERR(max_grade=2)")
    with monkeypatch.context() as patch:
        patch.setattr(library, "unseen", lambda array: True)
        high = torch.tensor([[3, 0], [2, 1]])
        assert values("ERR(max_grade=2)", scores.nan_to_num(0), high).isnan().tolist() == [
            True,
            False,
        ]
        assert values("nDCG", scores.nan_to_num(0), high * 999, gain="exp2").isnan().tolist() == [
            True,
            True,
        ]
        strict.update(scores.nan_to_num(0), high)
    with pytest.raises(InputError, match="query 1: a measure does not take one of the labels"):
        strict.compute()
    with pytest.raises(InputError, match="query 1: a score is NaN, infinite"):
        meter.compute()
    with pytest.raises(InputError, match="row 0: document 1, nan: a score is NaN, infinite"):
        values("RR", scores, labels)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_every_precision_of_torch(dtype: str) -> None:
    """Scores of little precision tie, and ties keep the order of the input."""
    scores, labels = map(torch.tensor, some_arrays(width=300))
    rough = scores.to(getattr(torch, dtype))
    wanted = values(MEASURES, rough.double().numpy(), labels.numpy())
    for label, found in values(MEASURES, rough, labels).items():
        np.testing.assert_allclose(found.numpy(), wanted[label], rtol=1e-12)


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_contexts_of_torch(context: Any) -> None:
    scores, labels = map(torch.tensor, some_arrays())
    wanted = values("nDCG@10", scores, labels)
    with context():
        found = values("nDCG@10", scores.requires_grad_(context is torch.enable_grad), labels)
    assert torch.equal(found, wanted)


def test_views_of_torch() -> None:
    scores, labels = map(torch.tensor, some_arrays())
    found = values("AP", scores.T[::2], labels.T[::2])
    assert torch.equal(found, values("AP", scores.T[::2].contiguous(), labels.T[::2].contiguous()))


def test_libraries_may_mix() -> None:
    scores, labels = some_arrays()
    wanted = values("AP", scores, labels)
    for mixed in ((torch.tensor(scores), labels), (scores, torch.tensor(labels)),
                  (jnp.asarray(scores), labels.tolist())):  # fmt: skip
        np.testing.assert_allclose(np.asarray(values("AP", *mixed)), wanted, rtol=1e-7)
    rows = [torch.tensor(row) for row in scores], [torch.tensor(row) for row in labels]
    np.testing.assert_allclose(values("AP", *rows).numpy(), wanted, rtol=1e-12)


def test_under_torch_compile() -> None:
    scores, labels = map(torch.tensor, some_arrays())
    measure = il.nDCG @ 10

    def step(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return values(measure, scores * 2.0, labels) + 1.0

    compiled = torch.compile(step, backend="eager")
    assert torch.equal(compiled(scores, labels), step(scores, labels))


@pytest.mark.parametrize("ties", ["input", "expected"])
def test_under_jax_jit(ties: str) -> None:
    """Computed in double precision, and returned in the widest that the user's settings know."""
    scores, labels = some_arrays()
    some = [label for label in MEASURES if il.parse(label).averages_ties or ties != "expected"]
    wanted = values(some, scores, labels, ties=ties)

    @jax.jit  # type: ignore[untyped-decorator]  # it has no types here
    def measured(scores: Any, labels: Any) -> Any:
        return values(some, scores, labels, ties=ties)

    for wide, dtype, rtol in ((False, np.float32, 1e-7), (True, np.float64, 1e-12)):
        with jax.enable_x64(wide):
            found = measured(jnp.asarray(scores), jnp.asarray(labels))
        for label in some:
            assert found[label].dtype == dtype
            np.testing.assert_allclose(np.asarray(found[label]), wanted[label], rtol=rtol)


def test_a_meter_of_jax_is_exact() -> None:
    scores, labels = some_arrays()
    meter, wanted = Meter(MEASURES), Meter(MEASURES)
    wanted.update(scores, labels)
    for some in (slice(0, 7), slice(7, 20)):
        meter.update(jnp.asarray(scores[some]), jnp.asarray(labels[some]))
    assert meter.compute() == pytest.approx(wanted.compute(), rel=1e-12)


def test_what_jax_cannot_trace_says_so() -> None:
    scores, labels = map(jnp.asarray, some_arrays())
    with pytest.raises(UsageError, match="OPA looks at its values while"):
        jax.jit(lambda a, b: values("OPA", a, b))(scores, labels)
