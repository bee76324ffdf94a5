"""How long each query of a run took, where whoever made the run says so."""

from __future__ import annotations

from idealist.data import Run
from idealist.errors import Faults, UsageError
from idealist.formats.collected_runs import CollectedRun, is_collected, read_collected
from idealist.formats.run_sources import FileRun, ObjectRun


def times_of(run: Run) -> dict[str, float]:
    """Return the milliseconds of each query that was answered; refuse a run without any.

    >>> line = {"query": "q1", "status": "ok", "ms": 4.5, "hits": [{"id": "d1"}]}
    >>> times_of(Run(ObjectRun([{"collected": 1}, line], "run"), "run"))
    {'q1': 4.5}
    """
    found: CollectedRun | None = None
    match run.source:
        case FileRun(source=source):
            found = read_collected(source)
        case ObjectRun(data=data) if is_collected(data):
            found = CollectedRun.of(data, Faults(run.name))
    times = {} if found is None else found.milliseconds
    if not times:
        hint = "idealist collect writes runs that say it"
        raise UsageError(f"{run.name} does not say how long its queries took", hint)
    return times
