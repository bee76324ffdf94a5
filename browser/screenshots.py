"""Take the pictures of the report that README and docs show: the report of `idealist demo`."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page

import chromium
from visits import screen

STATIC = Path(__file__).parents[1] / "docs" / "_static"

#: Name, screen and place of each picture.
PICTURES: list[tuple[str, dict[str, Any], str]] = [
    ("report", screen(1440), ""),
    ("report-lists", screen(1440), "#query-2"),
    ("report-queries-dark", screen(1440, "dark"), "#queries"),
    ("report-phone", screen(360), ""),
    ("report-phone-dark", screen(360, "dark"), "#query-2"),
    ("report-paper", {"viewport": {"width": 794, "height": 1123}, "media": "print"}, ""),
]


def demo_report(folder: Path) -> Path:
    """Let the demo write its report."""
    program = Path(sys.executable).with_name("idealist")
    subprocess.run([program, "demo"], cwd=folder, check=True, capture_output=True)
    return folder / "idealist-demo" / "report.html"


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


def small(taken: bytes) -> Image.Image:
    """Paint it in 64 colours, which show all there is, in a quarter of the size."""
    return Image.open(io.BytesIO(taken)).convert("RGB").quantize(64, dither=Image.Dither.NONE)


def main() -> None:
    """Take all of them."""
    with TemporaryDirectory() as folder, chromium.started() as browser:
        report = demo_report(Path(folder))
        for name, look, anchor in PICTURES:
            target = STATIC / f"{name}.png"
            small(picture(browser, report, dict(look), anchor)).save(target, optimize=True)
            print(f"{target.name}: {target.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
