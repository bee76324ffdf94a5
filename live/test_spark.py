"""On Spark every number, doubt and signature is what one machine gives, to the bit."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import idealist as il
import pages
from conftest import TEST_DATA
from idealist.errors import InputError, UsageError
from idealist.formats import borrowed_run
from idealist.spark import SparkEvaluations, compare, evaluate, spark_judgments
from idealist.spark.__main__ import main
from test_spark_parts import MEASURES, Row, alone, check, some_judgments, some_runs

pytest_plugins = ["spark_session"]
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

COVID = TEST_DATA / "trec-covid-r1"
NAMES = ["run", "query", "document", "score"]


def columns_of(rows: list[Row]) -> pa.Table:
    return pa.table(dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True)))


def shuffled(spark: Any, table: pa.Table, parts: int) -> Any:
    """Give rows in any order, in so many partitions that each list is divided."""
    from pyspark.sql.functions import rand

    spark.conf.set("spark.sql.shuffle.partitions", str(parts))
    return spark.createDataFrame(table).orderBy(rand(parts)).repartition(parts)


@pytest.fixture(scope="module")
def covid() -> pa.Table:
    if not COVID.is_dir():
        pytest.skip(f"no real data at {COVID}")
    rows = []
    for path in sorted((COVID / "runs").iterdir()):
        read = il.read_run(path).rows()
        for query, span in read.spans().items():
            found = zip(read.documents[span], read.scores[span].tolist(), strict=True)  # type: ignore[index]
            rows += [(path.name, query, document, score) for document, score in found]
    return columns_of(rows)


def own(table: pa.Table, run: str) -> Any:
    """Give the rows of one run as one machine has them."""
    rows = table.filter(pa.compute.equal(table["run"], run)).drop_columns("run")
    return borrowed_run(rows, name=run)


@pytest.mark.parametrize("parts", [1, 3, 17])
def test_twelve_runs_in_any_partitions(spark: Any, covid: pa.Table, parts: int) -> None:
    found = evaluate(COVID / "qrels.txt", shuffled(spark, covid, parts))
    evaluator = il.Evaluator(COVID / "qrels.txt")
    assert len(found) == 12
    for one in found:
        check(one, evaluator(own(covid, one.run)))
    found.unpersist()


def test_files_of_trec_text_have_names_places_and_commands(spark: Any, covid: pa.Table) -> None:
    """Small blocks divide every file; the order of its rows is known all the same."""
    spark.conf.set("spark.sql.files.maxPartitionBytes", "30k")
    several: list[dict[str, Any]] = [{}, {"ties": "input"}, {"order": "rank"}]
    for rules in several:
        found = evaluate(COVID / "qrels.txt", COVID / "runs/*[lm]", "nDCG@10", **rules)
        paths = sorted((COVID / "runs").glob("*[lm]"))
        assert found.runs == tuple(sorted(path.name for path in paths))
        for path in paths:
            check(found[path.name], il.evaluate(COVID / "qrels.txt", path, "nDCG@10", **rules))
        found.unpersist()
    spark.conf.unset("spark.sql.files.maxPartitionBytes")


RULES: list[dict[str, Any]] = [
    {}, {"convention": "sklearn"}, {"ties": "docid-asc"}, {"precision": "float32"}, {"collapse": "#.*"},
    {"missing": "skip"}, {"ties": "worst"}, {"ties": "random(3)"}, {"convention": "pytrec_eval"},
    {"grades": "nonzero"}, {"unjudged": "drop"}, {"exclude_self": True},
]  # fmt: skip


@pytest.mark.parametrize("seed", range(len(RULES)))
def test_three_hundred_generated_runs(spark: Any, seed: int) -> None:
    rng = random.Random(seed)
    qrels, rows, rules = some_judgments(rng), some_runs(rng, 25), RULES[seed]
    found = evaluate(
        qrels, shuffled(spark, columns_of(rows), (1, 3, 17)[seed % 3]), MEASURES, **rules
    )
    evaluator = il.Evaluator(qrels, MEASURES, **rules)
    assert len(found) == 25
    for one in found:
        check(one, alone(rows, one.run, evaluator))
    found.unpersist()


def test_judgments_that_stay_on_spark(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_judgments, "MOST_HELD", 0)
    for seed in (3, 4):
        rng = random.Random(seed)
        qrels, rows = some_judgments(rng), some_runs(rng, 8)
        judged = [(q, d, float(g)) for q, own in qrels.items() for d, g in own.items()]
        judged += judged[:2]
        table = pa.table(
            dict(zip(["qid", "docno", "rel"], map(list, zip(*judged, strict=True)), strict=True))
        )
        found = evaluate(shuffled(spark, table, 3), shuffled(spark, columns_of(rows), 3), MEASURES)
        evaluator = il.Evaluator(table, MEASURES)
        for one in found:
            expected = alone(rows, one.run, evaluator)
            check(one, expected)
        found.unpersist()


@pytest.fixture
def small() -> tuple[dict[str, dict[str, float]], list[Row]]:
    rng = random.Random(5)
    return some_judgments(rng), some_runs(rng, 3)


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_files_and_folders_of_other_kinds(
    spark: Any, tmp_path: Path, kind: str, small: Any
) -> None:
    qrels, rows = small
    for run in ("run0", "run1"):
        frame = shuffled(
            spark, columns_of([row for row in rows if row[0] == run]).drop_columns("run"), 2
        )
        getattr(frame.write, kind)(
            str(tmp_path / f"{run}.{kind}"), **({"header": True} if kind == "csv" else {})
        )
    found = evaluate(qrels, [tmp_path / f"run0.{kind}", tmp_path / f"run1.{kind}"], MEASURES)
    assert found.runs == ("run0", "run1")
    for one in found:
        expected = alone(rows, one.run, il.Evaluator(qrels, MEASURES))
        assert one.data()["per_query"] == expected.data()["per_query"]  # type: ignore[union-attr]


def test_frames_hold_what_evaluations_do(spark: Any, small: Any) -> None:
    qrels, rows = small
    found = evaluate(qrels, shuffled(spark, columns_of(rows), 3), MEASURES)
    values = {(r.run, r.query, r.measure): (r.value, r.counted) for r in found.values.collect()}
    summary = {(r.run, r.measure): r for r in found.summary.collect()}
    doubts = [(r.run, r.code, r.message, r["count"]) for r in found.doubts.collect()]
    for one in found:
        for label in one:
            for query, value, counts in zip(
                one.queries, one.values[label], one.counted[label], strict=True
            ):
                assert values.pop((one.run, query, label)) == (value, counts)
            row = summary.pop((one.run, label))
            assert (row.value, row.queries) == (one[label], one.counted[label].sum())
            assert str((row.low, row.high)) == str(one.interval(label))
        for doubt in one.doubts:
            doubts.remove((one.run, doubt.code, doubt.message, doubt.count))
    assert not values
    assert not summary
    assert not doubts
    with pytest.raises(UsageError, match="did you mean run1"):
        found["rum1"]


def test_no_row_of_a_run_is_collected(
    spark: Any, small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql.classic.dataframe import DataFrame

    def guarded(name: str) -> Any:
        collect = getattr(DataFrame, name)

        def checked(self: Any, *arguments: Any, **named: Any) -> Any:
            assert "document" not in self.columns, f"{name} of rows"
            return collect(self, *arguments, **named)

        return checked

    qrels, rows = small
    frame = shuffled(spark, columns_of(rows), 3)
    for name in ("collect", "toPandas", "toArrow", "toLocalIterator", "take", "head", "first"):
        monkeypatch.setattr(DataFrame, name, guarded(name))
    found = evaluate(qrels, frame, MEASURES)
    assert len(list(found)) == 3
    assert found["run1"].run == "run1"
    with pytest.raises(AssertionError, match="of rows"):
        frame.collect()


def test_the_python_twin_serves_on_executors(spark: Any, small: Any) -> None:
    qrels, rows = small
    environment = spark.sparkContext.environment
    environment["IDEALIST_KERNEL"] = "python"
    try:
        found = evaluate(qrels, shuffled(spark, columns_of(rows), 3), MEASURES)
        for one in found:
            check(one, alone(rows, one.run, il.Evaluator(qrels, MEASURES)))
    finally:
        del environment["IDEALIST_KERNEL"]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (("run1", "q1", "d1", float("nan")), "score is nan [nonfinite-score]"),
        (("run1", "q1", "d2", 0.5), "document 'd2' was retrieved twice [duplicate]"),
        ((None, "q1", "d1", 0.5), "some rows have no run [bad-id]"),
        (
            ("run1", None, "d1", 0.5),
            "an id must be text that is not empty, or a whole number [bad-id]",
        ),
    ],
)
def test_faults_found_on_executors_are_told_as_on_one_machine(
    spark: Any, row: Any, says: str
) -> None:
    rows = [("run1", "q1", "d2", 0.75), ("run2", "q1", "d2", 0.75), row]
    with pytest.raises(InputError) as caught:
        evaluate({"q1": {"d2": 1}}, shuffled(spark, columns_of(rows), 3))
    assert says in str(caught.value)
    assert "hint: " in str(caught.value)
    if row[0] and row[1]:
        expected = alone(rows, "run1", il.Evaluator({"q1": {"d2": 1}}))
        assert str(expected) == str(caught.value)


def test_text_is_read_as_on_one_machine(spark: Any, tmp_path: Path) -> None:
    table = {
        "query": ["q1", "q1", "q1"],
        "document": ["a", "b", "c"],
        "score": ["1e2", " 3 ", "+4.5"],
    }
    found = evaluate({"q1": {"b": 1}}, spark.createDataFrame(pa.table(table)), "RR")
    check(found["run"], il.evaluate({"q1": {"b": 1}}, table, "RR"))
    table["score"][1] = "7d"  # which Java reads as 7
    with pytest.raises(InputError, match="score '7d' is not a number"):
        evaluate({"q1": {"b": 1}}, spark.createDataFrame(pa.table(table)), "RR")
    (tmp_path / "bad.run").write_text("q1 Q0 a 1 0.5 t\n# said\n\nq1 Q0 b\n")
    with pytest.raises(InputError, match="3 columns, 6 expected: 'q1 Q0 b'"):
        evaluate({"q1": {"b": 1}}, tmp_path / "bad.run", "RR")


def test_runs_are_compared(spark: Any, small: Any) -> None:
    qrels, rows = small
    found = compare(qrels, shuffled(spark, columns_of(rows), 3), ["nDCG@10"], baseline="run1")
    evaluator = il.Evaluator(qrels, ["nDCG@10"])
    expected = il.compare_evaluations(
        [alone(rows, f"run{i}", evaluator) for i in range(3)], baseline="run1"
    )
    assert found.data() == expected.data()


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: Any) -> tuple[int, str, str]:
        code = 0
        try:
            main(list(map(str, arguments)))
        except SystemExit as left:
            code = int(left.code or 0)
        return code, *capfd.readouterr()

    return run


def test_the_command(spark: Any, tmp_path: Path, said: Any) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "bm25.run"
    qrels.write_text("q1 0 a 1\nq1 0 b 0\n")
    run.write_text("q1 Q0 b 1 0.9 t\nq1 Q0 a 2 0.8 t\n")
    code, out, _ = said(qrels, run, "-m", "RR", "-o", tmp_path / "out")
    assert (code, "0.5000" in out, "signature" in out) == (0, True, True)
    assert [row.value for row in spark.read.parquet(str(tmp_path / "out/values")).collect()] == [
        0.5
    ]
    for arguments, words in (
        ([qrels, run, "-m", "RR", "-o", tmp_path / "out"], "is there already"),
        ([qrels, tmp_path / "none.run"], "there is no such file"),
        ([qrels, run, "-m", "nosuch"], "there is no measure"),
        ([qrels], "Missing argument"),
        ([qrels, run, "--set", "ties=input", "--columns", "x"], "--columns 'x' cannot be read"),
    ):
        code, out, err = said(*arguments)
        assert (code, words in err, "Traceback" in err) == (2, True, False), err
    assert said("--help")[0] == 0
    assert isinstance(evaluate(str(qrels), [str(run)]), SparkEvaluations)


def test_the_page_on_spark_runs(tmp_path: Path) -> None:
    with pages.reader(warn="default") as read:
        status, said = read(pages.ROOT / "docs/how-to/spark.md", tmp_path)
    assert not status, said
