"""trec_eval's command line, output and exit codes, computed by our measures."""

from __future__ import annotations
