"""Take the pictures that README and docs show: of the report that the demo leaves, and the workbench."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image, ImageOps
from playwright.sync_api import Browser, Page

import chromium
from visits import command, screen
from workbench import Bench, entered, judged, serving, there

STATIC = Path(__file__).parents[1] / "docs" / "_static"

#: The margin of a page of A4, which only paper has.
MARGIN = 57

#: Name, screen and place of each picture.
PICTURES: list[tuple[str, dict[str, Any], str]] = [
    ("report", screen(1280, height=1000), ""),
    ("report-lists", screen(1440), "#query-3"),
    ("report-queries-dark", screen(1440, "dark"), "#queries"),
    ("report-phone", screen(360), ""),
    ("report-phone-dark", screen(360, "dark"), "#query-3"),
    ("report-paper", screen(680, height=1009) | {"media": "print"}, ""),
]


#: Name, screen and address of each picture of the workbench.
WORKBENCH: list[tuple[str, dict[str, Any], str]] = [
    ("ui-runs", screen(1280, height=860), "/runs"),
    ("ui-compare", screen(1280, height=1000), "/compare"),
    ("ui-query", screen(1280, height=1000), "/query?query=q05"),
    ("ui-judge", screen(1280, height=860), "/judge"),
    ("ui-judge-phone", screen(360, "dark", height=780), "/judge"),
    ("ui-judges", screen(1280, "dark", height=1000), "/judges"),
    ("ui-audit", screen(1280, height=1000), "/audit?run=bm25"),
]


def picture(browser: Browser, report: Path, look: dict[str, Any], anchor: str) -> bytes:
    """Take a picture of what stands at a place."""
    media = look.pop("media", "screen")
    page: Page = browser.new_page(**look, reduced_motion="reduce")
    page.emulate_media(media=media)
    page.goto(report.as_uri() + anchor)
    page.wait_for_timeout(300)
    if anchor:
        page.evaluate("document.activeElement.blur()")
    taken: bytes = page.screenshot()
    page.close()
    return taken


def small(taken: bytes, margin: int) -> Image.Image:
    """Paint it in 128 colours, which show all there is, in a third of the size."""
    whole = ImageOps.expand(Image.open(io.BytesIO(taken)).convert("RGB"), margin, "white")
    return whole.quantize(128, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)


def pages(browser: Browser, bench: Bench) -> Iterator[tuple[str, bytes]]:
    """Take pictures of the workbench, with a store that people have judged in."""
    for name, look, path in WORKBENCH:
        page = browser.new_page(**look, reduced_motion="reduce", storage_state=bench.state)
        there(page, bench.url(path))
        page.wait_for_timeout(300)
        yield name, page.screenshot()
        page.close()


def save(name: str, taken: bytes, margin: int = 0) -> None:
    """Keep a picture."""
    target = STATIC / f"{name}.png"
    small(taken, margin).save(target, optimize=True)
    print(f"{target.name}: {target.stat().st_size / 1000:.0f} KB")


def main() -> None:
    """Take all of them."""
    with TemporaryDirectory() as folder, chromium.started() as browser:
        command("demo", cwd=Path(folder))
        report = Path(folder) / "idealist-demo" / "report.html"
        for name, look, anchor in PICTURES:
            taken = picture(browser, report, dict(look), anchor)
            save(name, taken, MARGIN if "media" in look else 0)
        judged(report.parent)
        with serving(report.parent) as bench:
            entered(bench, browser)
            for name, taken in pages(browser, bench):
                save(name, taken)


if __name__ == "__main__":
    main()
