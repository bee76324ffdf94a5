"""The plain reference: trec_eval's further measures, loop by loop."""

from __future__ import annotations
