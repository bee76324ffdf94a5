"""Groonga, an engine of Debian's that answers over HTTP."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from waiting import PATIENCE

#: A table of documents, with an index of their texts.
SCHEMA = """table_create Docs TABLE_HASH_KEY ShortText
column_create Docs body COLUMN_SCALAR Text
table_create Terms TABLE_PAT_KEY ShortText --default_tokenizer TokenBigram --normalizer NormalizerAuto
column_create Terms docs_body COLUMN_INDEX|WITH_POSITION Docs body
"""


@contextmanager
def serving(folder: Path, documents: Mapping[str, str]) -> Iterator[str]:
    """Index documents, and serve them over HTTP."""
    rows = [{"_key": id_, "body": text} for id_, text in documents.items()]
    commands = f"{SCHEMA}load --table Docs\n{json.dumps(rows)}\n"
    base = str(folder / "docs.grn")
    subprocess.run(["groonga", "-n", base], input=commands.encode(), check=True,
                   capture_output=True)  # fmt: skip
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(["groonga", "-s", "--protocol", "http", "-p", str(port), base])
    try:
        url = f"http://127.0.0.1:{port}/d"
        _until_up(f"{url}/status")
        yield url
    finally:
        server.terminate()
        server.wait(PATIENCE)


def _until_up(url: str) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
