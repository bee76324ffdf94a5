"""The page on which an editor has a model judge: what it would cost, how far it is, what came."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from idealist.errors import UsageError
from idealist.judging.llm.asked_pairs import pairs_of
from idealist.judging.llm.limits import Limits
from idealist.judging.store import Store
from idealist.web import layout
from idealist.web.model_work import WHAT, ModelTask, ModelWork, grading_prompts
from idealist.web.visit import Moved, Page, Told, Visit
from idealist.web.workspace import Workspace

PATH = "/judges/model"
#: The most that a limit may be.
LARGEST = 10**12


def page(visit: Visit) -> Page:
    """Show what the model does, what it did, and what it can be asked."""
    models, store = visit.models, visit.workspace.store(visit.state)
    now, estimate = models.now, models.estimate
    filled = {
        "models": models, "run": now, "task": models.task, "what": WHAT, "store": store,
        "prompts": grading_prompts(), "may_edit": visit.person.may("edit"),
        "estimate": layout.blocks(estimate.report().blocks) if estimate else None,
        "result": layout.blocks(now.result.report().blocks) if now and now.result else None,
    }  # fmt: skip
    return Page("A model judges", "model.html", filled, lambda: _data(models))


def _data(models: ModelWork) -> dict[str, Any]:
    now, estimate = models.now, models.estimate
    return {
        "model": models.model or None,
        "now": now.data() if now else None,
        "words": now.words if now else "",
        "estimate": estimate.data() if estimate else None,
    }


def _task(sent: Mapping[str, Any]) -> ModelTask:
    """Read what a form asks for."""
    limits = Limits(
        _whole(sent, "max_requests"), _whole(sent, "max_tokens"), _amount(sent, "max_cost")
    )
    return ModelTask(str(sent.get("prompt", "graded")), str(sent.get("what", "pooled")), limits)


def _whole(sent: Mapping[str, Any], name: str) -> int | None:
    amount = _amount(sent, name)
    if amount is not None and not amount.is_integer():
        raise UsageError(f"{_words(name)} is not a whole number", "give one, or nothing")
    return None if amount is None else int(amount)


def _amount(sent: Mapping[str, Any], name: str) -> float | None:
    given = str(sent.get(name, "") or "").strip().replace(",", "")
    if not given:
        return None
    try:
        amount = float(given)
    except ValueError:
        amount = -1.0
    if not 0 < amount <= LARGEST:
        hint = "give a number above 0, or nothing for no limit"
        raise UsageError(f"{_words(name)} cannot be {given!r:.40}", hint)
    return amount


def _words(name: str) -> str:
    return f"the limit of {name.removeprefix('max_')}"


def estimate(visit: Visit) -> Moved:
    """Say what a task would cost."""
    task, path = _task(visit.sent), visit.store.path
    add_texts(visit.workspace, path, task.what)
    visit.models.look(path, task)
    return Moved(f"{visit.state.address(PATH)}#estimate")


def start(visit: Visit) -> Moved:
    """Set the model to work."""
    task, path, workspace = _task(visit.sent), visit.store.path, visit.workspace
    visit.models.start(path, task, lambda: add_texts(workspace, path, task.what))
    return Moved(visit.state.address(PATH))


def stop(visit: Visit) -> Moved:
    """Let the model stop after what it was asked."""
    visit.models.halt()
    return Moved(visit.state.address(PATH))


def add_texts(workspace: Workspace, path: Path, what: str) -> None:
    """Put what a model is shown into the store, where files beside it have it."""
    with Store(path) as store:
        pairs = pairs_of(store, what)
        workspace.tell_store(
            store, {pair.query for pair in pairs}, {pair.document for pair in pairs}
        )


ACTIONS: dict[str, tuple[Callable[[Visit], Moved | Told], str]] = {
    f"{PATH}/estimate": (estimate, "edit"),
    f"{PATH}/start": (start, "edit"),
    f"{PATH}/stop": (stop, "edit"),
}
