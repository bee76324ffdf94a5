"""Array libraries: what formulas and rankings ask of NumPy, PyTorch, JAX, CuPy and others.

Formulas ask for the array API standard, which not every library spells alike; rankings also for a
sort that keeps the order of ties. A `Library` answers both on the device where the arrays are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from idealist.errors import UsageError
from idealist.ranking.padded_lists import QUICK, Array, head

#: The cells of a batch that are measured together: on a processor as many as its cache holds, on a
#: device so many that it never waits for the next order.
CPU_CELLS, DEVICE_CELLS = 1 << 18, 1 << 24


F = TypeVar("F", bound=Callable[..., Any])


class Library:
    """A library that follows the array API standard; others spell some things differently."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    @property
    def is_numpy(self) -> bool:
        """Whether it is NumPy, whose sums run in the order of ranks."""
        return self.xp is QUICK

    def array(self, given: Any, like: Array | None = None) -> Array:
        """Make an array, on the device of another one; a lone number is spread over its rows."""
        return (
            self.xp.asarray(given) if like is None else self.xp.asarray(given, device=like.device)
        )

    def constant(self, values: Any, like: Array) -> Array:
        """Put NumPy's numbers where another array is, without waiting for that device."""
        return self.array(values, like)

    def copy(self, array: Array) -> Array:
        """Copy an array, which may be overwritten."""
        return self.xp.asarray(array, copy=True)

    def to_numpy(self, array: Array) -> Any:
        """Copy an array to the processor's memory."""
        return np.asarray(array)

    def unseen(self, array: Array) -> bool:
        """Whether looking at an array would wait for a device, or is not possible."""
        return "cpu" not in str(array.device).lower()

    def cells(self, array: Array) -> int:
        """Return how many cells are measured together."""
        return DEVICE_CELLS if self.unseen(array) else CPU_CELLS

    def order(self, keys: Array) -> Array:
        """Return the columns of each row, highest key first, equal keys in the order they came.

        Where keys are -inf, any order will do.
        """
        return self.xp.argsort(-keys, axis=1, stable=True)

    def highest(self, values: Array, count: int | None) -> Array:
        """Sort each row, highest value first; `count` says how many are needed."""
        return -head(self.xp.sort(-values, axis=1), count)

    def total(self, values: Array) -> Array:
        """Sum each row."""
        return self.xp.sum(values, axis=1)

    def floats(self, array: Array) -> Array:
        """Return floats in the precision that they have, other numbers as float64."""
        return array if "float" in str(array.dtype) else self.xp.astype(array, self.xp.float64)

    def kind(self, array: Array) -> str:
        """Say what an array holds: ``bool``, ``int``, ``float`` or something else."""
        name = str(array.dtype).rpartition(".")[2]
        return next((kind for kind in ("bool", "int", "float") if kind in name), name)

    def exact(self) -> AbstractContextManager[Any]:
        """Return the context in which float64 is float64."""
        return nullcontext()

    @property
    def result(self) -> Any:
        """The type of the values that are returned."""
        return self.xp.float64

    #: What is raised where the value of an array that is yet to be computed is asked for.
    unknown: tuple[type[Exception], ...] = ()


class NumPy(Library):
    """NumPy, and whatever NumPy makes an array of."""

    def __init__(self) -> None:
        super().__init__(QUICK)

    def array(self, given: Any, like: Array | None = None) -> Array:
        """Make an array."""
        array = np.asarray(given)
        if array.dtype.name == "bfloat16":
            return array.astype(np.float32)
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))

    def unseen(self, array: Array) -> bool:
        """Whether looking would wait: never."""
        return False

    def order(self, keys: Array) -> Array:
        """Sort quickly, and again only the rows with ties, so that these keep their order."""
        found = -keys
        order = found.argsort(axis=1)
        found.sort(axis=1)
        equal = found[:, 1:] == found[:, :-1]
        if equal.any():
            tied = (equal & (found[:, 1:] < np.inf)).any(axis=1)
            order[tied] = np.argsort(-keys[tied], axis=1, kind="stable")
        return order

    def highest(self, values: Array, count: int | None) -> Array:
        """Sort each row, highest value first."""
        found = -values
        found.sort(axis=1)
        return -head(found, count)

    def total(self, values: Array) -> Array:
        """Sum each row from left to right, as everywhere."""
        return np.add.accumulate(values, 1)[:, -1]


