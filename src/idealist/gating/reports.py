"""The gate's verdict for machines that watch builds: JUnit, GitHub's summary and annotations."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from idealist.draw import markdown
from idealist.gating.checks import FAIL, INCONCLUSIVE, UNTESTED
from idealist.gating.result import Gate
from idealist.gating.words import sentence

_LEVELS = {FAIL: "error", INCONCLUSIVE: "warning"}


def summary(gate: Gate) -> str:
    """Write Markdown for a job summary or a comment."""
    sign = {FAIL: "❌", INCONCLUSIVE: "⚠️"}.get(gate.verdict, "✅")
    lines = [f"- {line}" for line in (*gate.lines, *gate.looks)]
    signed = [f"`{signature}`" for signature in gate.signatures.values()]
    parts = [f"### {sign} {gate.headline}", markdown(gate.grid()), "\n".join(lines)]
    return "\n\n".join([*parts, "  \n".join(signed)])


def github_annotations(gate: Gate) -> list[str]:
    """Write GitHub's workflow commands: an error, a warning or a notice a line.

    Reference: docs.github.com, Workflow commands for GitHub Actions
    """
    found = []
    for line in [gate.headline, *gate.lines, *gate.looks]:
        level = _LEVELS.get(re.split("[ :]", line)[0], "notice")
        escaped = line.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        found.append(f"::{level} title=idealist gate::{escaped}")
    return found


def junit(gate: Gate, strict: bool = False) -> str:
    """Write JUnit XML: a test case a check, one for emptied queries; undecided is skipped."""
    cases: list[tuple[str, str, str]] = [
        (check.name, check.verdict, sentence(check)) for check in gate.checks
    ]
    emptied = FAIL if gate.too_empty else ""
    cases.append(("queries that became empty", emptied, ", ".join(gate.emptied)))
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name="idealist gate", tests=str(len(cases)))
    outcomes = [_outcome(verdict, strict) for _, verdict, _ in cases]
    suite.set("failures", str(outcomes.count("failure")))
    suite.set("skipped", str(outcomes.count("skipped")))
    details = "\n".join(gate.looks)
    for (name, _, words), outcome in zip(cases, outcomes, strict=True):
        case = ElementTree.SubElement(suite, "testcase", classname="idealist.gate", name=_xml(name))
        if outcome:
            found = ElementTree.SubElement(case, outcome, message=_xml(words))
            found.text = _xml(details) if outcome == "failure" else None
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _outcome(verdict: str, strict: bool) -> str:
    if verdict == FAIL or (strict and verdict == INCONCLUSIVE):
        return "failure"
    return "skipped" if verdict in (INCONCLUSIVE, UNTESTED) else ""


def _xml(words: str) -> str:
    """Replace the characters that XML cannot hold."""
    return re.sub("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", words)
