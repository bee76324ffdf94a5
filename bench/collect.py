"""How much longer collecting 10,000 queries takes than it must, by queries under way at once.

An engine on loopback answers each request after 5 ms, in a process of its own. Ideal is 5 ms times
the queries, divided by how many are under way. `python bench/collect.py [HOW MANY…]`.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import idealist as il

QUERIES, PAUSE, HITS = 10_000, 0.005, 10
CONCURRENCIES = (8, 16, 32)
TEMPLATE = {"query": {"match": {"title": "{{query}}"}}, "size": "{{k}}"}


def _answer() -> bytes:
    hits = [{"_index": "shop", "_id": f"d{n}", "_score": 9.0 - n / 10} for n in range(HITS)]
    found = {"total": {"value": 100, "relation": "eq"}, "hits": hits}
    said = {"took": 5, "timed_out": False, "_shards": {"failed": 0}, "hits": found}
    body = json.dumps(said).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


class Engine(asyncio.Protocol):
    """One connection to an engine that needs 5 ms for everything."""

    answer = _answer()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.received = transport, b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, end, rest = self.received.partition(b"\r\n\r\n")
        size = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if end and len(rest) >= int(size or 0):
            self.received = b""
            asyncio.get_running_loop().call_later(PAUSE, self.reply)

    def reply(self) -> None:
        if isinstance(self.transport, asyncio.Transport) and not self.transport.is_closing():
            self.transport.write(self.answer)


async def _serve(ready: Connection) -> None:
    server = await asyncio.get_running_loop().create_server(Engine, "127.0.0.1", 0, backlog=256)
    ready.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _engine(ready: Connection) -> None:
    asyncio.run(_serve(ready))


@contextmanager
def engine() -> Iterator[str]:
    """Serve in a process of its own."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_engine, args=(there,))
    process.start()
    try:
        yield f"elasticsearch+http://127.0.0.1:{here.recv()}/shop"
    finally:
        process.terminate()
        process.join()


def measured(address: str, folder: Path, concurrency: int) -> tuple[float, float]:
    """Collect; return how many times the ideal it took, and the processor's time of a query."""
    queries = {f"q{n}": f"red shoes {n}" for n in range(QUERIES)}
    path = folder / f"{concurrency}-{time.monotonic_ns()}.jsonl"
    begun, used = time.perf_counter(), time.process_time()
    found = il.collect(address, queries, 10, template=TEMPLATE, output=path,
                       concurrency=concurrency)  # fmt: skip
    seconds, used = time.perf_counter() - begun, time.process_time() - used
    assert len(found.collected[path.stem].those("ok")) == QUERIES
    return seconds / (QUERIES * PAUSE / concurrency), used / QUERIES


def main() -> None:
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"{QUERIES:,} queries of {1000 * PAUSE:g} ms; {load}")
    with tempfile.TemporaryDirectory() as folder, engine() as address:
        for concurrency in map(int, sys.argv[1:] or CONCURRENCIES):
            ratio, used = min(measured(address, Path(folder), concurrency) for _ in range(3))
            ideal = QUERIES * PAUSE / concurrency
            said = f"{ratio:.2f} times the ideal of {ideal:.2f} s"
            print(f"{concurrency} at once: {said}; {1e6 * used:.0f} µs of processor a query")


if __name__ == "__main__":
    main()
