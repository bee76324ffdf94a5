"""Work in forks of a process that has imported idealist: as isolated, and sooner done."""

from __future__ import annotations

import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

from waiting import PATIENCE

#: What only a shell understands.
OF_SHELLS = set("*?$`~#\\!{}[]")


def plain_words(command: str) -> list[str] | None:
    """Split a command of idealist into words; None if it needs a shell.

    >>> plain_words("idealist eval a.txt -m 'P(rel=2)@5'"), plain_words("idealist demo | head")
    (['idealist', 'eval', 'a.txt', '-m', 'P(rel=2)@5'], None)
    """
    if not command.startswith("idealist "):
        return None
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=False, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)
    bare = [word for word in words if word[0] not in "'\""]
    signs = any(set(word) & OF_SHELLS or set(word) <= set("|<>;&()") for word in bare)
    return None if signs else shlex.split(command.replace("\\\n", " "))


class Forks:
    """A process that has imported modules and done nothing else, and forks for each piece of work."""

    def __init__(self, work: Callable[..., None], modules: Iterable[str] = ()) -> None:
        self._line, theirs = Pipe()
        for name in modules:
            import_module(name)
        if not _fork():
            self._line.close()
            serve(theirs, work)
        theirs.close()

    def __call__(self, *given: Any) -> None:
        """Do a piece of work where we stand."""
        ask(self._line, *given)


def ask(line: Connection, *given: Any) -> int:
    """Have a piece of work done behind a line, and return its exit status."""
    line.send(given)
    assert line.poll(PATIENCE), given
    return int(line.recv())


def serve(line: Connection, work: Callable[..., None]) -> NoReturn:
    """Fork for each piece of work that is wanted, one after the other."""
    with suppress(EOFError):
        while True:
            given = line.recv()
            if not (child := _fork()):
                line.close()
                os._exit(_done(work, *given))
            line.send(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os._exit(0)


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads of libraries that wait for work
        return os.fork()


def _done(work: Callable[..., None], *given: Any) -> int:
    status = 0
    try:
        work(*given)
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def into(path: Path, *streams: int) -> None:
    """Write what goes to these streams to a file from now on."""
    written = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in streams:
        os.dup2(written, stream)


def command(words: list[str], output: Path) -> None:
    """Be a command of idealist: print to a file, and warn as usual."""
    from idealist.cli.main import main

    into(output, 1, 2)
    warnings.simplefilter("default")
    main(words[1:])
