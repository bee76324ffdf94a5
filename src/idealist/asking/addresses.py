"""Addresses that requests go to: whether they can be read, and whether others could listen."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

#: What is said of a key that goes out in the open.
OVERHEARD = "the key goes to {place} without encryption, and others can read it; use https:"


def http_parts(url: str) -> SplitResult | None:
    """Part an address of HTTP; None where it is none.

    >>> http_parts("http://localhost:9200/x").port, http_parts("ftp://x"), http_parts("http://x:x")
    (9200, None, None)
    """
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if fits else None


def is_open(parts: SplitResult) -> bool:
    """Whether others can read what is sent: no encryption, and not this machine.

    >>> is_open(urlsplit("http://example.org")), is_open(urlsplit("http://127.0.0.1"))
    (True, False)
    """
    return parts.scheme == "http" and not _is_near(parts.hostname or "")


def _is_near(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
