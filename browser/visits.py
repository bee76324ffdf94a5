"""What the tests in a browser share: pages made by the command line, and visits that must be quiet."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page

import chromium

PageOf = Callable[[str], Path]
Visit = Callable[..., AbstractContextManager[Page]]
EXAMPLES = Path(__file__).parents[1] / "examples"
#: What looks for barriers.
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()


def screen(width: int, scheme: str = "light", height: int = 900) -> dict[str, Any]:
    """Describe a screen, for a visit."""
    return {"viewport": {"width": width, "height": height}, "color_scheme": scheme}


def unfold(page: Page, most: int | None = None) -> None:
    """Open what is folded up: all of it, or so many."""
    for one in page.locator("details").all()[:most]:
        one.evaluate("details => { details.open = true }")


def findings(page: Page, part: str = "body") -> list[str]:
    """Ask axe-core what is wrong; minor matters are left out."""
    page.evaluate(AXE)
    run = "part => axe.run(part, { resultTypes: ['violations'] })"
    found = page.evaluate(run, part)["violations"]
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"][:3]
    ]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium.started() as browser:
        yield browser


def command(*arguments: Any, cwd: Path = EXAMPLES.parent) -> None:
    program = Path(sys.executable).with_name("idealist")
    subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, cwd=cwd)


@pytest.fixture(scope="session")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> PageOf:
    """Return the page of a name; it is made when it is first asked for."""
    folder = tmp_path_factory.mktemp("pages")

    def made(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            command("report", *inputs(name, folder), "-o", path)
        return path

    return made


def inputs(name: str, folder: Path) -> list[Any]:
    """Return what the page of a name is made from."""
    match name:
        case "one":
            return ["examples/qrels.txt", "examples/bm25.run", "--queries", "examples/queries.tsv"]
        case "two":
            runs = ["examples/bm25.run", "examples/reranked.run"]
            return ["examples/qrels.txt", *runs, "--queries", "examples/queries.tsv"]
        case "many":
            return ["examples/pool/qrels.txt", *sorted((EXAMPLES / "pool").glob("*.run"))]
        case "covid":
            return covid()
        case "demo":
            return [*demo(folder), "--top", 6]
        case "large":
            return large(folder)
    raise ValueError(name)


def covid() -> list[Path]:
    """Find the twelve runs of TREC-COVID, or skip the test."""
    from conftest import TEST_DATA  # of the tests; screenshots know of none

    runs = sorted(TEST_DATA.glob("trec-covid-r1/runs/*"))
    if not runs:
        pytest.skip(f"no real data at {TEST_DATA}; set IDEALIST_TEST_DATA")
    return [TEST_DATA / "trec-covid-r1" / "qrels.txt", *runs]


def demo(folder: Path) -> list[Any]:
    """Let the demo write its files, which have texts of queries and documents."""
    command("demo", cwd=folder)
    files = [folder / "idealist-demo" / name for name in ("qrels.txt", "bm25.run", "reranked.run")]
    texts = files[0].with_name("queries.csv"), files[0].with_name("documents.jsonl")
    return [*files, "--queries", texts[0], "--slice", "kind", "--docs", texts[1]]


def large(folder: Path) -> list[Path]:
    """Write two runs of 6,980 queries with a judged document each, as MS MARCO has."""
    paths = [folder / name for name in ("qrels.txt", "old.run", "new.run")]
    draw = random.Random(6980)
    files = [path.open("w") for path in paths]
    for query in range(6980):
        print(query, 0, "d3", 1, file=files[0])
        for file in files[1:]:
            found = draw.sample(range(20), 10)
            for rank, document in enumerate(found, 1):
                print(query, "Q0", f"d{document}", rank, 11 - rank, "run", file=file)
    for file in files:
        file.close()
    return paths


def dismiss(dialog: Dialog, seen: list[str]) -> None:
    """Close a dialog that should not be."""
    seen.append(f"dialog: {dialog.message}")
    dialog.dismiss()


@pytest.fixture
def visit(browser: Browser) -> Visit:
    """Open a page from disk. Whoever leaves it asserts that it asked for nothing and said nothing."""

    @contextmanager
    def opened(path: Path, anchor: str = "", **options: Any) -> Iterator[Page]:
        options = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"} | options
        context = browser.new_context(**options)
        page = context.new_page()
        seen: list[str] = []
        context.on("request", lambda request: seen.append(request.url))
        page.on("console", lambda message: seen.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: seen.append(f"error: {error}"))
        page.on("dialog", lambda dialog: dismiss(dialog, seen))
        context.on("page", lambda other: seen.append(f"window: {other.url}"))
        address = path.as_uri()
        page.goto(address + anchor)
        yield page
        assert set(seen) == {address}, seen
        context.close()

    return opened
