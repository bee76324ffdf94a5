"""A repair of ids: what is done to those found and to those wanted so that they meet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from idealist.auditing.transformations import Chain, Step


class Lists(NamedTuple):
    """The ids of both sides for one query: those retrieved and those judged."""

    found: frozenset[str]
    wanted: frozenset[str]


NOTHING = Chain(())


@dataclass(frozen=True)
class Repair:
    """What is done to the ids found and to those wanted so that they meet."""

    found: Chain = NOTHING
    wanted: Chain = NOTHING

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, each once."""
        return tuple(dict.fromkeys((*self.found.steps, *self.wanted.steps)))

    @property
    def words(self) -> str:
        """What differs, in words."""
        return Chain(self.steps).words

    @property
    def gentle(self) -> bool:
        """Whether two different ids hardly ever become equal."""
        return all(step.gentle for step in self.steps)

    def allows(self, step: Step, sides: str) -> bool:
        """Whether a step may come next: only what is constant replaces something constant."""
        if step.chunk.startswith(r"\.") and any(one.name == "number" for one in self.steps):
            return False  # else each version 1.4 would be 1.0
        own, other = self.found.steps, self.wanted.steps
        if sides == "wanted":
            own, other = other, own
        if sides == "both":
            return True
        opposite = [one for one in other if one.end and one.end == step.end]
        return not (step.chunk and any(one.chunk for one in own)) and all(
            step.replaces(one) or one.replaces(step) for one in opposite
        )

    def with_step(self, step: Step, sides: str) -> Repair:
        """Add a step to ``found``, ``wanted`` or ``both``."""
        chains = {"found": self.found, "wanted": self.wanted}
        new = {
            side: Chain((*chain.steps, step))
            for side, chain in chains.items()
            if sides in (side, "both")
        }
        return replace(self, **new)
