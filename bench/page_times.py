"""Time the pages of the workbench, on data of two shapes, and show the memory of the server.

    python bench/page_times.py FOLDER [FOLDER …]
    python bench/page_times.py --make FOLDER

With ``--make`` it writes the data first: 100 runs x 50 queries, and 2 runs x 6,980 queries x 1,000.
Each page is asked for until it is there, then twice more. `first` is the first answer, which may
say that the page is being computed; `there` is when the page came; `again` the slower of two more.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

PAGES = (
    "/runs", "/compare", "/compare?sort=best&page=2", "/query?sort=worst", "/query?sort=best",
    "/search?find=1", "/audit", "/files",
)  # fmt: skip


def started(folder: Path) -> tuple[subprocess.Popen[str], str, float]:
    """Start the workbench; return its address, and how long that took."""
    program = Path(sys.executable).with_name("idealist")
    begun = time.perf_counter()
    command = [str(program), "ui", str(folder), "--no-browser", "--port", "0", "--judge", "bench"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    address = next(
        found[1] for line in server.stderr if (found := re.search(r"open (http\S+)", line))
    )
    return server, address, time.perf_counter() - begun


def opened(address: str) -> urllib.request.OpenerDirector:
    """Come in, as soon as the server answers."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    for _ in range(500):
        try:
            browser.open(address).read()
            return browser
        except OSError:
            time.sleep(0.01)
    raise SystemExit("the server does not answer")


def asked(browser: urllib.request.OpenerDirector, address: str) -> tuple[float, float]:
    """Ask for a page until it is there: how long for the first answer, and for the page."""
    begun, first = time.perf_counter(), 0.0
    while True:
        with browser.open(address) as answer:
            answer.read()
            first = first or time.perf_counter() - begun
            if answer.status != 202:
                return first, time.perf_counter() - begun
        time.sleep(0.1)


def memory(process: int) -> dict[str, int]:
    """Return what a process takes now and took at most, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    cells = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    return {name: int(cells[name][0]) // 1000 for name in ("VmRSS", "VmHWM")}


def timed(folder: Path) -> None:
    server, address, start = started(folder)
    try:
        begun = time.perf_counter()
        browser = opened(address)
        print(
            f"{folder}: start {start:.2f} s, first page {start + time.perf_counter() - begun:.2f} s"
        )
        for page in PAGES:
            where = address.partition("/enter")[0] + page
            first, there = asked(browser, where)
            again = max(asked(browser, where)[1] for _ in range(2))
            print(f"  {page:<28} first {first:6.3f}  there {there:6.3f}  again {again:6.3f}")
        print(f"  memory in MB: {memory(server.pid)}")
    finally:
        server.kill()


def make(folder: Path) -> list[Path]:
    """Write both shapes, with ids and scores as real runs have them."""
    import random

    many, large = folder / "many", folder / "large"
    for one in (many, large):
        one.mkdir(parents=True, exist_ok=True)
    generate = Path(__file__).with_name("generate.py")
    subprocess.run([sys.executable, generate, large, "6980", "1000", "2"], check=True)
    os.replace(large / "run.txt", large / "old.run")
    draw = random.Random(6980)
    with (large / "old.run").open() as old, (large / "new.run").open("w") as new:
        for line in old:
            query, _, document, rank, score, _ = line.split()
            new.write(
                f"{query} Q0 {document} {rank} {float(score) + draw.random() * 0.05:.6f} new\n"
            )
    subprocess.run([sys.executable, generate, many, "50", "1000", "100", "--graded"], check=True)
    rows = [line.split() for line in (many / "run.txt").read_text().splitlines()]
    (many / "run.txt").unlink()
    for number in range(100):
        noisy = (
            f"{q} Q0 {d} {r} {float(s) + draw.gauss(0, 0.02 * number):.6f} r{number}\n"
            for q, _, d, r, s, _ in rows
        )
        (many / f"run{number:03}.run").write_text("".join(noisy))
    return [many, large]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--make", action="store_true", help="write the data first")
    given = parser.parse_args()
    for each in make(given.folders[0]) if given.make else given.folders:
        timed(each)