class Torch(Library):
    """PyTorch."""

    def __init__(self) -> None:
        import torch

        super().__init__(_torch_api())
        self.torch = torch
        self._kept: dict[Any, Array] = {}

    def array(self, given: Any, like: Array | None = None) -> Array:
        """Make a tensor without gradients."""
        if not isinstance(given, self.torch.Tensor):
            given = np.ascontiguousarray(given) if isinstance(given, np.ndarray) else given
            return self.torch.as_tensor(given, device=None if like is None else like.device)
        if given.device.type == "mps":
            raise UsageError("PyTorch has no float64 on mps", "give scores.cpu() and labels.cpu()")
        given = given.detach().resolve_neg()
        return given if like is None or given.device == like.device else given.to(like.device)

    def constant(self, values: Any, like: Array) -> Array:
        """Put NumPy's numbers where a tensor is; they stay there for the next batch."""
        values = np.asarray(values)
        if values.nbytes > LARGEST_KEPT:
            return self.upload(values.copy(), like.device)
        key = str(like.device), values.dtype.str, values.shape, values.tobytes()
        if key not in self._kept:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[key] = self.upload(values.copy(), like.device)
        return self._kept[key]

    def upload(self, values: Any, device: Any) -> Array:
        """Copy NumPy's numbers to a device."""
        return self.torch.from_numpy(values).to(device, non_blocking=True)

    def copy(self, array: Array) -> Array:
        """Copy a tensor, which may be overwritten."""
        return array.clone()

    def to_numpy(self, array: Array) -> Any:
        """Copy a tensor to the processor's memory."""
        array = array.detach().cpu()
        return (array.float() if array.dtype == self.torch.bfloat16 else array).numpy()

    def unseen(self, array: Array) -> bool:
        """Whether looking would wait for a device."""
        return bool(array.device.type != "cpu")

    def order(self, keys: Array) -> Array:
        """Sort without disturbing ties; NumPy is faster at that where it can reach the tensor."""
        reached = type(keys) is self.torch.Tensor and not self.unseen(keys)
        if reached and keys.dtype != self.torch.bfloat16:
            return self.torch.from_numpy(NumPy().order(keys.numpy()))
        keys = keys + 0.0  # -0.0 is 0.0, also where bits are sorted
        return self.torch.sort(keys, dim=1, descending=True, stable=True).indices

    def highest(self, values: Array, count: int | None) -> Array:
        """Sort each row, highest value first, or find the highest."""
        if count is None or count >= values.shape[1]:
            return self.torch.sort(values, dim=1, descending=True).values
        return self.torch.topk(values, count, dim=1).values


class JAX(Library):
    """JAX, which computes here in double precision whatever its default is."""

    def __init__(self) -> None:
        import jax

        super().__init__(jax.numpy)
        self.jax = jax
        errors = jax.errors
        self.unknown = (errors.ConcretizationTypeError, errors.NonConcreteBooleanIndexError)

    def array(self, given: Any, like: Array | None = None) -> Array:
        """Make an array; JAX puts it where it is used."""
        return self.xp.asarray(given)

    def unseen(self, array: Array) -> bool:
        """Whether looking would wait for a device, or the array is yet to be computed."""
        return isinstance(array, self.jax.core.Tracer) or super().unseen(array)

    @property
    def result(self) -> Any:
        """The widest float that the user's own settings know; others would fail later."""
        return self.xp.float64 if self.jax.config.jax_enable_x64 else self.xp.float32

    def highest(self, values: Array, count: int | None) -> Array:
        """Sort each row, highest value first, or find the highest."""
        if count is None or count >= values.shape[1]:
            return super().highest(values, None)
        return self.jax.lax.top_k(values, count)[0]

    def exact(self) -> AbstractContextManager[Any]:
        """Return the context in which float64 is float64."""
        context: AbstractContextManager[Any] = self.jax.enable_x64(True)
        return context


class CuPy(Library):
    """CuPy, whose names are NumPy's."""

    def __init__(self) -> None:
        import cupy

        super().__init__(numpy_api(cupy))

    def array(self, given: Any, like: Array | None = None) -> Array:
        """Make an array on the current device."""
        return self.xp.asarray(given)

    def copy(self, array: Array) -> Array:
        """Copy an array, which may be overwritten."""
        return array.copy()

    def to_numpy(self, array: Array) -> Any:
        """Copy an array to the processor's memory."""
        return array.get()

    def unseen(self, array: Array) -> bool:
        """Whether looking would wait: always."""
        return True


#: How many constants stay on devices, and of how many bytes.
KEPT, LARGEST_KEPT = 512, 1 << 16

