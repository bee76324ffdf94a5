"""Documents, figures and results: what verbs say, and the forms it is written in."""

from __future__ import annotations
