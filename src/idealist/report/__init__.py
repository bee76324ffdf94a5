"""Reports: every result as a document, and the forms a document is written in."""

from __future__ import annotations
