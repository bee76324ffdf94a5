"""A server that answers as a script says: as models or engines do, and as servers do on bad days.

It speaks OpenAI's chat completions on loopback, and keeps all that it was asked. A script maps the
number of a request, from 0, and its body to what happens; `by_turns` makes one of a few replies.
Where it is `engine`, it answers at every path, and the script gets whole requests.
"""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Scripted:
    """What a server does with one request."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.0
    cut: str = ""  # "before" anything is sent, or in the "middle" of the answer


Script = Callable[[int, Body], Scripted]


def completion(
    content: str | None, *, finish: str = "stop", usage: Any = (20, 5), logprobs: Any = None,
    message: Mapping[str, Any] | None = None, **given: Any,
) -> Scripted:  # fmt: skip
    """Answer with these words."""
    choice = {
        "index": 0, "finish_reason": finish,
        "message": {"role": "assistant", "content": content, **(message or {})},
    }  # fmt: skip
    if logprobs is not None:
        choice["logprobs"] = {"content": logprobs}
    said: dict[str, Any] = {"id": "x", "object": "chat.completion", "choices": [choice]}
    if usage is not None:
        said["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return Scripted(json.dumps(said).encode(), **given)


def graded(grade: Any, **given: Any) -> Scripted:
    """Answer with a grade."""
    return completion(json.dumps({"grade": grade}), **given)


def failing(status: int, message: str = "it failed", **headers: str) -> Scripted:
    """Answer with an error."""
    said = json.dumps({"error": {"message": message, "code": status}}).encode()
    return Scripted(said, status, {name.replace("_", "-"): one for name, one in headers.items()})


def grade_of(body: Body, grades: int = 4) -> int:
    """Grade a question by its words alone: the same question always has the same grade."""
    words = json.dumps([body["messages"], body.get("seed")]).encode()
    return hashlib.sha256(words).digest()[0] % grades


def judging(number: int, body: Body) -> Scripted:
    """Answer as a steady judge would."""
    return graded(grade_of(body))


#: What servers do on bad days, by name; a judge must come through each of them.
BAD_DAYS: dict[str, Scripted] = {
    "busy": failing(429, "slow down", retry_after="0"),
    "broken": failing(500),
    "hung up": Scripted(cut="before"),
    "cut off": Scripted(graded(3).body, cut="middle"),
    "garbage": Scripted(b"\x00\xff{{{ not JSON"),
    "page of a proxy": Scripted(b"<html><h1>Bad Gateway</h1></html>", 502),
    "page": Scripted(b"<!doctype html><html><h1>Welcome</h1></html>"),
    "no choices": Scripted(b'{"choices": []}'),
    "choices are none": Scripted(b'{"choices": null}'),
    "error in a good answer": Scripted(b'{"error": {"message": "upstream", "code": 502}}'),
    "off the scale": graded(17),
    "grade of words": graded("very relevant"),
    "other keys": completion('{"title": "a"}'),
    "two grades": completion('{"grade": 2} {"grade": 0}'),
    "a list": completion("[1, 2]"),
    "cut by length": completion('{"gra', finish="length"),
    "refusal": completion(None, message={"refusal": "I cannot help with that."}),
    "filtered": completion("", finish="content_filter"),
    "nothing": completion(""),
    "huge": completion("x" * (9 << 20)),
    "without usage": graded(1, usage=None),
    "slow": graded(1, pause=0.3),
}


def by_turns(*replies: Scripted | Script) -> Script:
    """Reply in this order, and with the last from then on."""

    def script(number: int, body: Body) -> Scripted:
        reply = replies[min(number, len(replies) - 1)]
        return reply if isinstance(reply, Scripted) else reply(number, body)

    return script


@dataclass
class ScriptedServer:
    """A server under way: its address, its script, and what it was asked and how it replied."""

    url: str
    script: Script
    asked: list[Body] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    done: list[tuple[Body, Scripted]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, body: Body, headers: dict[str, str]) -> Scripted:
        """Note a request, and look up what happens."""
        with self.lock:
            number = len(self.asked)
            self.asked.append(body)
            self.headers.append(headers)
        return self.script(number, body)


@contextmanager
def scripted(
    script: Script | Scripted = judging, port: int = 0, engine: bool = False
) -> Iterator[ScriptedServer]:
    """Serve a script on loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            sent = self.rfile.read(length)
            if len(sent) < length:  # the other side was killed while it spoke: nothing was asked
                self.close_connection = True
                return
            body = json.loads(sent or b"{}")
            if engine:
                body = {"method": self.command, "path": self.path, "body": body}
            found = server.take(body, {name.lower(): one for name, one in self.headers.items()})
            known = engine or self.path == "/v1/chat/completions"
            reply = found if known else failing(404, "no such path")
            time.sleep(reply.pause)
            if reply.cut == "before":
                self.hang_up()
                return
            self.send_response(reply.status)
            kind = "text/html" if b"<html" in reply.body[:100] else "application/json"
            for name, value in {"content-type": kind, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            if reply.cut == "middle":
                self.wfile.write(reply.body[: len(reply.body) // 2])
                self.hang_up()
                return
            self.wfile.write(reply.body)
            with server.lock:
                server.done.append((body, reply))

        do_GET = do_POST

        def hang_up(self) -> None:
            self.wfile.flush()
            linger = struct.pack("ii", 1, 0)  # a reset, not a farewell
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:  # the other side was killed
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_: Any) -> None:
            pass

    with Quiet(("127.0.0.1", port), Handler) as listening:
        address = f"http://127.0.0.1:{listening.server_address[1]}/v1"
        server = ScriptedServer(address, script if callable(script) else by_turns(script))
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        listening.shutdown()
        thread.join()
