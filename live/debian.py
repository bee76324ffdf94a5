"""Programs that the live tests need. Run as a script, it installs Debian's if it may."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import NamedTuple


class Program(NamedTuple):
    """A program, the package that has it, and what to do where that cannot be installed."""

    name: str
    package: str
    needed: str


PROGRAMS = (
    Program(
        "java", "openjdk-17-jre-headless",
        "make live needs Java 17 or later for Spark: install a JRE, or let JAVA_HOME name its "
        "folder",
    ),
    Program("groonga", "groonga-bin", "make live collects a run from Groonga: install groonga-bin"),
)  # fmt: skip


def is_there(program: Program) -> bool:
    """Whether a program would be found."""
    home = program.name == "java" and os.environ.get("JAVA_HOME")
    return bool(home or shutil.which(program.name))


def install() -> None:
    """Install what is lacking where that is allowed; elsewhere say what is needed."""
    lacking = [program for program in PROGRAMS if not is_there(program)]
    if not lacking:
        return
    may = os.name == "posix" and os.getuid() == 0 and shutil.which("apt-get")
    if not may:
        raise SystemExit("\n".join(program.needed for program in lacking))
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    command = ["apt-get", "install", "-qq", "--yes", "--no-install-recommends"]
    command += [program.package for program in lacking]
    subprocess.run(command, check=True, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
    if not all(map(is_there, lacking)):
        raise SystemExit("\n".join(program.needed for program in lacking))


if __name__ == "__main__":
    install()
