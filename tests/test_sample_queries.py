"""Queries drawn from a log: probabilities, weights, the same sample anywhere, bad logs."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from effort import tries
from idealist.cli.main import main
from idealist.judging.choosing.query_samples import inclusions, systematic

#: What was drawn of it when this was written.
GOLDEN = [
    ("q734728678c", "query 1"),
    ("qc0a51e6a96", "query 229"),
    ("q04412b3233", "query 42"),
    ("q72a8baf9bf", "query 2"),
    ("qe6e605e639", "query 24"),
    ("q5d46bcf982", "query 84"),
    ("q0d3ab78265", "query 21"),
    ("qef458755a1", "query 11"),
]
#: Asked as Zipf says, with ties and a long tail.
ZIPF = {f"query {i}": 900 // i for i in range(1, 301)}


def oracle(log: dict[str, int], n: int, seed: int) -> dict[str, tuple[Fraction, Fraction]]:
    """Draw by traffic, in plain loops and exact numbers: the text, its probability and weight."""
    before = f"{seed}\n".encode()
    start = Fraction(int.from_bytes(hashlib.sha256(before).digest()[:8], "big") >> 11, 2**53)
    order = sorted(log, key=lambda text: hashlib.sha256(before + text.encode()).digest())
    chance: dict[str, Fraction] = {}
    while True:  # who is so frequent that he is always drawn
        left = [text for text in log if text not in chance]
        room, rest = n - len(chance), sum(log[text] for text in left)
        sure = [text for text in left if room and log[text] * room >= rest]
        if not sure:
            break
        chance |= dict.fromkeys([max(sure, key=lambda text: log[text])], Fraction(1))
    chance |= {text: Fraction(log[text] * room, rest) for text in left}
    drawn, end, step = {}, Fraction(0), start
    for text in order:
        before_it = end
        end += chance[text] if chance[text] < 1 else 0
        if chance[text] == 1 or before_it <= step < end:
            step += chance[text] < 1
            drawn[text] = (chance[text], log[text] / chance[text])
    return drawn


@pytest.mark.parametrize("n", [1, 2, 7, 40, 150, 299, 300])
@pytest.mark.parametrize("seed", [0, 1, 20])
def test_as_exact_loops_draw(n: int, seed: int) -> None:
    sample = il.sample_queries(ZIPF, n, seed=seed)
    expected = oracle(ZIPF, n, seed)
    assert {one.text for one in sample.drawn} == expected.keys()
    assert len(sample.drawn) == n
    for one in sample.drawn:
        chance, weight = expected[one.text]
        assert one.inclusion == pytest.approx(float(chance), rel=1e-12)
        assert one.weight == pytest.approx(float(weight), rel=1e-12)
        assert one.count == ZIPF[one.text]


def test_the_same_sample_anywhere() -> None:
    """What was drawn when this was written, whatever machine, Python or NumPy."""
    drawn = il.sample_queries(ZIPF, 8, seed=1).drawn
    assert [(one.id, one.text) for one in drawn] == GOLDEN
    shuffled = list(ZIPF.items())
    random.Random(5).shuffle(shuffled)
    assert il.sample_queries(dict(shuffled), 8, seed=1).drawn == drawn
    assert il.sample_queries(ZIPF, 8, seed=2).drawn != drawn
    by_strata = il.sample_queries(ZIPF, 9, by="strata", seed=1).drawn
    assert by_strata == il.sample_queries(dict(shuffled), 9, by="strata", seed=1).drawn


counts_and_n = st.lists(st.integers(1, 60), min_size=2, max_size=30).flatmap(
    lambda counts: st.tuples(st.just(counts), st.integers(1, len(counts)))
)


@given(counts_and_n)
@settings(max_examples=tries(30, 1000))
def test_probabilities_add_up_and_are_kept(drawn: tuple[list[int], int]) -> None:
    counts, n = drawn
    chances = inclusions(np.array(counts, float), n)
    assert math.fsum(chances) == pytest.approx(n)
    assert all(0 < chance <= 1 for chance in chances)
    for count, chance in zip(counts, chances, strict=True):  # in proportion, unless certain
        others = [c / p for c, p in zip(counts, chances, strict=True) if p < 1]
        assert chance == 1 or count / chance == pytest.approx(others[0])
        assert chance < 1 or all(count >= c * (1 - 1e-9) for c in others)
    starts = 200
    times = np.zeros(len(counts))
    for i in range(starts):
        chosen = systematic(chances, (i + 0.5) / starts)
        assert len(chosen) == len({*chosen}) == n
        times[chosen] += 1
    assert times / starts == pytest.approx(chances, abs=2 / starts)


@pytest.mark.parametrize("by", ["traffic", "strata"])
def test_the_weighted_mean_estimates_traffic(by: str) -> None:
    """A small version of live/test_sample_bias.py."""
    rng = random.Random(1)
    value = {text: rng.random() * (0.3 if count < 5 else 0.9) for text, count in ZIPF.items()}
    truth = sum(count * value[text] for text, count in ZIPF.items()) / sum(ZIPF.values())
    found = []
    for seed in range(tries(200, 3000)):
        drawn = il.sample_queries(ZIPF, 30, by=by, seed=seed).drawn
        weights = [one.weight for one in drawn]
        assert math.fsum(weights) == pytest.approx(sum(ZIPF.values()))
        found.append(np.average([value[one.text] for one in drawn], weights=weights))
    error = np.std(found, ddof=1) / math.sqrt(len(found))
    assert abs(np.mean(found) - truth) < 3 * error
    plain = np.mean([*value.values()])
    assert abs(plain - truth) > 10 * error  # which a mean without weights would miss


def test_the_first_are_a_random_part() -> None:
    times = dict.fromkeys(ZIPF, 0)
    for seed in range(400):
        for one in il.sample_queries(ZIPF, 30, seed=seed).drawn[:10]:
            times[one.text] += 1
    chances = inclusions(np.array([*ZIPF.values()], float), 30) / 3
    spread = np.sqrt(400 * chances * (1 - chances))
    assert np.abs(([*times.values()] - 400 * chances) / spread).max() < 5


def test_strata() -> None:
    sample = il.sample_queries(ZIPF, 60, by="strata")
    names = [one.name for one in sample.strata]
    assert names == ["head", "torso", "tail"]
    assert sum(one.queries for one in sample.strata) == len(ZIPF)
    assert math.fsum(one.traffic for one in sample.strata) == sum(ZIPF.values())
    least = dict.fromkeys(names, math.inf)
    most = dict.fromkeys(names, 0.0)
    for one in sample.drawn:
        least[one.stratum] = min(least[one.stratum], one.count)
        most[one.stratum] = max(most[one.stratum], one.count)
    assert least["head"] > most["torso"] >= least["torso"] > most["tail"]
    for part in sample.strata:
        own = [one for one in sample.drawn if one.stratum == part.name]
        assert len(own) == part.drawn
        assert math.fsum(one.weight for one in own) == pytest.approx(part.traffic)
    assert sorted(one.drawn for one in sample.strata)[1:] == [28, 28]  # the head has four


def test_strata_of_odd_logs() -> None:
    tops = il.sample_queries({"a": 80, "b": 2, "c": 2, "d": 1}, 3, by="strata")
    assert [(one.name, one.queries) for one in tops.strata] == [("head", 1), ("tail", 3)]
    rare = il.sample_queries({"a": 3, **{f"x{i}": 1 for i in range(40)}}, 10, by="strata")
    assert [(one.name, one.queries) for one in rare.strata] == [("head", 1), ("tail", 40)]
    with pytest.raises(il.UsageError, match="asked equally often"):
        il.sample_queries(dict.fromkeys("abc", 2), 2, by="strata")


def test_what_the_sample_says_of_itself() -> None:
    sample = il.sample_queries({"a": 60, "b": 25, "c": 10, "d": 5}, 2)
    weights = sorted(one.weight for one in sample.drawn)
    assert weights == [40, 60]
    assert sample.effective == pytest.approx(100**2 / (60**2 + 40**2))
    assert sample.design_effect == pytest.approx(2 / sample.effective)
    assert sample.covered == pytest.approx(sum(one.count for one in sample.drawn) / 100)
    said = str(sample)
    assert "2 of 4 different queries were drawn, by traffic" in said
    assert "design effect 1.04: a weighted mean is as sure as one of 1.9 queries" in said
    assert sample.queries.column("weight") == {one.id: one.weight for one in sample.drawn}
    every = il.sample_queries({"a": 60, "b": 25}, 2)
    assert {(one.inclusion, one.weight) for one in every.drawn} == {(1, 60), (1, 25)}
    equal = il.sample_queries([f"q {i}" for i in range(50)], 10)
    assert equal.design_effect == pytest.approx(1)
    assert {one.weight for one in equal.drawn} == {5.0}


SHOP = {"red shoes": 3, "Red shoes": 1, "hat, straw": 2, 'a "cap"': 1}


def rows_of(log: dict[str, int]) -> list[str]:
    return [text for text, count in log.items() for _ in range(count)]


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def test_logs_of_every_shape(tmp_path: Path) -> None:
    counted = [{"query": text, "count": count} for text, count in SHOP.items()]
    texts = {
        "counts.csv": "query,count\n" + "".join(f"{quoted(t)},{c}\n" for t, c in SHOP.items()),
        "sums.csv": "user,Search Term,searches\n" + "".join(
            f"u,{quoted(t)},{c - 1}\nv,{quoted(t)},1\n" for t, c in SHOP.items()),
        "rows.csv": "time,query,user\n" + "".join(f"1,{quoted(t)},u\n" for t in rows_of(SHOP)),
        "alone.csv": "query\n" + "".join(f"{quoted(t)}\n" for t in rows_of(SHOP)),
        "counts.tsv": "query_id\tquery\ttraffic\n" + "".join(
            f"x\t{quoted(t)}\t{c}.0\n" for t, c in SHOP.items()),
        "counts.jsonl": "".join(json.dumps(row) + "\n" for row in counted),
        "rows.jsonl": "".join(json.dumps({"q": text}) + "\n" for text in rows_of(SHOP)),
        "counts.json": json.dumps(SHOP),
        "records.json": json.dumps(counted),
        "crlf.csv": "\ufeffQuery;Searches\r\n" + "".join(
            f"{quoted(t)};{c}\r\n" for t, c in SHOP.items()),
        "lines.txt": "\r\n".join(rows_of(SHOP)) + "\n",
    }  # fmt: skip
    logs: list[Any] = [SHOP, counted, rows_of(SHOP), pd.DataFrame(counted), iter(rows_of(SHOP))]
    logs.append({"query": list(SHOP), "count": np.array([*SHOP.values()])})
    for name, text in texts.items():
        (tmp_path / name).write_text(text, newline="")
        logs.append(tmp_path / name)
    with gzip.open(tmp_path / "log.csv.gz", "wt") as file:
        file.write(texts["counts.csv"])
    pd.DataFrame(counted).to_parquet(tmp_path / "log.parquet")
    expected = il.sample_queries(SHOP, 2, seed=3).drawn
    for log in [*logs, str(tmp_path / "log.csv.gz"), tmp_path / "log.parquet"]:
        assert il.sample_queries(log, 2, seed=3).drawn == expected, log


def test_columns_that_a_user_names(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("begriff;anzahl;impressions\nschuhe;5;1\nhut;2;9\n")
    with pytest.raises(il.InputError, match="no column is the query"):
        il.sample_queries(log, 1)
    columns = {"query": "Begriff", "count": ["anzahl"]}
    assert {one.count for one in il.sample_queries(log, 2, columns=columns).drawn} == {5, 2}
    bare = tmp_path / "bare.tsv"
    bare.write_text("7\tx\tschuhe\n2\tx\thut\n")
    found = il.sample_queries(bare, 2, layout=["count", "-", "query"])
    assert {one.text: one.count for one in found.drawn} == {"schuhe": 7, "hut": 2}
    log.write_text("query,searches,impressions\na,1,2\n")
    with pytest.raises(il.InputError, match="searches and impressions could each be the count"):
        il.sample_queries(log, 1)
    with pytest.raises(il.InputError, match="no column 'nope' to be the count"):
        il.sample_queries(log, 1, columns={"count": "nope"})
    with pytest.raises(il.UsageError, match="no column 'document'"):
        il.sample_queries(log, 1, columns={"document": "query"})


def test_variants_are_said_and_folded_on_demand() -> None:
    log = {"Red Shoes": 2, "red shoes": 5, " red  shoes": 1, "hat": 3}
    sample = il.sample_queries(log, 2)
    assert len(sample.log.counts) == 4
    assert "2 queries differ from another only in case or blanks: counted apart" in str(sample)
    folded = il.sample_queries(log, 2, fold=True)
    assert {one.text: one.count for one in folded.drawn} == {"red shoes": 8, "hat": 3}
    assert "case or blanks" not in str(folded)


def test_blank_queries_are_left_out_and_counted(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("query,count\n,4\n  ,1\na,2\nb,0\nc,1\n")
    sample = il.sample_queries(log, 2)
    assert {one.text for one in sample.drawn} == {"a", "c"}
    assert "2 rows without a query left out" in str(sample)


@pytest.mark.parametrize(
    "count", ["-1", "nan", "inf", "", "many", "1_000", "0x10", "1,5", "1e-300", "1e20"]
)
def test_bad_counts_are_refused(tmp_path: Path, count: str) -> None:
    log = tmp_path / "log.csv"
    log.write_text(f'query,count\na,3\nb,"{count}"\n')
    with pytest.raises(il.InputError, match="query 'b' has") as caught:
        il.sample_queries(log, 1)
    assert (caught.value.code, caught.value.line) == ("bad-weight", 3)


@pytest.mark.parametrize("count", [-1, math.nan, math.inf, None, True, "x", [1]])
def test_bad_counts_in_python_are_refused(count: Any) -> None:
    with pytest.raises(il.InputError):
        il.sample_queries({"a": 3, "b": count}, 1)


@pytest.mark.parametrize(
    ("log", "n", "options", "words"),
    [
        ({"a": 1}, 2, {}, "1 different query, fewer than 2"),
        ({"a": 1}, 0, {}, "n cannot be 0"),
        ({"a": 1}, -1, {}, "n cannot be -1"),
        ({"a": 1}, 1.5, {}, "n cannot be 1.5"),
        ({"a": 1}, 1, {"by": "trafic"}, "by cannot be 'trafic'"),
        ({"a": 1}, 1, {"seed": -3}, "seed cannot be -3"),
        (ZIPF, 2, {"by": "strata"}, "2 cannot stand for 3 strata: head, torso, tail"),
        ({}, 1, {}, "no rows"),
        ({"a": 0}, 1, {}, "no row has a query"),
        ({"a": 1e15, "b": 1e15}, 1, {}, "the counts sum to 2e"),
        (["", " "], 1, {}, "no row has a query"),
        (7, 1, {}, "cannot be read as a log"),
        ([3], 1, {}, "cannot read 3"),
        ([{"document": "d1"}], 1, {}, "no column is the query"),
    ],
)
def test_refusals(log: Any, n: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(il.IdealistError, match=words) as caught:
        il.sample_queries(log, n, **options)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("log.csv", b"", "empty"),
        ("log.csv", b"query,count\n", "empty"),
        ("log.csv", b"query,count\na,1\nb\n", "columns"),
        ("log.csv", b'query,count\n"a,1\n', "columns"),
        ("log.csv", b"query,count\n\xff,1\n", "encoding"),
        ("log.csv", b"foo,bar\na,1\n", "missing-column"),
        ("log.jsonl", b'{"query": "a"}\n{"query": \n', "json"),
        ("log.jsonl", b'{"query": "a"}\n{"x": 1}\n', "missing-column"),
        ("log.txt", b"a\0b\n", "binary"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, content: bytes, code: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(il.InputError) as caught:
        il.sample_queries(tmp_path / name, 1)
    assert caught.value.code == code


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json"])
def test_the_sample_is_read_as_queries_and_weights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    log, out = tmp_path / "log.csv", tmp_path / f"queries.{suffix}"
    log.write_text("query,count\n" + "".join(f"{quoted(t)},{c}\n" for t, c in SHOP.items()))
    main(["sample-queries", str(log), "-n", "3", "--by", "strata", "--seed", "4", "-o", str(out)])
    said = capsys.readouterr()
    sample = il.sample_queries(log, 3, by="strata", seed=4)
    assert il.read_queries(out).text == sample.queries.text
    assert {q: float(w) for q, w in il.read_queries(out).column("weight").items()} == (
        sample.queries.column("weight")
    )
    if suffix != "json":
        assert out.read_text().splitlines()[0].split(",\t"[["csv", "tsv"].index(suffix)]) == [
            "id", "text", "weight", "stratum", "inclusion", "count",
        ]  # fmt: skip
        assert "design effect" in said.err
    judged = {query: {"d": 1} for query in sample.queries} | {"elsewhere": {"d": 1}}
    (tmp_path / "qrels.json").write_text(json.dumps(judged))
    run = {query: ["d"] if i else ["x", "d"] for i, query in enumerate(judged)}
    (tmp_path / "run.json").write_text(json.dumps(run))
    files = [str(tmp_path / name) for name in ("qrels.json", "run.json")]
    main(["eval", *files, "-m", "RR", "-f", "json", "--weights", str(out), "--queries", str(out)])
    shown = json.loads(capsys.readouterr().out)["runs"][0]
    expected = il.evaluate(judged, run, "RR", queries=sample.queries, weights=sample.queries)
    assert shown["values"]["RR"] == expected["RR"]
    first = sample.drawn[0]
    assert expected["RR"] == pytest.approx(1 - 0.5 * first.weight / sum(SHOP.values()))


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.tsv"
    log.write_text("".join(f"{count}\t{text}\n" for text, count in ZIPF.items()))
    main(["sample-queries", str(log), "-n", "20", "--columns", "count,query", "-f", "json"])
    shown = json.loads(capsys.readouterr().out)
    assert shown == json.loads(il.sample_queries(ZIPF, 20).to_json())
    assert (shown["different"], len(shown["queries"])) == (300, 20)
    main(["sample-queries", str(log), "-n", "20", "--columns", "count,query"])
    out, err = capsys.readouterr()
    assert "the 10 most frequent of them" in out
    assert "seed 0" in err
    with pytest.raises(SystemExit):
        main(["sample-queries", str(log), "-n", "0", "--columns", "count,query"])
