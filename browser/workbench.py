"""The workbench in a browser: a server on a copy of the demo's folder, and visits that must be quiet."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

import idealist as il
from idealist.judging.judgment_imports import import_judgments
from visits import command, dismiss

#: Opens a page of a workbench; whoever leaves it asserts that it was quiet.
Look = Callable[..., AbstractContextManager[Page]]


#: What judges go by.
SCALE = {0: "off topic", 1: "related", 2: "helps", 3: "answers it"}
GUIDELINES = "Would you be glad to find this document, having typed the query?"


@dataclass
class Bench:
    """A server: its folder, where it is, and the cookie of a browser that came in."""

    folder: Path
    address: str
    process: subprocess.Popen[str]
    state: Any = None

    def url(self, path: str) -> str:
        return self.address + path


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Bench]:
    """Serve a folder until it is left."""
    program = Path(sys.executable).with_name("idealist")
    words = [str(program), "ui", str(folder), "--no-browser", "--port", "0", "--judge", "ann"]
    process = subprocess.Popen([*words, *options], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    entry = next(
        found[1] for line in process.stderr if (found := re.search(r"open (http\S+)", line))
    )
    bench = Bench(folder, entry.partition("/enter")[0], process)
    bench.state = entry
    try:
        yield bench
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the demo: judgments, two runs, queries with columns, and documents."""
    folder = tmp_path_factory.mktemp("demo")
    command("demo", cwd=folder)
    found = folder / "idealist-demo"
    (found / "report.html").unlink(missing_ok=True)
    return found


@pytest.fixture
def bench(demo_folder: Path, tmp_path: Path, browser: Browser) -> Iterator[Bench]:
    """A workbench on a folder of its own, to be changed as one likes."""
    folder = tmp_path / "demo"
    shutil.copytree(demo_folder, folder)
    with serving(folder) as served:
        entered(served, browser)
        yield served


@pytest.fixture(scope="module")
def shared_bench(
    demo_folder: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser
) -> Iterator[Bench]:
    """A workbench that several tests only look at."""
    folder = tmp_path_factory.mktemp("shared") / "demo"
    shutil.copytree(demo_folder, folder)
    with serving(folder) as served:
        entered(served, browser)
        yield served


def judged(folder: Path) -> None:
    """Make a store of the demo's judgments, of which two people judged some again."""
    path, draw = folder / "judgments.db", random.Random(52)
    texts: dict[str, Any] = {
        "queries": folder / "queries.csv", "docs": folder / "documents.jsonl",
    }  # fmt: skip
    with il.Store.create(path, scale=SCALE, guidelines=GUIDELINES, **texts) as store:
        import_judgments(store, folder / "qrels.txt", judge="qrels.txt")
        rows = list(store.current())
        for judge in ("ann", "bob"):
            some = draw.sample(rows, 120)
            store.judge_all(
                il.Judgment(
                    one.query, one.document, min(3, max(0, (one.grade or 0) + draw.choice((0, 0, 0, 1, -1)))),
                    judge, seconds=draw.uniform(4, 20),
                )
                for one in some
            )  # fmt: skip
        runs = [folder / f"{name}.run" for name in ("bm25", "reranked")]
        store.add_batch(il.pool(store, runs, depth=20).batch)


@pytest.fixture(scope="module")
def judged_bench(
    demo_folder: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser
) -> Iterator[Bench]:
    """A workbench with a store, in which two people disagree and something is left to judge."""
    folder = tmp_path_factory.mktemp("judged") / "demo"
    shutil.copytree(demo_folder, folder)
    judged(folder)
    with serving(folder) as served:
        entered(served, browser)
        yield served


def entered(bench: Bench, browser: Browser) -> None:
    """Come in once; other contexts take the cookie along."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(bench.state)
    bench.state = context.storage_state()
    context.close()


@pytest.fixture
def look(browser: Browser) -> Look:
    """Open a page. Whoever leaves it asserts that nothing was asked elsewhere, and nothing said."""

    @contextmanager
    def opened(bench: Bench, path: str, quiet: bool = True, **options: Any) -> Iterator[Page]:
        options = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"} | options
        context = browser.new_context(storage_state=bench.state, accept_downloads=True, **options)
        seen = listened(context, bench)
        page = context.new_page()
        there(page, bench.url(path))
        yield page
        assert not quiet or not seen, seen
        context.close()

    return opened


def listened(context: BrowserContext, bench: Bench) -> list[str]:
    """Collect what no page should do: ask elsewhere, write to the console, open dialogs."""
    seen: list[str] = []
    home = urlsplit(bench.address).netloc

    def watched(page: Page) -> None:
        page.on("console", lambda message: seen.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: seen.append(f"error: {error}"))
        page.on("dialog", lambda dialog: dismiss(dialog, seen))

    def asked(url: str) -> None:
        if urlsplit(url).netloc != home and not url.startswith("blob:"):
            seen.append(f"asked for {url}")

    context.on("page", watched)
    context.on("request", lambda request: asked(request.url))
    return seen


def there(page: Page, url: str) -> None:
    """Go to a page; one that is still computed comes by itself."""
    page.goto(url)
    expect(page.locator("main h1", has_text="Working …")).to_have_count(0, timeout=60_000)
