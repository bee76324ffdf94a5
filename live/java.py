"""The Java that Spark runs on. Run as a script, it installs Debian's if it may."""

from __future__ import annotations

import os
import shutil
import subprocess

NEEDED = (
    "make live needs Java 17 or later for Spark: install a JRE, or let JAVA_HOME name its folder"
)
PACKAGE = "openjdk-17-jre-headless"


def is_there() -> bool:
    """Whether Spark would find Java."""
    return bool(os.environ.get("JAVA_HOME") or shutil.which("java"))


def install() -> None:
    """Install Debian's where that is allowed; elsewhere say what is needed."""
    if is_there():
        return
    if os.name != "posix" or os.getuid() != 0 or not shutil.which("apt-get"):
        raise SystemExit(NEEDED)
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    command = ["apt-get", "install", "-qq", "--yes", "--no-install-recommends", PACKAGE]
    subprocess.run(command, check=True, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
    if not is_there():
        raise SystemExit(NEEDED)


if __name__ == "__main__":
    install()
