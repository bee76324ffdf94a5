"""Numbers in text: the kernel reads what float() reads, to the last bit."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest

import idealist as il
from effort import tries
from faulty import LOOK_ALIKES, NONFINITE, WORDS
from idealist.formats.run_sources import FileRun
from idealist.formats.source import Source
from idealist.formats.trec import number_of
from kernel_cases import Case, both
from kernels import compiled

pytestmark = compiled

COUNT = 40_000


def some_float(rng: random.Random) -> float:
    """Give any float there is but NaN."""
    (found,) = struct.unpack("d", rng.randbytes(8))
    return 0.0 if math.isnan(found) else float(found)


def exact(number: Decimal) -> str:
    return f"{number:f}" if abs(number.adjusted()) < 30 else f"{number:e}"


def shortest(rng: random.Random) -> str:
    return repr(some_float(rng))


def scores(rng: random.Random) -> str:
    """Give what tools write: a few digits, and a few more behind the point."""
    return f"{rng.uniform(-1, 1) * 10 ** rng.randint(0, 9):.{rng.randint(0, 12)}f}"


def rounded(rng: random.Random) -> str:
    return f"{some_float(rng):.{rng.randint(14, 20)}{rng.choice('eg')}}"


def small(rng: random.Random) -> str:
    """Give numbers so small that they lose digits, or are 0."""
    return (
        f"{rng.random() * 10 ** rng.randint(-4, 3):.{rng.randint(1, 25)}f}e-{rng.randint(300, 330)}"
    )


def large(rng: random.Random) -> str:
    return f"{rng.random() * 10:.{rng.randint(1, 25)}f}e{rng.randint(300, 312)}"


def halfway(rng: random.Random) -> str:
    """Give a number between two floats, or a little beside it, in all its digits."""
    low = abs(some_float(rng)) % 1e300
    with localcontext(prec=1200):
        middle = (Decimal(low) + Decimal(math.nextafter(low, math.inf))) / 2
        beside = middle * Decimal(f"1e-{rng.randint(20, 900)}") * rng.choice([-1, 0, 0, 1])
        return exact(middle + beside)


def digits(rng: random.Random) -> str:
    """Give many digits, zeros among them, with the point and the exponent anywhere."""
    found = "".join(rng.choices("0123456789" + "0" * rng.choice([0, 50]), k=rng.randint(1, 400)))
    at = rng.randint(0, len(found))
    exponent = (
        f"{rng.choice('eE')}{rng.choice(['', '+', '-'])}{rng.randint(0, 450):0{rng.randint(1, 5)}}"
    )
    return (
        rng.choice(["", "-", "+"])
        + found[:at]
        + rng.choice(["", "."])
        + found[at:]
        + rng.choice(["", exponent])
    )


def whole(rng: random.Random) -> str:
    """Give whole numbers around those that floats no longer tell apart."""
    return str(
        rng.choice([2**53, 2**63, 2**64, 10**15, 10**19, 10**22, 10**23]) * rng.randint(1, 9)
        + rng.randint(-9, 9)
    )


def read(cells: list[str], folder: Path) -> np.ndarray:
    """Have the kernel read the scores of a file."""
    path = folder / "numbers.run"
    path.write_text("".join(f"q Q0 d{i} 1 {cell} t\n" for i, cell in enumerate(cells)))
    found = FileRun(Source.of(path)).some(["q"]).scores
    assert found is not None
    return found


@pytest.mark.parametrize("kind", [shortest, scores, rounded, small, large, halfway, digits, whole])
def test_numbers_are_what_float_reads(
    kind: Callable[[random.Random], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", "native")
    rng = random.Random(kind.__name__)
    cells = [kind(rng) for _ in range(COUNT // 10 if kind is halfway else COUNT)]
    expected = np.array([float(cell) for cell in cells])
    found = read(cells, tmp_path)
    differ = np.flatnonzero(found.view(np.uint64) != expected.view(np.uint64))
    assert not [cells[i] for i in differ[:5]]


FORMS = [
    "0", "-0", "0.0", "-0.0", ".0", "0.", "-.0", "+.5", "1.", "00000000000000000000001", "1e0",
    "0e999999999999999999", "0e-99999999999999999999", "-0e5", "1e-99999999999999999999",
    "0." + "0" * 400 + "1e400", "1" + "0" * 400 + "e-400", "0." + "0" * 5000 + "1e5001",
    "0." + "0" * 1_039_999 + "1e10400000", "1" + "0" * 1_039_999 + "e-10400000",
    "0." + "0" * 1_000_100 + "1e1000101", "1" + "0" * 1_000_100 + "e-1000100",
    "9" * 19, "9" * 20, "0." + "9" * 30, "4.9406564584124654e-324", "2.4703282292062327e-324",
    "2.4703282292062328e-324", "2.2250738585072011e-308", "2.2250738585072014e-308",
    "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308",
    "9007199254740993", "9007199254740992.999999999999999999", "3.4028235677973366e38",
    "12345678.12345678", "1234567.12345678", "1234567.123456789", "-0.00000001", "123456.7890",
    *NONFINITE, "+nan", "+inf", "-inf", "INFINITY", "iNf", "nAN",
]  # fmt: skip


def test_numbers_of_every_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", "native")
    expected = np.array([float(cell) for cell in FORMS])
    found = read(FORMS, tmp_path)
    for cell, one, other in zip(FORMS, expected.tolist(), found.tolist(), strict=True):
        assert struct.pack("d", one) == struct.pack("d", other) or one != one != other, cell[:60]


def some_look_alike(rng: random.Random) -> str:
    """Change a number, or what looks like one, in one place."""
    cell: str = rng.choice(
        [*LOOK_ALIKES, *WORDS, *NONFINITE, "1.5e10", "-0.25", "infinity", "12345678.5"]
    )
    at = rng.randint(0, len(cell))
    put: str = rng.choice(["", "", *"0123456789+-.eExXnaifty_,#()\x1f\x7f\xb2٣"])
    return cell[:at] + put + cell[at + rng.randint(0, 1) :]


def test_what_is_no_number_is_none_for_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(3)
    refused = 0
    for _ in range(tries(500, 1500)):
        cell = some_look_alike(rng)
        text = f"q Q0 d 1 1 t\nq Q0 e 1 {cell} t\n".encode()
        case = Case("trec", {"q": {"e": 1.0}}, text, (il.Protocol(nonfinite="last"),))
        with monkeypatch.context() as context:
            context.setenv("IDEALIST_KERNEL", "native")
            context.setenv("IDEALIST_THREADS", "1")
            defined, compiled = both(case, tmp_path)
        assert compiled == defined, cell
        is_number = bool(cell) and number_of(cell.encode()) is not None
        assert ("error" in defined) is not is_number, cell
        refused += not is_number
    assert tries(30, 100) < refused < tries(470, 1400)