_LIBRARIES = {"numpy": NumPy, "torch": Torch, "jax": JAX, "jaxlib": JAX, "cupy": CuPy}


@cache
def _library(name: str) -> Library:
    return _LIBRARIES[name]()


def library_of(*arrays: Any) -> Library:
    """Find the library of the first array that has one; for lists and other objects it is NumPy.

    >>> library_of([1, 2]).is_numpy
    True
    """
    for array in arrays:
        name = type(array).__module__.partition(".")[0]
        if name in _LIBRARIES and name != "numpy":
            return _library(name)
        if name != "numpy" and hasattr(array, "__array_namespace__"):
            return Library(array.__array_namespace__())
    return _library("numpy")


def uncompiled(function: F) -> F:
    """Keep PyTorch's compiler out of a function, where PyTorch was imported before."""
    torch = sys.modules.get("torch")
    return function if torch is None else torch.compiler.disable(function)


def numpy_api(module: Any) -> SimpleNamespace:
    """Give a module with NumPy's names those of the array API standard.

    >>> numpy_api(np).cumulative_prod(np.array([[2, 3]]), axis=1, include_initial=True).tolist()
    [[1, 2, 6]]
    """

    def cumulative_prod(array: Array, *, axis: int, include_initial: bool = False) -> Array:
        found = module.cumprod(array, axis=axis)
        if not include_initial:
            return found
        return module.concatenate([module.ones_like(found[:, :1]), found], axis=axis)

    return SimpleNamespace(**{
        **vars(module),
        "bool": module.bool_,
        "astype": lambda array, dtype: array.astype(dtype),
        "argsort": lambda array, *, axis, stable: module.argsort(array, axis=axis, kind="stable"),
        "concat": lambda arrays, axis=0: module.concatenate(arrays, axis=axis),
        "cumulative_sum": lambda array, *, axis: module.cumsum(array, axis=axis),
        "cumulative_prod": cumulative_prod,
        "pow": module.power,
    })  # fmt: skip


@cache
def _torch_api() -> SimpleNamespace:
    """Give PyTorch's functions the names and arguments of the array API standard."""
    import torch

    def minimum(a: Array, b: Any) -> Array:
        return torch.minimum(a, b) if isinstance(b, torch.Tensor) else torch.clamp(a, max=b)

    def maximum(a: Array, b: Any) -> Array:
        return torch.maximum(a, b) if isinstance(b, torch.Tensor) else torch.clamp(a, min=b)

    def most(array: Array, *, axis: int | None = None, keepdims: bool = False) -> Array:
        return torch.amax(array, dim=() if axis is None else axis, keepdim=keepdims)

    def least(array: Array, *, axis: int | None = None, keepdims: bool = False) -> Array:
        return torch.amin(array, dim=() if axis is None else axis, keepdim=keepdims)

    def cumulative_prod(array: Array, *, axis: int, include_initial: bool = False) -> Array:
        found = torch.cumprod(array, dim=axis)
        if not include_initial:
            return found
        return torch.cat([torch.ones_like(found[:, :1]), found], dim=axis)

    def take_along_axis(array: Array, index: Array, *, axis: int) -> Array:
        if array.shape[0] == index.shape[0]:  # quicker, but nothing is spread over rows
            return torch.gather(array, axis, index)
        return torch.take_along_dim(array, index, dim=axis)

    def over(function: Any) -> Any:
        """Take an axis as the standard does."""
        return lambda array, *, axis=None: (
            function(array) if axis is None else function(array, dim=axis)
        )

    same = (
        "where zeros_like ones_like full_like reshape pow log log2 log1p exp expm1 isnan floor "
        "broadcast_to int64 float32 float64 bool isfinite trunc"
    )
    return SimpleNamespace(
        **{name: getattr(torch, name) for name in same.split()},
        minimum=minimum, maximum=maximum, max=most, min=least, cumulative_prod=cumulative_prod,
        any=over(torch.any), all=over(torch.all), sum=over(torch.sum),
        count_nonzero=over(torch.count_nonzero), cumulative_sum=over(torch.cumsum),
        sort=lambda array, *, axis: torch.sort(array, dim=axis).values,
        take_along_axis=take_along_axis,
        flip=lambda array, *, axis: torch.flip(array, dims=(axis,)),
        concat=lambda arrays, axis=0: torch.cat(list(arrays), dim=axis),
        repeat=torch.repeat_interleave, clip=torch.clamp,
        astype=lambda array, dtype: array.to(dtype),
        asarray=torch.as_tensor,
    )  # fmt: skip
