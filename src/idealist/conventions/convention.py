"""What a convention is: a name and a rule that sets every axis a user left open."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal, SupportsIndex

from idealist.data import Qrels
from idealist.measures import Measure
from idealist.measures.instrument import Instrument, route
from idealist.notation import Value

Axes = Mapping[str, Value]
Rule = Callable[[Measure], Axes]
Evidence = Literal["live", "recorded", "derived"]


#: The convention that holds where nobody names one.
DEFAULT = "trec_eval"


@dataclass(frozen=True)
class Convention:
    """How one tool measures.

    `rule` returns the axes in which the tool differs from the default for a measure, and the cutoff
    it uses if none is given. `measures` names the measures the tool has; None means that all follow
    the rule. `evidence` says how we know: the tool runs in our tests (live), its printed values are
    checked (recorded), or its source was read (derived).
    """

    name: str
    tool: str
    version: str
    evidence: Evidence
    rule: Rule
    measures: frozenset[str] | None = None

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickle the name under which a module has it: that of its rule, which `tool` replaced."""
        place = self.rule.__module__, self.rule.__name__
        if getattr(sys.modules.get(place[0]), place[1], None) is self:
            return _of_module, place
        return super().__reduce_ex__(protocol)

    def has(self, measure: Measure) -> bool:
        """Whether the tool itself computes this measure."""
        return self.measures is None or measure.name in self.measures

    def instrument(
        self, measure: Measure, axes: Mapping[str, Any] | None = None, qrels: Qrels | None = None
    ) -> Instrument:
        """Set every parameter: as the user wrote it, or as `axes` or else the tool have it.

        By the default, fractions of grades in `qrels` stay, unless they are TREC text, which the
        tool itself would have read and cut.
        """
        own = {} if axes is None else route(type(measure), axes)[0]
        rules = dict(self.rule(replace(measure, **{**own, **measure.written()})))
        cutoff = rules.pop("cutoff", None)
        if isinstance(cutoff, int) and measure.cutoff is None and measure.takes_cutoff:
            measure = measure @ cutoff
        made = Instrument.of(measure, rules, axes or {})
        cuts = made.protocol.grades == "truncate" and "grades" not in (axes or {})
        if not cuts or self.name != DEFAULT or qrels is None or not qrels.keeps_fractions:
            return made
        return replace(made, protocol=replace(made.protocol, grades="keep"))


def tool(
    name: str, tool: str, version: str, evidence: Evidence,
    measures: str | Iterable[str] | None = None,
) -> Callable[[Rule], Convention]:  # fmt: skip
    """Turn a rule into the convention of a tool; `measures` names those it has, if not all.

    >>> @tool("mine", "my script", "1", "derived", "AP nDCG")
    ... def mine(measure: Measure) -> Axes:
    ...     return {"ties": "input"}
    >>> mine.name, sorted(mine.measures)
    ('mine', ['AP', 'nDCG'])
    """
    names = measures.split() if isinstance(measures, str) else measures
    own = None if names is None else frozenset(names)
    return lambda rule: Convention(name, tool, version, evidence, rule, own)


def _of_module(module: str, name: str) -> Any:
    return getattr(import_module(module), name)
