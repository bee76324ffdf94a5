"""Time measures of tensors beside torchmetrics, plain array code and a bare sort.

    python bench/tensors.py                    on the GPU if there is one, and on the processor
    python bench/tensors.py --device cpu       on the processor only

Every answer is checked against plain code before it is timed. Ratios are printed, since machines
differ. On a GPU no call may wait for the device (`torch.cuda.set_sync_debug_mode`), and the memory
that a large batch takes is held against its size.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torchmetrics.functional.retrieval import (
    retrieval_average_precision,
    retrieval_normalized_dcg,
    retrieval_reciprocal_rank,
)

import idealist as il
from idealist.tensors import Meter, values

THREE = ["nDCG@10", "AP", "RR"]
#: Queries that torchmetrics is timed on, one by one as it works; its time is multiplied.
SAMPLE = 200


def data(rows: int, width: int, device: str) -> tuple[Any, Any]:
    """Make scores without ties, and binary labels."""
    source = np.random.default_rng(0)
    row = np.linspace(0.01, 1, width, dtype=np.float32)
    scores = source.permuted(np.tile(row, (rows, 1)), axis=1)
    labels = (source.random((rows, width)) < 0.05).astype(np.float32)
    return torch.tensor(scores, device=device), torch.tensor(labels, device=device)


def seconds(call: Callable[[], Any], device: str, repeats: int = 7) -> float:
    """Give the best of several turns, each until the device is done."""
    best = float("inf")
    for _ in range(repeats):
        wait(device)
        begin = time.perf_counter()
        call()
        wait(device)
        best = min(best, time.perf_counter() - begin)
    return best


def wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def plain(scores: Any, labels: Any) -> dict[str, Any]:
    """Compute the three measures as one would write them down."""
    order = torch.argsort(scores, dim=1, descending=True, stable=True)
    gains = torch.gather(labels.double(), 1, order)
    ranks = torch.arange(1, gains.shape[1] + 1, device=scores.device).double()
    discount = torch.log2(ranks[:10] + 1.0)
    ideal = (torch.topk(labels.double(), 10, dim=1).values / discount).sum(1)
    hits, found = gains.cumsum(1), gains.sum(1)
    first = torch.where(gains > 0, ranks, torch.inf).amin(1)
    return {
        "nDCG@10": torch.where(ideal > 0, (gains[:, :10] / discount).sum(1) / ideal, 0.0),
        "AP": torch.where(found > 0, (gains * hits / ranks).sum(1) / found, 0.0),
        "RR": 1.0 / first,
    }


def check(scores: Any, labels: Any) -> None:
    """Hold every value against plain code."""
    found, wanted = values(THREE, scores, labels), plain(scores, labels)
    for label in THREE:
        torch.testing.assert_close(found[label], wanted[label], rtol=1e-12, atol=1e-12)


def torchmetrics(scores: Any, labels: Any, device: str) -> dict[str, float]:
    """Time torchmetrics on some queries, and multiply."""
    rows = min(SAMPLE, len(scores))
    targets = labels[:rows].long()
    calls: dict[str, Callable[[Any, Any], Any]] = {
        "nDCG@10": lambda p, t: retrieval_normalized_dcg(p, t, top_k=10),
        "AP": retrieval_average_precision,
        "RR": retrieval_reciprocal_rank,
    }
    times = {}
    for label, call in calls.items():
        mean = float(sum(call(scores[i], targets[i]) for i in range(rows)) / rows)
        ours = values(label, scores[:rows], targets, convention="torchmetrics").mean()
        assert abs(mean - float(ours)) < 1e-5, (label, mean, float(ours))

        def every(call: Callable[[Any, Any], Any] = call) -> None:
            for i in range(rows):
                call(scores[i], targets[i])

        times[label] = seconds(every, device, repeats=3) * len(scores) / rows
    return times


def compared(rows: int, width: int, device: str) -> Iterator[str]:
    """Compare with torchmetrics and with one argsort of the same tensor."""
    scores, labels = data(rows, width, device)
    check(scores, labels)
    sort = seconds(lambda: torch.argsort(scores, dim=1, descending=True), device)
    yield f"{rows:,} x {width:,} on {device}; one argsort takes {1e3 * sort:.2f} ms"
    for label, theirs in torchmetrics(scores, labels, device).items():
        ours = seconds(lambda label=label: values(label, scores, labels), device)  # type: ignore[misc]
        yield f"  {label:8} {1e3 * ours:8.2f} ms   {theirs / ours:8,.0f}x torchmetrics"
    three = seconds(lambda: values(THREE, scores, labels), device)
    by_hand = seconds(lambda: plain(scores, labels), device)
    tied = seconds(lambda: values(THREE, scores, labels, ties="expected"), device)
    ratios = f"{three / sort:8.1f}x the argsort, {three / by_hand:.1f}x plain code"
    yield f"  all three {1e3 * three:7.2f} ms   {ratios}"
    yield f"  with ties averaged {1e3 * tied:.2f} ms, {tied / sort:.1f}x the argsort"


def unwaiting(rows: int, width: int) -> str:
    """Show that nothing waits for the GPU before `compute`."""
    scores, labels = data(rows, width, "cuda")
    meter = Meter(THREE)
    meter.update(scores, labels)  # uploads tables, once
    torch.cuda.set_sync_debug_mode("error")
    try:
        values(THREE, scores, labels)
        meter.update(scores, labels)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return "nothing waited for the GPU before compute"


def memory(rows: int, width: int) -> str:
    """Hold the memory that a large batch takes against its size."""
    scores, labels = torch.rand(rows, width, device="cuda"), torch.rand(rows, width, device="cuda")
    labels = (labels < 0.05).float()
    size = scores.nbytes + labels.nbytes
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    values(THREE, scores, labels)
    taken = torch.cuda.max_memory_allocated() - before
    return f"{rows:,} x {width:,} takes {taken / size:.1f}x its own size"


def by_numpy() -> Iterator[str]:
    """Compare with plain NumPy, and say what one small batch and reading arrays take."""
    scores, labels = (one.numpy() for one in data(2000, 100, "cpu"))
    labels = np.random.default_rng(1).integers(0, 4, labels.shape)
    discount = np.log2(np.arange(2, 12))

    def by_hand(kind: Any) -> Any:
        order = np.argsort(-scores, axis=1, kind=kind)[:, :10]
        dcg = (np.take_along_axis(labels, order, axis=1) / discount).sum(1)
        return dcg / (-np.sort(-labels, axis=1)[:, :10] / discount).sum(1)

    np.testing.assert_allclose(values("nDCG@10", scores, labels), by_hand("stable"), rtol=1e-12)
    ours = seconds(lambda: values("nDCG@10", scores, labels), "cpu", 30)
    yield f"2,000 x 100 NumPy: nDCG@10 {1e3 * ours:.2f} ms"
    for kind, words in ((None, "that leaves ties to chance"), ("stable", "that keeps their order")):
        theirs = seconds(lambda kind=kind: by_hand(kind), "cpu", 30)  # type: ignore[misc]
        yield f"  {ours / theirs:.1f}x plain NumPy with a sort {words} ({1e3 * theirs:.2f} ms)"
    small = seconds(lambda: values("nDCG@10", scores[:32], labels[:32]), "cpu", 30)
    read = seconds(lambda: il.read_arrays(labels, scores), "cpu")
    yield f"  a batch of 32 x 100: {1e3 * small:.2f} ms; read_arrays: {1e3 * read:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"])
    device = parser.parse_args().device or ("cuda" if torch.cuda.is_available() else "cpu")
    if device == "cuda":
        print(*compared(10_000, 1_000, "cuda"), sep="\n")
        print(unwaiting(10_000, 1_000), memory(65_536, 1_000), sep="\n")
    print(*compared(2_000, 100, "cpu"), *by_numpy(), sep="\n")


if __name__ == "__main__":
    main()
