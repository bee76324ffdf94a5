"""Clicks on Spark: counts, and so every model, are those of one machine to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import idealist as il
import oracle_clicks as oracle
from idealist.errors import InputError, UsageError
from idealist.spark import read_clicks

pytest_plugins = ["spark_session"]
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_a_log_in_any_partitions(spark: Any, parts: int) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", str(parts))
    frame = pd.DataFrame(oracle.users("dbn", 4, pages=1500).log)
    frame["query"] = [f"query {one}" for one in frame["query"]]
    frame = pd.concat([frame.sample(frac=1, random_state=parts), frame[:50]])
    frame.iloc[7, frame.columns.get_loc("query")] = None
    alone = il.read_clicks(frame)
    found = read_clicks(spark.createDataFrame(frame).repartition(parts + 1))
    assert (found.dropped, found.rows) == (alone.dropped, alone.rows)
    for one, other in ((found.learnt, alone.learnt), (found.held_out, alone.held_out)):
        assert (one.queries, one.documents) == (other.queries, other.documents)
        for name in ("query", "starts", "document", "position", "clicks", "lasts", "unclicked"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for model in ("coec", "pbm", "sdbn", "dbn"):
        own, theirs = (il.click_model(log, model).estimates for log in (found, alone))
        assert all(np.array_equal(x, y) for x, y in zip(own, theirs, strict=True))


def test_names_faults_and_other_data(spark: Any) -> None:
    rows = [("s1", "q", "a", 1, True), ("s1", "q", "b", 2, False), ("s2", "q", "a", 1, True)]
    frame = spark.createDataFrame(rows, ["visit", "query", "sku", "slot", "opened"])
    log = read_clicks(frame, columns={"session": "visit", "clicked": "opened"})
    assert (log.pages, log.clicks) == (2, 2)
    assert "session = visit, query = query, document = sku" in log.read_as
    with pytest.raises(InputError, match="no column is the clicked"):
        read_clicks(frame)
    bad = spark.createDataFrame(
        [("s1", "q", "a", -1, True)], ["session", "query", "sku", "slot", "click"]
    )
    with pytest.raises(InputError, match="position -1 is not a whole number"):
        read_clicks(bad)
    unclear = spark.createDataFrame(
        [("s1", "q", "a", 1, 7, True)], ["session", "query", "sku", "rank", "slot", "click"]
    )
    with pytest.raises(InputError, match="rank and slot could each be the position"):
        read_clicks(unclear)
    nested = spark.createDataFrame(
        [("s1", "q", ["a"], 1, True)], ["session", "query", "sku", "position", "click"]
    )
    with pytest.raises(InputError, match=r"document \['a'\]: an id must be text"):
        read_clicks(nested)
    with pytest.raises(UsageError, match="no data frame of Spark"):
        read_clicks(rows)
