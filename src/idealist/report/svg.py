"""Figures as SVG: the one place where marks become shapes."""

from __future__ import annotations

from idealist.report.figure import Figure


def draw(figure: Figure) -> str:
    """Draw a figure, with its own style, to stand in a file or a notebook."""
    raise NotImplementedError(figure.kind)
