"""The pytest plugin, used as a user's tests use it."""

from __future__ import annotations

import sys
import tomllib
import xml.etree.ElementTree as ET
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import idealist as il
import idealist.pytest_plugin
from waiting import PATIENCE

pytest_plugins = ["pytester"]

DATA = """
    qrels = {f"q{i}": {"d1": 1} for i in range(20)}
    good = {query: ["d1", "d2"] for query in qrels}
    bad = {query: ["d2", "d1"] for query in qrels}
"""
QUIET = ("-p", "idealist.pytest_plugin", "-p", "no:randomly", "-p", "no:cacheprovider")


@pytest.fixture(autouse=True, scope="module")
def loaded() -> None:
    """Load what a gate needs: pytester forgets modules, and NumPy cannot be loaded twice."""
    qrels = {"q": {"d": 1}, "r": {"d": 1}}
    il.gate(qrels, {"q": ["d"]}, {"q": ["d"], "r": ["d"]}, "RR")


def outcome_of(pytester: pytest.Pytester, text: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(DATA + text)
    return pytester.runpytest_inprocess(*QUIET, *arguments)


def test_what_is_not_worse_passes(pytester: pytest.Pytester) -> None:
    found = outcome_of(pytester, """
    def test_it(assert_not_worse):
        assert assert_not_worse(qrels, bad, good, "RR").verdict == "PASS"
        assert assert_not_worse(qrels, good, bad, "RR", max_drop=0.5).verdict == "PASS"
    """)  # fmt: skip
    found.assert_outcomes(passed=1)
    found.stdout.no_fnmatch_line("*undecided*")


def test_a_failure_names_the_queries(pytester: pytest.Pytester) -> None:
    found = outcome_of(pytester, """
    def test_it(assert_not_worse):
        assert_not_worse(qrels, good, bad, "RR")
    """)  # fmt: skip
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines([
        ">*assert_not_worse(qrels, good, bad, \"RR\")",
        "E*FAIL: run should not replace run",
        "E*FAIL RR: 1.0000 to 0.5000 (-0.5000), a significant drop*",
        "E*queries that lost most RR: q0 (-0.5000)*",
    ])  # fmt: skip
    found.stdout.no_fnmatch_line("*gating*")  # no traceback of ours


def test_a_refusal_shows_none_of_our_frames(pytester: pytest.Pytester) -> None:
    found = outcome_of(pytester, """
    import idealist as il

    def test_it(assert_not_worse, tmp_path):
        il.save_baseline(qrels, good, tmp_path / "base.json", "RR")
        grown = {**qrels, "more": {"d1": 1}}
        assert_not_worse(grown, tmp_path / "base.json", bad)
    """)  # fmt: skip
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["E*the judgments have changed since*base.json was saved"])
    found.stdout.no_fnmatch_line("*gating*")
    found.stdout.no_fnmatch_line("*<Evaluation*")


def test_what_is_undecided_passes_and_is_said(pytester: pytest.Pytester) -> None:
    found = outcome_of(pytester, """
    def test_it(assert_not_worse):
        assert_not_worse(qrels, good, {**good, "q3": ["d2", "d1"]}, "RR")

    def test_strict(assert_not_worse):
        assert_not_worse(qrels, good, {**good, "q3": ["d2", "d1"]}, "RR", strict=True)
    """, "--junitxml=found.xml")  # fmt: skip
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(["*idealist gate: undecided*", "*::test_it", "INCONCLUSIVE: *"])
    kept = ET.parse(pytester.path / "found.xml").findall(".//property[@name='idealist gate']")
    assert [one.get("value", "")[:12] for one in kept] == ["INCONCLUSIVE"]


def test_the_function_needs_no_pytest() -> None:
    qrels = {f"q{i}": {"d": 1} for i in range(5)}
    good, bad = {q: ["d"] for q in qrels}, {q: ["e", "d"] for q in qrels}
    assert il.assert_not_worse(qrels, bad, good, "RR").verdict == "PASS"
    with pytest.raises(AssertionError, match="a significant drop"):
        il.assert_not_worse(qrels, good, bad, "RR")


def test_pytest_finds_the_plugin_by_its_entry_point(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    declared = project["project"]["entry-points"]["pytest11"]
    lines = ["[pytest11]", *(f"{name} = {module}" for name, module in declared.items())]
    about = pytester.mkdir("declared-1.dist-info")  # as installing writes it
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: declared\nVersion: 1\n")
    (about / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    pytester.makepyfile(DATA + """
    def test_it(assert_not_worse):
        assert assert_not_worse(qrels, good, good, "RR").verdict == "PASS"
    """)  # fmt: skip
    pytester.runpytest_subprocess("-p", "no:cacheprovider", timeout=PATIENCE).assert_outcomes(
        passed=1
    )


def test_an_installed_entry_point_is_the_plugin() -> None:
    name = idealist.pytest_plugin.__name__
    installed = [one.load() for one in entry_points(group="pytest11") if one.name == name]
    if not installed:
        pytest.skip("idealist was installed before it had a plugin")
    assert installed[0] is idealist.pytest_plugin


def test_loading_the_plugin_loads_nothing_heavy(pytester: pytest.Pytester) -> None:
    code = "import sys, idealist.pytest_plugin; print({'numpy', 'scipy'} & sys.modules.keys())"
    done = pytester.run(sys.executable, "-c", code, timeout=PATIENCE)
    assert done.outlines == ["set()"]
