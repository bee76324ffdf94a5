"""A server of the workbench that is killed on demand: `python live/judge_server.py FOLDER`.

It prints its port. Each line that it reads kills what serves, with SIGKILL, and starts another;
the socket stays, so that nobody is turned away meanwhile. A cookie holds nothing but a name.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from socket import socket
from typing import NoReturn

import uvicorn

from idealist.web.application import Workbench
from idealist.web.found_files import Folder
from idealist.web.guard import Door
from idealist.web.people import Person, Sessions
from idealist.web.workspace import Workspace


class Known(Sessions):
    """Everybody is who the cookie says."""

    def person(self, secret: str) -> Person:
        """Believe it."""
        return Person(secret, "judge")


def serve(folder: Path, taken: socket) -> NoReturn:
    """Serve until killed."""
    try:
        door = Door({f"127.0.0.1:{taken.getsockname()[1]}"}, Known())
        bench = Workbench(Workspace(Folder(folder), judge="owner"), door)
        config = uvicorn.Config(bench.application(), log_level="error", access_log=False, ws="none")
        uvicorn.Server(config).run(sockets=[taken])
    finally:
        os._exit(1)


def started(folder: Path, taken: socket) -> int:
    """Start what serves, in a process of its own; everything is imported already."""
    return os.fork() or serve(folder, taken)


def main() -> None:
    """Start, and start again whenever told."""
    folder, taken = Path(sys.argv[1]), socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen(256)
    server = started(folder, taken)
    print(taken.getsockname()[1], flush=True)
    for _ in sys.stdin:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
        server = started(folder, taken)
        print("killed", flush=True)
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)


if __name__ == "__main__":
    main()
