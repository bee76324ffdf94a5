"""Write `docs/reference/api.md`: the whole Python API on one page, readable without building docs.

    python docs/api_page.py

A test fails where the page is not what this writes.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import idealist
from idealist import tensors

PAGE = Path(__file__).parent / "reference" / "api.md"

#: What people look for, in the order they need it; the rooms that hold it.
GROUPS = {
    "Read and write": ("formats",),
    "Evaluate": ("evaluating",),
    "Compare and plan": ("comparing",),
    "Fuse and tune": ("fusing",),
    "Gate": ("gating",),
    "Explain and bound": ("explaining", "bounding"),
    "Audit and diagnose": ("auditing", "diagnosing"),
    "Reconcile, bundle and verify": ("reconciling", "conventions", "bundling", "verifying"),
    "Judge": ("judging",),
    "Grade by clicks": ("clicks",),
    "Measures": ("measures",),
    "Results": ("rendering", "reporting"),
    "Data and ranking": ("data", "ranking", "protocol"),
    "Errors": ("errors",),
}


def page() -> str:
    """Write the page."""
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield "# Python"
    yield "\nEvery public name of `idealist`; `docs/api_page.py` writes this page from docstrings."
    yield "The other measures are listed by `idealist measures`.\n"
    for title, rooms in GROUPS.items():
        members = [name for name in idealist.__all__ if _room(name) in rooms]
        yield f"## {title}\n"
        for name in sorted(members, key=_place):
            yield from _entry(name, getattr(idealist, name))
    yield "## In the training loop: idealist.tensors\n"
    for name in sorted([*tensors.__all__, *tensors.HEAVY], key=_place):
        if name in tensors.HEAVY:  # it would import packages that may not be there
            yield from (f"### {name}\n", *_paragraphs(_written(tensors.HEAVY[name], name)))
        else:
            yield from _entry(name, getattr(tensors, name))


def _place(name: str) -> tuple[bool, str]:
    return name[0].isupper(), name.lower()


def _written(module: str, name: str) -> str:
    """Read the docstring of a class without importing its module."""
    source = Path(tensors.__file__).with_name(f"{module}.py").read_text("utf-8")
    nodes = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    return next(ast.get_docstring(node) or "" for node in nodes if node.name == name)


def _room(name: str) -> str:
    value = getattr(idealist, name)
    module = getattr(value, "__module__", None) or type(value).__module__
    return module.removeprefix("idealist.").partition(".")[0]


def _entry(name: str, value: Any) -> Iterator[str]:
    if not callable(value):
        return
    yield f"### {name}\n"
    if inspect.isfunction(value):
        yield from ("```text", _signature(name, value), "```\n")
    yield from _documented(value)
    if inspect.isclass(value) and not name.isupper():
        yield from _members(value)


def _signature(name: str, value: Any) -> str:
    """Write a call, one argument a line where it is long."""
    signature = inspect.signature(value)
    parts: list[str] = []
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        starred: dict[Any, str] = {one.VAR_KEYWORD: "**", one.VAR_POSITIONAL: "*"}
        stars = starred.get(one.kind, "")
        default = "…" if callable(one.default) else repr(one.default)
        default = "" if one.default is one.empty else f" = {default}"
        parts.append(f"{stars}{one.name}: {one.annotation}{default}")
    short = f"{name}({', '.join(parts)}) -> {signature.return_annotation}"
    if len(short) <= 88:
        return short
    lines = "".join(f"    {part},\n" for part in parts)
    return f"{name}(\n{lines}) -> {signature.return_annotation}"


def _documented(value: Any) -> Iterator[str]:
    """Write the docstring of something."""
    yield from _paragraphs(inspect.getdoc(value) or "")


def _paragraphs(written: str) -> Iterator[str]:
    """Write a docstring; its example stands in a block of its own."""
    for paragraph in written.split("\n\n"):
        words = re.sub(r"``([^`]+)``", r"`\1`", paragraph)
        example = paragraph.lstrip().startswith(">>>")
        yield from ("```text", paragraph, "```\n") if example else (words, "")


def _members(cls: type) -> Iterator[str]:
    """List the public methods and properties that the class itself defines."""
    lines = []
    for name, value in vars(cls).items():
        inner = getattr(value, "__func__", getattr(value, "fget", getattr(value, "func", value)))
        if not name.startswith("_") and inspect.isfunction(inner):
            first = (inspect.getdoc(inner) or "").split("\n")[0]
            called = name if inner is not value else f"{name}{_arguments(inner)}"
            lines.append(f"- `{called}`: {first}")
    yield from [*lines, ""] if lines else []


def _arguments(function: Any) -> str:
    names = [
        f"{name}=…" if one.default is not one.empty else name
        for name, one in inspect.signature(function).parameters.items()
        if name != "self"
    ]
    return f"({', '.join(names)})"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
