"""The gate's verdict for machines that watch builds: JUnit XML and GitHub's annotations."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from idealist.gating.checks import FAIL, INCONCLUSIVE, UNTESTED, Check
from idealist.gating.gate_result import Gate, most_lost, sentence
from idealist.report import doubt_words


def github_annotations(gate: Gate, strict: bool = False) -> list[str]:
    """Write GitHub's workflow commands: an error where the build stops, else a warning or a notice.

    Reference: docs.github.com, Workflow commands for GitHub Actions
    """
    levels = {"failure": "error", "skipped": "warning", "": "notice"}
    lines = [(levels[_outcome(gate.verdict, strict)], gate.summary)]
    for check in gate.checks:
        level = "notice" if check.verdict == UNTESTED else levels[_checked(check, strict)]
        lines.append((level, f"{check.verdict} {sentence(check)}"))
    lines += [("error" if gate.too_empty else "notice", line) for line in gate.emptied_lines]
    others = (*gate.gap_lines, *gate.looks, *doubt_words.lines(gate.doubts))
    lines += [("notice", line) for line in others]
    escaped = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
    return [f"::{level} title=idealist gate::{line.translate(escaped)}" for level, line in lines]


def junit(gate: Gate, strict: bool = False) -> str:
    """Write JUnit XML: a case for each check, one for emptied queries; undecided is skipped."""
    cases = [
        (check.name, _checked(check, strict), sentence(check), most_lost(check))
        for check in gate.checks
    ]
    emptied = "failure" if gate.too_empty else ""
    cases.append(("queries that became empty", emptied, ", ".join(gate.emptied), ""))
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name="idealist gate", tests=str(len(cases)))
    outcomes = [outcome for _, outcome, _, _ in cases]
    suite.set("failures", str(outcomes.count("failure")))
    suite.set("skipped", str(outcomes.count("skipped")))
    for name, outcome, words, lost in cases:
        case = ElementTree.SubElement(suite, "testcase", classname="idealist.gate", name=_xml(name))
        if outcome:
            found = ElementTree.SubElement(case, outcome, message=_xml(words))
            found.text = _xml(lost) if outcome == "failure" else None
    ElementTree.SubElement(suite, "system-out").text = _xml("\n".join(gate.said))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _checked(check: Check, strict: bool) -> str:
    """Say what a check means for the build; a slice need not pass, however strict the gate is."""
    return _outcome(check.verdict, strict and not check.pair.slice)


def _outcome(verdict: str, strict: bool) -> str:
    if verdict == FAIL or (strict and verdict == INCONCLUSIVE):
        return "failure"
    return "skipped" if verdict in (INCONCLUSIVE, UNTESTED) else ""


def _xml(words: str) -> str:
    """Replace the characters that XML cannot hold."""
    return re.sub("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", words)
