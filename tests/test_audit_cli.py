"""From a broken pair of files to a working evaluation: the commands audit and convert."""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import idealist as il
from idealist.cli.main import cli
from idealist.errors import InputError, UsageError
from idealist.formats.id_mapping import map_ids, read_mapping
from idealist.formats.id_mapping import write_mapping as write
from idealist.formats.id_steps import STEPS, chain

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
    words = shlex.split(first["command"])
    assert [words[i : i + 2] for i in (0, words.index("&&") + 1)] == [
        ["idealist", "convert"],
        ["idealist", "eval"],
    ]
    now, then = first["cost"]["bm 25"]["nDCG@10"]
    assert f"{then:.4f}" in followed(first).stdout
    assert values(QRELS, words[3]) == values(QRELS, RUN)
    assert (now, then) == (0, il.evaluate(QRELS, RUN, "nDCG@10")["nDCG@10"])


def test_mappings_are_saved_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    broken = renamed(tmp_path / "bm25.run", 2, lambda name: name.replace("-", "%2D").upper())
    judged = renamed(tmp_path / "qrels.txt", 2, str.title, QRELS)
    found = il.audit(judged, broken).findings[0]
    assert "--save-mappings mappings" in found.command.split(" && ")[0]
    followed(found)
    assert len(read_mapping("mappings/bm25-documents.tsv")) > 50
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
    assert (first.count, first.total) == (118, 127)
    mapping = first.mappings["documents"]
    mended = renamed(tmp_path / "mended.run", 2, mapping.__getitem__, broken)
    assert values(QRELS, mended, collapse="#.*") == values(QRELS, RUN)


def test_queries_and_documents_are_mended_together(tmp_path: Path) -> None:
    broken = renamed(tmp_path / "one.run", 2, str.upper)
    broken = renamed(tmp_path / "bm25.run", 0, lambda name: f"topic/{name}", broken)
    found = il.audit(QRELS, broken).findings
    assert [one.code for one in found[:2]] == ["query-ids", "document-ids"]
    assert found[0].command == ""  # which would mend half of it
    assert "the last finding about ids" in found[0].remedy
    assert "--map-queries" in found[1].command
    followed(found[1])
    assert values(QRELS, tmp_path / "bm25.fixed.run") == values(QRELS, RUN)


def followed(finding: il.Doubt | dict[str, Any]) -> Result:
    """Run the commands of a finding, all but the last silently."""
    command = finding["command"] if isinstance(finding, dict) else finding.command
    for part in command.split(" && "):
        done = idealist(*shlex.split(part)[1:])
        assert done.exit_code == 0, done.output
    return done


