"""A drop-in replacement for trec_eval: its command line, output and exit codes, our measures."""

from __future__ import annotations
