"""Commands of idealist in forks of a process that has imported it: as isolated, and sooner done."""

from __future__ import annotations

import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

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


class Commands:
    """A process that has imported modules and done nothing else, and forks for each command."""

    def __init__(self, modules: Iterable[str]) -> None:
        self.line, theirs = Pipe()
        for name in modules:
            import_module(name)
        if not _fork():
            self.line.close()
            _serve(theirs)
        theirs.close()

    def run(self, words: list[str], output: Path) -> str:
        """Run a command where we stand, and return what it prints."""
        self.line.send((words, str(output)))
        assert self.line.poll(PATIENCE), words
        self.line.recv()
        return output.read_text("utf-8")


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads of libraries that wait for work
        return os.fork()


def _serve(line: Connection) -> NoReturn:
    with suppress(EOFError):
        while True:
            words, output = line.recv()
            if not (child := _fork()):
                _run(words, output)
            os.waitpid(child, 0)
            line.send(None)
    os._exit(0)


def _run(words: list[str], output: str) -> NoReturn:
    """Be the command: print to a file, warn as usual, and leave."""
    from idealist.cli.main import main

    written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(written, 1)
    os.dup2(written, 2)
    warnings.simplefilter("default")
    try:
        main(words[1:])
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
