"""From a broken pair of files to a working evaluation: the commands audit and convert."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import idealist as il
from idealist.auditing.mapping import mapped_qrels, mapped_run, read_mapping, renaming
from idealist.auditing.mapping import write_mapping as write
from idealist.auditing.transformations import STEPS, chain
from idealist.cli.main import cli
from idealist.errors import InputError, UsageError

EXAMPLES = Path(__file__).parents[1] / "examples"
QRELS, RUN = EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run"


def idealist(*words: Any) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def renamed(path: Path, column: int, rename: Any, source: Path = RUN) -> Path:
    lines = [line.split() for line in source.read_text().splitlines()]
    for cells in lines:
        cells[column] = rename(cells[column])
    path.write_text("".join(" ".join(cells) + "\n" for cells in lines))
    return path


def values(qrels: Any, run: Any, **axes: str) -> dict[str, list[float]]:
    found = il.evaluate(qrels, run, ["nDCG@10", "AP"], **axes)
    return {label: own.tolist() for label, own in found.values.items()}


@pytest.mark.parametrize("column", [0, 2])
@pytest.mark.parametrize(
    "rename",
    [str.upper, lambda name: f"doc-{name}", lambda name: f"{name}.html", lambda name: f"x/{name}"],
)
def test_two_commands_lead_to_a_working_evaluation(
    column: int, rename: Any, tmp_path: Path
) -> None:
    broken = renamed(tmp_path / "bm 25.run", column, rename)
    done = idealist("audit", QRELS, broken, "-f", "json")
    assert done.exit_code == 1
    first = json.loads(done.output)["findings"][0]
    assert first["severity"] == "error"
    assert first["code"] == ("query-ids" if column == 0 else "document-ids")
    tool, *words = shlex.split(first["command"])
    assert tool == "idealist"
    assert idealist(*words).exit_code == 0
    assert values(QRELS, words[2]) == values(QRELS, RUN)
    now, then = first["cost"]["bm 25"]["nDCG@10"]
    assert (now, then) == (0, il.evaluate(QRELS, RUN, "nDCG@10")["nDCG@10"])


def test_mappings_are_saved_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    broken = renamed(tmp_path / "bm25.run", 2, lambda name: name.replace("-", "%2D").upper())
    judged = renamed(tmp_path / "qrels.txt", 2, str.title, QRELS)
    done = idealist("audit", judged, broken, "--save-mappings", "mappings", "--fail-on", "never")
    assert done.exit_code == 0
    assert "written: mappings/bm25-documents.tsv" in done.output
    command = next(line for line in done.output.splitlines() if "idealist convert" in line)
    assert idealist(*shlex.split(command)[1:]).exit_code == 0
    assert values(judged, tmp_path / "bm25.fixed.run") == values(QRELS, RUN)


def test_chunks_are_counted_by_the_axis_collapse(tmp_path: Path) -> None:
    broken = renamed(tmp_path / "bm25.run", 2, lambda name: f"{name}#{len(name) % 7}")
    (first, *_) = il.audit(QRELS, broken).findings
    assert "'collapse=#\\d+'" in first.command
    assert first.mappings == {}
    assert idealist(*shlex.split(first.command)[1:]).exit_code == 0
    assert values(QRELS, broken, collapse=r"#\d+") == values(QRELS, RUN)


def test_documents_of_chunks_are_compared_where_that_was_asked(tmp_path: Path) -> None:
    broken = renamed(tmp_path / "bm25.run", 2, lambda name: f"{name.upper()}#{len(name) % 7}")
    (first, *_) = il.audit(QRELS, broken, collapse="#.*").findings
    assert first.count == first.total == 118
    mapping = first.mappings["documents"]
    mended = renamed(tmp_path / "mended.run", 2, mapping.__getitem__, broken)
    assert values(QRELS, mended, collapse="#.*") == values(QRELS, RUN)


def test_queries_and_documents_are_mended_together(tmp_path: Path) -> None:
    broken = renamed(tmp_path / "one.run", 2, str.upper)
    broken = renamed(tmp_path / "bm25.run", 0, lambda name: f"topic/{name}", broken)
    found = il.audit(QRELS, broken).findings
    assert [one.code for one in found[:2]] == ["query-ids", "document-ids"]
    assert "--map-queries" in found[1].command
    assert idealist(*shlex.split(found[1].command)[1:]).exit_code == 0
    assert values(QRELS, tmp_path / "bm25.fixed.run") == values(QRELS, RUN)


def test_what_never_meets_is_shown_from_both_sides() -> None:
    qrels = {"q1": {"apple": 1, "pear": 0}}
    (one, *_) = il.audit(qrels, {"q1": {"7": 2.0, "8": 1.0}}).findings
    assert (one.code, one.severity) == ("no-documents-meet", "error")
    assert "judged are apple, pear, in the run are 7, 8" in one.message
    (one, *_) = il.audit(qrels, {"x": {"apple": 2.0}}).findings
    assert (one.code, one.severity) == ("no-queries-meet", "error")
    assert "judged: q1" in one.examples


@pytest.mark.parametrize(
    ("fail_on", "code"), [("error", 0), ("warning", 1), ("note", 1), ("never", 0)]
)
def test_the_exit_code_follows_the_worst_finding(fail_on: str, code: int) -> None:
    assert il.audit(QRELS, RUN).worst == "warning"
    assert idealist("audit", QRELS, RUN, "--fail-on", fail_on).exit_code == code


@pytest.mark.parametrize("form", ["table", "md", "latex", "tsv", "csv"])
def test_every_format_names_the_findings(form: str, tmp_path: Path) -> None:
    broken = renamed(tmp_path / "bm25.run", 2, str.upper)
    done = idealist("audit", QRELS, broken, "-f", form)
    assert done.exit_code == 1
    assert "document-ids" in done.output
    audit = il.audit(QRELS, broken)
    assert "document-ids" in audit._repr_html_()
    assert f"document-ids, bm25: {audit.findings[0].message}" in str(audit)


def test_two_ids_never_become_one() -> None:
    run = il.read_run({"q1": {"A": 2.0, "a": 1.0}})
    with pytest.raises(UsageError, match="'A' and 'a' of query 'q1' would both become 'a'"):
        mapped_run(run, str.lower)
    with pytest.raises(UsageError, match="would both become"):
        mapped_qrels(il.read_qrels({"q1": {"A": 1}, "Q1": {"b": 1}}), queries=str.lower)


def test_judgments_keep_all_but_their_ids(tmp_path: Path) -> None:
    judged = il.read_qrels([
        {"query": "q1", "document": "D1", "grade": 2, "subtopic": "a"},
        {"query": "q1", "document": "D1", "grade": 1, "subtopic": "b"},
        {"query": "q2", "document": "D2", "grade": 0, "subtopic": "a"},
    ])  # fmt: skip
    other = mapped_qrels(judged, str.lower, str.upper)
    assert other.to_dict() == {"Q1": {"d1": 2}, "Q2": {"d2": 0}}
    assert mapped_qrels(other, str.upper, str.lower).hash == judged.hash
    target = tmp_path / "fixed.txt"
    assert idealist("convert", QRELS, target, "--map-docs", "upper").exit_code == 0
    assert il.read_qrels(target).documents == tuple(
        d.upper() for d in il.read_qrels(QRELS).documents
    )


def test_mapping_files_say_what_is_wrong_with_them(tmp_path: Path) -> None:
    path = tmp_path / "map.tsv"
    write(path, {"a b": "c", "d": "é"})
    assert read_mapping(path) == {"a b": "c", "d": "é"}
    path.write_text("a\tb\nc\na\tx\n")
    with pytest.raises(InputError) as caught:
        read_mapping(path)
    assert [(fault.code, fault.line) for fault in caught.value.faults] == [
        ("columns", 2),
        ("duplicate-key", 3),
    ]
    with pytest.raises(UsageError, match="cannot stand in a mapping file"):
        write(path, {"a\tb": "c"})
    with pytest.raises(UsageError, match="'lowr' is neither a file nor a transformation"):
        renaming("lowr")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_every_transformation_has_a_name_that_is_read(step: Any) -> None:
    assert chain(step.name).steps == (step,)
    assert [one.name for one in chain(f"prefix:a+b+{step.name}").steps] == ["prefix:a+b", step.name]
    assert chain(f"prefix:0+{step.name}").apply("0") == "0"  # of which nothing would be left
