"""Fuzz what Python gives the kernel, guided by which of its code the cases reach.

    LD_PRELOAD=…/asan_with_fuzzer.so python fuzz/guided.py KERNEL [FOLDER] [libFuzzer's options]

KERNEL is the module compiled by clang for a fuzzer, with its sanitizers; atheris brings the library
that is loaded before it. Cases are those of `twins.py`, drawn from the bytes that libFuzzer
changes, so that whatever both kernels do not agree on is found, too.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import atheris
from twins import loaded, serving, written

from kernel_cases import differences, some_case


class Drawn(random.Random):
    """Draws what some bytes say, and when these are used up what they are the seed of."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.left = iter(data)

    def random(self) -> float:
        """Draw from a byte: that is fine enough for a choice."""
        byte = next(self.left, None)
        return super().random() if byte is None else byte / 256

    def getrandbits(self, k: int) -> int:
        """Draw from as few bytes as there are bits for."""
        drawn = [next(self.left, None) for _ in range((k + 7) // 8)]
        if None in drawn:
            return super().getrandbits(k)
        return int.from_bytes(bytes(filter(None.__ne__, drawn)), "little") % 2**k


def main() -> None:
    """Fuzz until something is found, or as long as libFuzzer's options say."""
    module, folder = loaded(Path(sys.argv.pop(1))), Path(tempfile.mkdtemp(prefix="guided-"))

    def check(data: bytes) -> None:
        case = some_case(Drawn(data))
        if found := differences(case, folder):
            raise AssertionError("\n".join([f"the kernels differ: {found}", *written(case)]))

    atheris.Setup(sys.argv, check)
    with serving(module):
        atheris.Fuzz()


if __name__ == "__main__":
    main()
