"""Every format is written and read again: nothing is lost that was not announced."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from effort import tries
from idealist.cli.convert import NAMED
from idealist.cli.main import main
from idealist.errors import InputError
from idealist.formats.writing import FORMATS
from waiting import PATIENCE

IDS = [
    "q1", "7", "007", "d-1", "a b", "tab\there", "new\nline", "cr\rhere", "nul\0here", 'say "hi"',
    "a,b", "a;b", "#1", "{x", "[y]", "'", "\\", "é", "日本", "🙂", "\u00a0x", "\u2028", " lead",
    "trail ", "null", "NaN", "None", "true", "1e3", "query", "document", "hits", "requests", "-",
    "x" * 300, "PAR1", "ARROW1",
]  # fmt: skip
PLAIN_IDS = [f"q{i}" for i in range(9)] + [f"doc{i}" for i in range(20)]
SCORES = [0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, 0.1 + 0.2, 1e15, 123456789012345678.0, 3.0]
ODD_SCORES = [float("nan"), float("inf"), float("-inf")]

#: What each announcement is about.
ANNOUNCED = {
    "judged to have no relevant": "empty", "without any document": "empty",
    "columns left": "columns", "subtopics": "subtopics", "scores left": "score",
    "ranks left": "rank", "ranks and lengths": "rank", "lengths left": "tokens",
    "scores and": "score", "no scores": "score", "ranks are": "rank", "sorted by rank": "rows",
}  # fmt: skip


def generated_qrels(draw: random.Random) -> il.Qrels:
    ids = IDS if draw.random() < 0.3 else PLAIN_IDS
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    divided, judged_by, abstain = (draw.random() < 0.3 for _ in range(3))
    for _ in range(draw.randint(1, 12)):
        pair = draw.choice(ids), draw.choice(ids)
        row: dict[str, Any] = {"grade": draw.choice([0, 1, 2, 3, -1, 0.5, 1e9])}
        if judged_by:
            row["judge"] = draw.choice(["ann", "", "bob, jr", "12"])
        if abstain:
            row["abstain"] = draw.choice([0.25, None, 1.0])
        rows[*pair, draw.choice("123") if divided else ""] = row
    first = {pair[:2]: row for pair, row in reversed(rows.items())}
    records = [
        {**first[q, d], "query": q, "document": d, "grade": row["grade"]}
        | ({"subtopic": subtopic} if divided else {})
        for (q, d, subtopic), row in rows.items()
    ]
    qrels = il.read_qrels(records)
    if draw.random() < 0.2:
        absent = [q for q in ids if q not in qrels.queries]
        judged: dict[str, Any] = {q: {} for q in draw.sample(absent, min(2, len(absent)))}
        plain = {q: {d: row["grade"]} for (q, d, _), row in rows.items()}
        return il.read_qrels(plain | judged)
    return qrels


def generated_run(draw: random.Random) -> il.Run:
    ids = IDS if draw.random() < 0.3 else PLAIN_IDS
    scored, ranked, measured = draw.random() < 0.8, draw.random() < 0.3, draw.random() < 0.2
    scores = SCORES + ODD_SCORES if draw.random() < 0.2 else SCORES
    repeats = draw.random() < 0.1
    found: dict[str, list[dict[str, Any]]] = {}
    for query in draw.sample(ids, draw.randint(1, 4)):
        size = draw.choice([0, 1, 2, 5])
        chosen = draw.choices(ids, k=size) if repeats else draw.sample(ids, size)
        rows: list[dict[str, Any]] = [{"document": document} for document in chosen]
        for rank, row in enumerate(rows, 1):
            row.update({"score": draw.choice(scores)} if scored else {})
            row.update({"rank": draw.choice([rank, rank + 5, None])} if ranked else {})
            row.update({"tokens": draw.choice([12, 300.5, None])} if measured else {})
        found[query] = rows
    shapes: dict[str, Any] = {
        query: rows if scored or ranked or measured else [row["document"] for row in rows]
        for query, rows in found.items()
    }
    try:
        return il.read_run(shapes)
    except InputError:  # nothing in it at all, or names that read as columns
        return il.read_run({"q": ["d"]})


def view_of_qrels(qrels: il.Qrels) -> dict[str, Any]:
    by_subtopic = qrels.subtopics
    return {
        "rows": [
            (query, qrels.documents[i], float(qrels.grades[i]))
            for query, start, end in qrels.spans() for i in range(start, end)
        ],
        "columns": {key: [str(cell) for cell in column] for key, column in qrels.columns.items()},
        "subtopics": by_subtopic and [
            by_subtopic.pair.tolist(), by_subtopic.subtopic, by_subtopic.grade.tolist()
        ],
        "empty": [query for query, start, end in qrels.spans() if start == end],
    }  # fmt: skip


def view_of_run(run: il.Run) -> dict[str, Any]:
    rows = run.rows()
    listed = {query: list(rows.documents[span]) for query, span in rows.spans().items()}

    def column(values: Any) -> Any:
        if values is None or all(map(math.isnan, values.tolist())):
            return None  # nothing is known
        return {
            q: [repr(v) for v in values[s].tolist()] for q, s in rows.spans().items() if listed[q]
        }

    return {
        "rows": {query: documents for query, documents in listed.items() if documents},
        "empty": sorted(query for query, documents in listed.items() if not documents),
        "score": column(rows.scores), "rank": column(rows.ranks), "tokens": column(rows.tokens),
    }  # fmt: skip


def ranked(run: il.Run) -> dict[str, list[str]] | None:
    """Give the documents in rank order, None where the ranks order nothing."""
    protocol = il.Protocol(duplicates="first", nonfinite="last")
    try:
        found = il.listing(run, protocol, run.rows().queries)
    except InputError:
        return None
    return {query: list(one.documents) for query, one in found.items() if one.documents}


def check_round_trip(
    table: Any, name: str, path: Path, write: Callable[..., list[str]], read: Callable[[Path], Any],
    view: Callable[[Any], dict[str, Any]],
) -> Any | None:  # fmt: skip
    """Write and read a table; give what was read, or None where it was refused."""
    path.unlink(missing_ok=True)
    try:
        lost = write(table, path, to=name)
    except InputError as refused:
        assert refused.code in ("bad-id", "bad-rank")  # noqa: PT017
        assert not path.exists()
        return None
    before = view(table)
    if not any(before["rows"]) and "empty" not in FORMATS[name].holds:
        return None  # nothing is left to read
    after_table = read(path)
    after = view(after_table)
    announced = {about for words in lost for key, about in ANNOUNCED.items() if key in words}
    resorted = "rows are sorted by score" in lost
    announced |= {"rows", "score"} if resorted else set()
    made_up = {"rank"} if before.get("rank") is None and "rank" in FORMATS[name].needs else set()
    changed = {key for key in before if before[key] != after[key]} - made_up
    assert changed <= announced, (name, lost, before, after)
    if resorted and any(len(set(listed)) < len(listed) for listed in before["rows"].values()):
        return after_table  # the first row of a document counts, and that is another one now
    if isinstance(table, il.Run):
        assert ranked(table) == ranked(after_table), (name, lost)
    return after_table


def chains(kind: str, count: int) -> Iterator[tuple[random.Random, str, str]]:
    names = [name for name, form in FORMATS.items() if kind in form.kinds]
    for i in range(count):
        draw = random.Random(f"{kind} {i}")
        yield draw, draw.choice(names), draw.choice(names)


Generate = Callable[[random.Random], Any]
KINDS: dict[str, tuple[Generate, Any, Any, Any]] = {
    "qrels": (generated_qrels, il.write_qrels, il.read_qrels, view_of_qrels),
    "run": (generated_run, il.write_run, il.read_run, view_of_run),
}


@pytest.mark.parametrize("kind", KINDS)
def test_tables_survive_every_format(kind: str, tmp_path: Path) -> None:
    generate, *functions = KINDS[kind]
    written = dict.fromkeys((name for name, form in FORMATS.items() if kind in form.kinds), 0)
    for draw, *names in chains(kind, tries(150, 2000)):
        table = generate(draw)
        for step, name in enumerate(names):
            table = check_round_trip(table, name, tmp_path / f"table{step}", *functions)
            if table is None:
                break
            written[name] += 1
    assert min(written.values()) > tries(2, 40)


@pytest.mark.parametrize("name", ["bm25.run", "reranked.run"])
@pytest.mark.parametrize(
    "suffix", [".json", ".jsonl", ".csv", ".tsv", ".parquet", ".arrow", ".csv.gz", ".jsonl.xz", ".run.zst"]
)  # fmt: skip
def test_a_converted_run_evaluates_to_the_same(name: str, suffix: str, tmp_path: Path) -> None:
    source, target = Path("examples") / name, tmp_path / f"run{suffix}"
    main(["convert", str(source), str(target)])
    expected, found = (il.evaluate("examples/qrels.txt", run) for run in (source, target))
    assert dict(found.aggregates) == dict(expected.aggregates)
    assert found.signatures == expected.signatures


def command(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code: Any = 0
    try:
        main(["convert", *words])
    except SystemExit as left:
        code = left.code
    out, err = capfd.readouterr()
    return code, out, err


def test_columns_and_rows_that_are_not_kept_are_announced(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("query,document,score,lang\nq,d,1,en\n")
    (tmp_path / "qrels.csv").write_text("query,document,grade\nq,d,1\nq,e,\n")
    lost = il.write_run(tmp_path / "run.csv", tmp_path / "run.parquet")
    assert lost == ["columns left out: lang"]
    lost = il.write_qrels(tmp_path / "qrels.csv", tmp_path / "qrels.txt")
    assert lost == ["1 row without a grade left out"]


def test_the_second_and_the_last_column_of_trec_text_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 smith.bm25\n")
    assert il.write_run(tmp_path / "a.run", tmp_path / "b.run") == []
    assert (tmp_path / "b.run").read_text() == "q1 Q0 d1 1 2 smith.bm25\n"
    lost = il.write_run(tmp_path / "a.run", tmp_path / "b.json")
    assert lost == ["tag smith.bm25 left out"]
    (tmp_path / "qrels").write_text("q1 7 d1 1\nq1 Q0 d2 0\n")
    for name in ("b.jsonl", "b.txt"):
        assert il.write_qrels(tmp_path / "qrels", tmp_path / name) == []
    il.write_qrels(tmp_path / "b.jsonl", tmp_path / "c.txt")
    for name in ("b.txt", "c.txt"):
        assert (tmp_path / name).read_text() == "q1 7 d1 1\nq1 Q0 d2 0\n"


@pytest.mark.parametrize(
    ("words", "kind"),
    [(["--to", "quepid"], "qrels"), (["--to", "hits"], "run"), (["b.run"], "run"), (["b.qrels"], "qrels")],
)  # fmt: skip
def test_the_target_may_say_what_it_is(words: list[str], kind: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"q1": {"d1": 1}}')
    target, more = ("out", words) if words[0] == "--to" else (words[0], [])
    main(["convert", str(tmp_path / "a.json"), str(tmp_path / target), *more])
    if kind == "run":
        assert il.read_run(tmp_path / target).rows().queries == ("q1",)
    else:
        assert il.read_qrels(tmp_path / target).to_dict() == {"q1": {"d1": 1}}


def test_the_help_names_the_formats_that_no_suffix_means() -> None:
    unmeant = {name for name, form in FORMATS.items() if not form.suffixes}
    assert {*NAMED} == {"trec", *unmeant}


def test_standard_output_and_announcements(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text('{"q1": ["d2", "d1"], "q2": []}')
    found = command(capfd, str(tmp_path / "run.json"), "-", "--kind", "run", "--to", "trec")
    assert found[:2] == (0, "q1 Q0 d2 1 2 run\nq1 Q0 d1 2 1 run\n")
    assert "doubt: 1 query without any document left out" in found[2]
    assert "doubt: there are no scores" in found[2]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["a.json", "b.txt"], "could hold judgments or a run"),
        (["-", "b.json"], "could hold judgments or a run"),
        (["irds:vaswani", "b.json"], "could hold judgments or a run"),
        (["qrels.txt", "qrels.txt"], "would be written over itself"),
        (["qrels.txt", "b.xlsx"], "no format has the suffix .xlsx"),
        (["qrels.txt", "b.txt", "--to", "trek"], "did you mean trec"),
        (
            ["qrels.txt", "b.txt", "--to", "hits", "--kind", "qrels"],
            "the format hits cannot hold qrels",
        ),
        (["gone.txt", "b.txt"], "there is no such file"),
        (["spaced.csv", "b.txt"], "query 'how to' cannot be written"),
        (["qrels.txt", "no/folder/b.txt"], "cannot write"),
    ],
)
def test_what_cannot_be_converted_is_explained(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_text('{"q1": {"d1": 1}}')
    Path("qrels.txt").write_text("q1 0 d1 1\n")
    Path("spaced.csv").write_text("query,document,grade\nhow to,d1,1\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    code, out, err = command(capfd, *words)
    assert (code, out) == (2, "")
    assert says in err
    assert "hint: " in err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_ranks_that_replace_scores_follow_them(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 0 1 t\nq1 Q0 d2 0 3 t\nq1 Q0 d3 0 2 t\n")
    lost = il.write_run(tmp_path / "a.run", tmp_path / "t", to="msmarco")
    assert lost == ["scores left out", "ranks are computed again, from the scores"]
    assert ranked(il.read_run(tmp_path / "t")) == {"q1": ["d2", "d3", "d1"]}


def test_a_file_keeps_its_mode_and_an_open_one_is_not_replaced(tmp_path: Path) -> None:
    secret, log = tmp_path / "secret.json", tmp_path / "log"
    secret.write_text("{}")
    secret.chmod(0o600)
    il.write_run({"q": ["d"]}, secret)
    assert secret.stat().st_mode & 0o777 == 0o600
    log.write_text("precious\n")
    program = "from idealist.cli.main import main; main()"
    words = "convert examples/bm25.run /dev/stdout --to trec"
    script = f'{sys.executable} -c "{program}" {words} >> {log}'
    subprocess.run(script, shell=True, check=True, timeout=PATIENCE)
    assert log.read_text().startswith("precious\nq01 Q0 ")
    long = tmp_path / ("n" * 250 + ".run")
    il.write_run({"q": {"d": 1}}, long)
    assert long.read_text() == "q Q0 d 1 1 run\n"
