"""The browser of these tests: the system's Chromium. Run as a script, it installs Debian's if it may."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

NEEDED = (
    "make browser needs Chromium: install the package chromium of your system,"
    " or let CHROMIUM name the program of a Chromium or Chrome"
)

#: Nothing of its own over the network, and no sandbox, which containers do not offer.
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--disable-quic", "--force-color-profile=srgb",
]  # fmt: skip


def find() -> str | None:
    """Find the program."""
    names = [os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"]
    return next(filter(None, map(shutil.which, filter(None, names))), None)


@contextmanager
def started() -> Iterator[Browser]:
    """Start it, without a window."""
    program = find()
    if program is None:
        raise SystemExit(NEEDED)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


def install() -> None:
    """Install Debian's where that is allowed; elsewhere say what is needed."""
    if find():
        return
    if os.name != "posix" or os.getuid() != 0 or not shutil.which("apt-get"):
        raise SystemExit(NEEDED)
    packages = ["chromium", "fonts-liberation"]
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    command = ["apt-get", "install", "-qq", "--yes", "--no-install-recommends", *packages]
    subprocess.run(command, check=True, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
    if not find():
        raise SystemExit(NEEDED)


if __name__ == "__main__":
    install()
