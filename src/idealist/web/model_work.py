"""A model at work: started, watched and stopped from the workbench."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ModelWork:
    """The model that may judge, if one was configured, and what it is doing."""

    def stop(self) -> None:
        """Let a model at work stop after what it was asked."""