def made(style: str, count: int = 20) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make judgments and a run whose ids are written as `style` says."""
    rng = random.Random(style)
    qrels: dict[str, Any] = {}
    run: dict[str, Any] = {}
    for query in range(100, 100 + count):
        some = [style.format(a=i // 20, b=i % 20) for i in rng.sample(range(400), 60)]
        qrels[str(query)] = {d: rng.choice([0, 0, 1, 2]) for d in some[10:40]} | {some[50]: 1}
        scores = sorted(rng.sample(range(10_000), 50), reverse=True)
        run[str(query)] = dict(zip(some, map(float, scores), strict=False))
    return qrels, run


def mapped(data: dict[str, Any], rename: Any, share: float = 1.0) -> dict[str, Any]:
    rng = random.Random(5)
    return {
        query: {(rename(d) if rng.random() < share else d): value for d, value in own.items()}
        for query, own in data.items()
    }


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(qrels: Any, *runs: Any) -> list[str]:
    names = ["qrels.json", *(f"run{i}.json" for i in range(1, len(runs) + 1))]
    for name, data in zip(names, (qrels, *runs), strict=True):
        Path(name).write_text(json.dumps(data))
    return names


def id_findings(*names: str, **options: Any) -> list[il.Doubt]:
    audit = il.audit(names[0], list(names[1:]), measures=["nDCG@10", "AP"], **options)
    audit.save_mappings("mappings")
    return [one for one in audit.findings if one.code in ("query-ids", "document-ids")]


def chunked(run: dict[str, Any], form: str) -> dict[str, Any]:
    return {
        query: {
            form.format(d=d, n=n, m=512 * n, k=7919 * n): score - i / 10
            for d, score in own.items()
            for i, n in enumerate([len(d) + int(score) % 7, 29, 8][: 1 + int(score) % 3])
        }
        for query, own in run.items()
    }


def test_one_file_may_hold_judgments_and_run(here: Path) -> None:
    qrels, run = made("doc{a}x{b}")
    records = [
        {"id": query, "retrieved": [d.upper() for d in run[query]], "ground_truth": judged}
        for query, judged in qrels.items()
    ]
    Path("pairs.json").write_text(json.dumps(records))
    (found,) = id_findings("pairs.json", "pairs.json")
    last = shlex.split(found.command.split(" && ")[-1])
    assert last[:2] == ["idealist", "eval"]
    assert last[2:4] == ["pairs.json", "pairs.run-fixed.json"]
    followed(found)
    lists = {query: list(own) for query, own in run.items()}
    assert values("pairs.json", "pairs.run-fixed.json") == values(qrels, lists)


@pytest.mark.parametrize("suffix", [".json", ".csv", ".tsv", ".jsonl"])
@pytest.mark.parametrize("odd", ["run", "qrels"])
def test_commands_work_for_every_format(odd: str, suffix: str, here: Path) -> None:
    clean = dict(zip(("qrels", "run"), made("doc{a}x{b}"), strict=True))
    broken = {**clean, odd: mapped(clean[odd], str.upper, 0.5)}
    pair = {}
    for kind, name in zip(broken, put(*broken.values()), strict=True):
        pair[kind] = f"{kind}{suffix}"
        if name != pair[kind]:
            assert idealist("convert", name, pair[kind], "--kind", kind).exit_code == 0
    (found,) = id_findings(*pair.values())
    followed(found)
    pair[odd] = f"{odd}.fixed{suffix}"
    assert values(*pair.values()) == values(*clean.values())


FORMS = [
    "{d}_{n}", "{d}-{n}", "{d}.{n}", "{d}_{n:04d}", "{d}::chunk-{n}", "{d} ({n})", "{d}[{n}]",
    "{d}|{n}", "{d}:{m}-{n}", "{d}#{k:06x}", "{d}.sent{n}", "{d}#page={n}",
]  # fmt: skip
STYLES = ["doc_{a}{b}", "FT{a}-{b}", "sec.{a}.{b}", "alpha-{a}x{b}y"]


@pytest.mark.parametrize(("form", "style"), [*zip(FORMS, STYLES * 3, strict=True)])
def test_chunks_of_any_form_are_counted_as_documents(form: str, style: str, here: Path) -> None:
    qrels, run = made(style)
    names = put(qrels, chunked(run, form))
    (found,) = id_findings(*names)
    *before, last = found.command.split(" && ")
    followed({"command": " && ".join(before)} if before else found)
    done = idealist(*shlex.split(last)[1:], "-f", "json")
    assert done.exit_code == 0
    clean = il.evaluate(qrels, run, ["nDCG@10", "AP"])
    assert json.loads(done.stdout)["runs"][0]["values"] == dict(clean.aggregates)
    assert found.total == sum(map(len, qrels.values()))
    assert found.count == sum(len(own.keys() & run[query]) for query, own in qrels.items())


def test_queries_and_chunks_are_mended_together(here: Path) -> None:
    qrels, run = made("d{a}x{b}")
    names = put(qrels, {f"q{query}": own for query, own in chunked(run, "{d}#{n}").items()})
    first, second = id_findings(*names, depth=30)
    assert (first.code, second.code) == ("query-ids", "document-ids")
    done = followed(second)
    wanted = il.evaluate(qrels, run, ["nDCG@10", "AP"], collapse="#.*", depth=30)
    assert f"{wanted['AP']:.4f}" in done.output  # what was asked is asked again
    assert second.price["run1"]["AP"][1] == wanted["AP"]


def test_judgments_are_rather_mended_by_a_rule_than_runs_by_mappings(here: Path) -> None:
    qrels, run = made("{a}1{b:02d}")
    odd = {f"{query}.0": {f"{d}.0": grade for d, grade in own.items()}
           for query, own in qrels.items()}  # fmt: skip
    first, second = id_findings(*put(odd, run, run))
    assert (first.run, first.command, second.run) == ("", "", "")
    assert "--map-queries number --map-docs number" in second.command
    followed(second)
    assert values("qrels.fixed.json", "run1.json") == values(qrels, run)
    fine = mapped({f"{query}.0": own for query, own in run.items()}, lambda name: f"{name}.0")
    found = id_findings(*put(odd, run, fine))
    assert {one.run for one in found} == {"run1"}  # the other one is as it should be


def test_judged_chunks_are_counted_as_documents(here: Path) -> None:
    qrels, run = made("doc-{a:02d}{b:02d}")
    chunks = {
        query: {f"{d}#c{(int(d[-1]) + int(query)) % 4}": grade for d, grade in own.items()}
        for query, own in qrels.items()
    }
    (found,) = id_findings(*put(chunks, run))
    assert "the judgments name chunks" in found.message
    assert r"--kind qrels --map-docs 'end:#c\d+'" in found.command
    followed(found)
    assert values("qrels.fixed.json", "run1.json") == values(qrels, run)


def test_judged_chunks_of_one_document_are_not_made_one() -> None:
    qrels, run = made("doc-{a:02d}{b:02d}")
    chunks = {
        query: {f"{d}#c{i}": grade for d, grade in own.items() for i in range(4)}
        for query, own in qrels.items()
    }
    assert il.audit(chunks, run, measures="AP").findings[0].code == "no-documents-meet"


@pytest.mark.parametrize("odd", ["run", "qrels"])
def test_names_of_files_may_differ_in_three_ways(odd: str, here: Path) -> None:
    data = dict(zip(("qrels", "run"), made("FAQ-{a}x{b}"), strict=True))
    names = lambda d: f"data/r{len(d)}/{d.lower()}.{['pdf', 'md', 'docx'][int(d[-1]) % 3]}"  # noqa: E731
    (found,) = id_findings(*put(*{**data, odd: mapped(data[odd], names)}.values()))
    for words in ("folders of a path", "file extension", "upper and lower case"):
        assert words in found.message
    shown = followed(found).output
    assert f"{il.evaluate(data['qrels'], data['run'], 'AP')['AP']:.4f}" in shown


@pytest.mark.parametrize("name", ["nowhere.tsv", "mappings/run-documents.tsv", "maps/all"])
def test_a_mapping_that_is_not_there_is_said(name: str, here: Path) -> None:
    for words in (
        ("eval", QRELS, RUN, "--set", f"collapse={name}"),
        ("convert", RUN, "new.run", "--map-docs", name),
    ):
        with pytest.raises(UsageError, match=f"there is no file {name}") as caught:
            CliRunner().invoke(cli, [*map(str, words)], catch_exceptions=False)
        assert "--save-mappings" in caught.value.hint
    with pytest.raises(UsageError, match="is the name of a file, not a pattern"):
        il.evaluate(QRELS, RUN, "AP", collapse=name)


def test_judgments_are_mended_once_for_all_runs(here: Path) -> None:
    qrels, run = made("Doc{a}x{b}")
    other = {query: dict([*own.items()][10:]) for query, own in run.items()}
    names = put(mapped(qrels, str.upper, 0.5), run, other)
    (found,) = id_findings(*names)
    assert found.run == ""
    assert set(found.price) == {"run1", "run2"}
    followed(found)
    for own, name in ((run, names[1]), (other, names[2])):
        assert values("qrels.fixed.json", name) == values(qrels, own)


@pytest.mark.parametrize("rename", [str.upper, lambda name: name.replace("x", "%78")])
def test_both_sides_are_mended_where_both_write_in_two_ways(rename: Any, here: Path) -> None:
    qrels, run = made("doc{a}x{b}")
    names = put(mapped(qrels, rename, 0.5), mapped(run, rename, 0.4))
    first, second = id_findings(*names)
    assert (first.run, second.run) == ("", "run1")
    followed(second)
    assert values("qrels.fixed.json", "run1.fixed.json") == values(qrels, run)


def test_few_odd_rows_are_found_where_chance_cannot_have_made_them(here: Path) -> None:
    qrels, run = made("doc{a}x{b}")
    (found,) = id_findings(*put(qrels, mapped(run, str.upper, 0.04)))
    followed(found)
    assert values("qrels.json", "run1.fixed.json") == values(qrels, run)


def test_a_repair_of_some_of_many_forms_is_not_the_answer() -> None:
    qrels, run = made("d{a}x{b}")
    source = ["news-", "wiki-", "web-", "mail-", "talk-"]
    run = mapped(run, lambda name: source[len(name) * int(name[1]) % 5] + name)
    found = il.audit(qrels, run, measures="AP").findings[0]
    assert found.code == "no-documents-meet"


def test_ids_that_become_one_in_other_queries_are_said() -> None:
    qrels, run = made("Doc{a}x{b}")
    lists = list(run)
    strange = {
        query: {d.upper(): s for d, s in own.items()}
        | {d.lower(): 0.1 for d in run[lists[i - 1]] if d not in own}
        for i, (query, own) in enumerate(run.items())
    }
    found = il.audit(qrels, strange, measures="AP").findings[0]
    assert found.code == "document-ids"
    assert "would become one with another id of the run, in other queries" in found.message


def test_names_of_files_and_ids_do_not_break_commands(here: Path) -> None:
    qrels, run = made("lib+url-{a}x{b}")
    names = put(mapped(qrels, lambda name: name.removeprefix("lib+url-")), run)
    Path(names[1]).rename("-run.json")
    Path("-run.fixed.json").write_text("mine")
    (found,) = id_findings(names[0], "-run.json")
    assert "mappings/-run-documents.tsv" in found.command  # prefix:lib+url- would be two steps
    followed(found)
    assert Path("-run.fixed.json").read_text() == "mine"
    assert values(names[0], "./-run.fixed2.json") == values(qrels, run)


def test_ids_with_ends_of_lines_stand_in_mapping_files(here: Path) -> None:
    mapping = {"a\nb": "c", "d\te": '"f"', '"g': "h\r"}
    write(here / "map.tsv", mapping)
    assert read_mapping(here / "map.tsv") == mapping


def test_data_without_files_is_mended_in_python() -> None:
    qrels, run = made("doc{a}x{b}")
    loud = mapped(run, str.upper)
    found = il.audit(qrels, loud, measures="AP").findings[0]
    assert found.command == ""
    assert "map_ids(read_run(run), documents=finding.mappings['documents'])" in found.remedy
    mended = il.map_ids(il.read_run(loud), documents=found.mappings["documents"])
    assert values(qrels, mended) == values(qrels, run)
    assert values(qrels, il.map_ids(il.read_run(loud), "lower")) == values(qrels, run)
    with pytest.raises(UsageError, match="dict is neither judgments nor a run"):
        il.map_ids(loud, "lower")  # type: ignore[type-var]


def test_standard_input_is_to_be_saved(here: Path) -> None:
    text = renamed(here / "loud.run", 2, str.upper).read_text()
    done = CliRunner().invoke(cli, ["audit", str(QRELS), "-", "-m", "AP"], input=text)
    assert "save what came by standard input to a file" in done.output
    assert "<stdin>" not in done.output.split("remedy")[1].split("run ")[0]


def test_what_cannot_be_done_to_ids_is_said() -> None:
    for how, said in (("", "'' is neither a file"), ("start:(", r"'\(' is no pattern")):
        with pytest.raises(UsageError, match=said):
            CliRunner().invoke(
                cli, ["convert", str(RUN), "-", "--map-docs", how], catch_exceptions=False
            )


CLEAN: dict[str, Any] = {
    "versions": lambda r: f"pkg-{r.choice('abcdef')}-{r.randint(0, 9)}.{r.randint(0, 9)}",
    "titles": lambda r: f"The {r.choice(['Peru', 'Mali'])} {r.choice(['', r.randint(1900, 2020)])}",
    "addresses": lambda r: (
        f"http{r.choice('s ').strip()}://{r.choice(['', 'www.'])}a.org/"
        f"{r.randint(0, 99)}{r.choice(['', '/', '.html'])}"
    ),
    "cases": lambda r: r.choice(["US", "us", "Us", "IT", "it", "WHO"]) + str(r.randint(0, 60)),
    "decimals": lambda r: f"{r.randint(0, 60)}{r.choice(['', '.0', '.1', '.5'])}",
    "padded": lambda r: r.choice(["%d", "%03d", "%05d"]) % r.randint(0, 150),
    "passages": lambda r: f"d{r.randint(0, 100)}#{r.randint(0, 4)}",
}


@pytest.mark.parametrize("name", CLEAN)
def test_ids_that_look_alike_in_clean_data_are_let_be(name: str) -> None:
    for seed in range(12):
        rng = random.Random(f"{name} {seed}")
        documents = list(dict.fromkeys(CLEAN[name](rng).strip() for _ in range(600)))
        length, share = rng.choice([10, 20, 50]), rng.choice([1, 0.5, 0.1, 0.03])
        qrels: dict[str, Any] = {}
        run: dict[str, Any] = {}
        for query in range(rng.choice([3, 8, 25])):
            some = rng.sample(documents, length + 10)
            kept = [d for d in some[:length] if rng.random() < share] + some[length:]
            qrels[str(query)] = dict.fromkeys(kept, 1)
            run[str(query)] = {d: float(-i) for i, d in enumerate(some[:length])}
        codes = {one.code for one in il.audit(qrels, run, measures="AP").findings}
        assert "document-ids" not in codes, seed


def test_what_never_meets_is_shown_from_both_sides() -> None:
    qrels = {"q1": {"apple": 1, "pear": 0}}
    (one, *_) = il.audit(qrels, {"q1": {"7": 2.0, "8": 1.0}}).findings
    assert (one.code, one.severity) == ("no-documents-meet", "error")
    assert "judged are apple, pear, in the run are 7, 8" in one.message
    assert "lower, upper, number, zeros" in one.remedy
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
    assert f"document-ids, bm25: {audit.findings[0].finding}" in str(audit)


def test_two_ids_never_become_one() -> None:
    run = il.read_run({"q1": {"A": 2.0, "a": 1.0}})
    with pytest.raises(UsageError, match="'A' and 'a' of query 'q1' would both become 'a'"):
        map_ids(run, "lower")
    with pytest.raises(UsageError, match="would both become"):
        map_ids(il.read_qrels({"q1": {"A": 1}, "Q1": {"b": 1}}), queries="lower")


def test_judgments_keep_all_but_their_ids(tmp_path: Path) -> None:
    judged = il.read_qrels([
        {"query": "q1", "document": "D1", "grade": 2, "subtopic": "a"},
        {"query": "q1", "document": "D1", "grade": 1, "subtopic": "b"},
        {"query": "q2", "document": "D2", "grade": 0, "subtopic": "a"},
    ])  # fmt: skip
    other = map_ids(judged, "lower", "upper")
    assert other.to_dict() == {"Q1": {"d1": 2}, "Q2": {"d2": 0}}
    assert map_ids(other, "upper", "lower").hash == judged.hash
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
    path.write_text('"a\tb\n')
    with pytest.raises(InputError, match="is no pair of ids"):
        read_mapping(path)
    with pytest.raises(UsageError, match=r"map\.tsv holds something else"):
        write(path, {"a": "b"})
    with pytest.raises(UsageError, match="'lowr' is neither a file nor a transformation"):
        map_ids(il.read_run(RUN), "lowr")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_every_transformation_has_a_name_that_is_read(step: Any) -> None:
    assert chain(step.name).steps == (step,)
    assert [one.name for one in chain(f"prefix:a+b+{step.name}").steps] == ["prefix:a+b", step.name]
    assert chain(f"prefix:0+{step.name}").apply("0") == "0"  # of which nothing would be left


def test_the_repair_of_ids_can_be_removed() -> None:
    source = Path(il.__file__).parent
    modules = [path for path in source.rglob("*.py") if "auditing/ids/" not in path.as_posix()]
    users = [path for path in modules if "auditing.ids" in path.read_text("utf-8")]
    assert users == [source / "auditing" / "__init__.py"]


@pytest.mark.parametrize("fault", ["duplicates", "nonfinite-scores"])
def test_commands_work_where_a_run_has_another_fault_too(fault: str, tmp_path: Path) -> None:
    lines = renamed(tmp_path / "bm25.run", 2, str.upper).read_text().splitlines(keepends=True)
    extra = lines[0] if fault == "duplicates" else " ".join([*lines[0].split()[:4], "nan", "x\n"])
    rest = lines if fault == "duplicates" else lines[1:]
    (tmp_path / "bm25.run").write_text("".join([extra, *rest]))
    found = il.audit(QRELS, tmp_path / "bm25.run", measures=["RR"]).findings
    assert [one.code for one in found[:2]] == ["document-ids", fault]
    assert followed(found[0]).exit_code == 0


# Which queries count


def test_only_the_queries_given_are_audited(tmp_path: Path) -> None:
    """As every verb that takes a file of queries: nothing of the others is counted or priced."""
    judged = il.read_qrels(QRELS)
    some = judged.queries[::3]
    kept = {"queries": tmp_path / "some.tsv", "qrels": tmp_path / "some.qrels"}
    kept["queries"].write_text("".join(f"{query}\tsome text\n" for query in some))
    rows = [line for line in QRELS.read_text().splitlines() if line.split()[0] in some]
    kept["qrels"].write_text("\n".join(rows) + "\n")
    mine = json.loads(
        idealist("audit", QRELS, RUN, "--queries", kept["queries"], "-f", "json").output
    )
    assert (
        mine["coverage"]["runs"]
        == json.loads(idealist("audit", kept["qrels"], RUN, "-f", "json").output)["coverage"][
            "runs"
        ]
    )
    (same,) = (one for one in mine["findings"] if one["code"] == "same-query")
    assert same["count"] == same["total"] == len(some)  # and their texts are still looked at
    page = idealist("report", QRELS, RUN, "--queries", kept["queries"], "-f", "json")
    assert json.loads(page.output)["audit"] == mine


@pytest.mark.parametrize(
    "asked", [("--worst", "100"), ("--bounds", "--details"), ("--between", "trec_eval", "sklearn")]
)
def test_only_the_queries_given_are_explained(asked: tuple[str, ...], tmp_path: Path) -> None:
    some, kept = il.read_qrels(QRELS).queries[::3], tmp_path / "some.tsv"
    kept.write_text("".join(f"{query}\tsome text\n" for query in some))
    only = il.read_qrels(QRELS).only(set(some))
    il.write_qrels(only, tmp_path / "some.qrels")
    words = (RUN, "-m", "nDCG@10", "-f", "csv", "-q", *asked)
    mine = idealist("explain", QRELS, *words, "--queries", kept)
    alone = idealist("explain", tmp_path / "some.qrels", *words, "--queries", kept)
    assert mine.exit_code == 0, mine.output
    assert mine.output == alone.output
    other = next(query for query in il.read_qrels(QRELS).queries if query not in some)
    named = idealist("explain", QRELS, RUN, "--query", other, "--queries", kept)
    assert named.exit_code == 0
