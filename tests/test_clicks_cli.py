"""`idealist clicks`: grades in files and stores, models compared, figures, and mistakes that are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import idealist as il
import oracle_clicks as oracle
from idealist.cli.main import main
from idealist.judging.store import Store


@pytest.fixture
def log(tmp_path: Path) -> Path:
    frame = pd.DataFrame(oracle.users("pbm", 6, pages=900).log)
    frame["query"] = [f"query {one}" for one in frame["query"]]
    frame["document"] = [f"sku{one}" for one in frame["document"]]
    frame.to_csv(tmp_path / "log.csv", index=False)
    return tmp_path / "log.csv"


def test_grades_go_to_a_file_a_store_and_a_figure(log: Path, capsys: Any) -> None:
    folder = log.parent
    Store.create(folder / "labels.db", scale=3).close()
    files = [
        "--write",
        f"{folder}/grades.csv",
        "--into",
        f"{folder}/labels.db",
        "--figure",
        f"{folder}/looks.svg",
    ]
    main(["clicks", str(log), *files])
    shown, said = capsys.readouterr()
    assert shown.startswith("96 documents are graded 0 to 3 for 8 queries, from 900 pages by")
    assert "Position 1 is looked at most" in shown
    assert f"wrote 96 grades to {folder}/grades.csv" in said
    assert "declared scale" not in said
    assert "96 judgments of the data added" in said
    grades = il.read_qrels(folder / "grades.csv")
    assert grades.to_dict() == il.click_model(log).grades.to_dict()
    with Store.to_read(folder / "labels.db") as store:
        kept = list(store.current())
        assert {(one.judge, one.kind) for one in kept} == {("users", "clicks")}
        assert store.qrels().to_dict() == grades.to_dict()
    assert (folder / "looks.svg").read_text().startswith("<svg")
    main(["clicks", str(log), "--into", f"{folder}/labels.db", "--cuts", "0.1,0.2,0.3", "-q"])
    assert il.read_qrels(f"{folder}/labels.db#clicks").to_dict() != grades.to_dict()
    assert not capsys.readouterr().err
    main(["clicks", str(log), "--model", "sdbn", "--into", f"{folder}/labels.db"])
    assert "changed" in capsys.readouterr().err
    own = il.click_model(log, "sdbn").grades.to_dict()
    assert il.read_qrels(f"{folder}/labels.db#clicks").to_dict() == own


def test_people_are_believed_before_clicks(log: Path, capsys: Any) -> None:
    store = log.parent / "labels.db"
    with Store.create(store, scale=3) as made:
        made.judge(il.Judgment("query 0", "sku0", 3, "ann"))
    main(["clicks", str(log), "--into", str(store), "-q"])
    found = il.read_qrels(store).to_dict()
    assert found["query 0"]["sku0"] == 3
    both = il.agreement(f"{store}#human", f"{store}#clicks")
    assert both.labels.n == 1
    assert len(found) == 8


def test_json_and_tables_for_programs(log: Path, capsys: Any) -> None:
    main(["clicks", str(log), "--model", "dbn", "-f", "json"])
    data = json.loads(capsys.readouterr().out)
    assert (data["model"], data["pages"], data["least"], len(data["cuts"])) == ("dbn", 900, 10, 3)
    assert [one["position"] for one in data["examination"]] == list(range(1, 9))
    assert 0 < data["parameters"]["gamma"]["low"] < data["parameters"]["gamma"]["value"] < 1
    assert {"attractiveness", "satisfaction", "estimate", "grade"} <= data["documents"][0].keys()
    main(["clicks", str(log), "--model", "coec", "-f", "csv", "-q"])
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "query,document,grade,impressions,clicks,estimate,low,high"
    assert len(rows) == 97


def test_models_are_compared(log: Path, capsys: Any) -> None:
    main(["clicks", str(log), "--compare", "--details"])
    shown, said = capsys.readouterr()
    assert "predicts clicks best on" in shown
    assert " position " in shown
    assert "learnt from" in said
    main(["clicks", str(log), "--compare", "-f", "json"])
    models = json.loads(capsys.readouterr().out)["models"]
    assert {one["model"] for one in models} == {"ctr", "coec", "pbm", "sdbn", "dbn"}
    assert models[0]["behind"] == 0
    assert all(one["ci"][0] <= one["behind"] <= one["ci"][1] for one in models[1:])


def test_what_is_said_of_prior_least_and_queries(log: Path, capsys: Any) -> None:
    (log.parent / "queries.csv").write_text("id,text\nq0,query 0\nq1,QUERY  1\n")
    queries = ["--queries", f"{log.parent}/queries.csv"]
    main(["clicks", str(log), "--model", "ctr", "--prior", "1,4", "--scale", "1", *queries])
    shown, said = capsys.readouterr()
    assert "graded 0 to 1 for 2 queries" in shown
    assert "each document starts from 1.00 clicks in 5.00 looks, as you said" in said
    assert "6 queries of the log are not among the queries that were given" in said
    main(["clicks", str(log), "--model", "ctr", "--prior", "0,0", "--least", "1000000"])
    shown, said = capsys.readouterr()
    assert shown.startswith("No document was shown 1000000 times")
    assert "nothing is added to the counts" in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["LOG", "--model", "ubm"], "'ubm' is not one of"),
        (["LOG", "--prior", "1"], "prior cannot be"),
        (["LOG", "--prior", "a,b"], "--prior 'a,b' cannot be read"),
        (["LOG", "--cuts", "0.3,0.2"], "cuts cannot be"),
        (["LOG", "--write", "LOG"], "is an input, and would be overwritten"),
        (["LOG", "--compare", "--write", "grades.csv"], "--compare makes no grades"),
        (["LOG", "--into", "none.db"], "there is no such store"),
        (["LOG", "--columns", "time=session"], "no column 'time' of ours"),
        (["none.csv"], "there is no such file"),
        (["-", "-"], "standard input (-) can be read only once"),
        ([], "missing argument 'LOG...'"),
    ],
)
def test_mistakes_are_told(arguments: list[str], says: str, log: Path, capsys: Any) -> None:
    with pytest.raises(SystemExit) as left:
        main(["clicks", *(str(log) if one == "LOG" else one for one in arguments)])
    assert left.value.code == 2
    assert says in capsys.readouterr().err
