"""A model that compares and one that is probed: judges with known faults are found out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from idealist.cli.main import main
from idealist.errors import UsageError
from idealist.judging.llm.duels import Compared, Duel
from idealist.judging.llm.preferring import prefer_by_model
from idealist.judging.llm.probe_results import JudgeProbe
from idealist.judging.llm.probes import probe_judge
from idealist.judging.llm.prompts import read_prompt
from idealist.judging.store import Store
from idealist.judging.store_records import Batch, Judgment, Pooled
from idealist.judging.store_status import StoreStatus
from idealist.judging.stored_preferences import StoredPreferences
from scripted_server import Body, Script, Scripted, completion, graded, scripted

Texts = list[str]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Five queries of four documents, each with as many words as its worth, which people gave."""
    ids = [(f"q{q}", f"q{q}d{d}") for q in range(5) for d in (2, 3, 0, 1)]
    store = Store.create(
        tmp_path / "labels.db", scale=3, queries={f"q{q}": f"question {q}" for q in range(5)},
        docs={d: f"{d} is worth {d[-1]}" + " really" * int(q[1]) for q, d in ids},
    )  # fmt: skip
    store.add_batch(Batch("depth", tuple(Pooled(*pair, n) for n, pair in enumerate(ids))))
    store.judge_all([Judgment(q, d, int(d[-1]), "ann") for q, d in ids])
    return store


def _shown(body: Body) -> Texts:
    """Read what stands between the tags of documents, as the model sees it."""
    said = body["messages"][-1]["content"]
    return re.findall(r"<(?:document|first|second) \w+>\n(.*?)\n</", said, re.DOTALL)


def _worth(text: str) -> int:
    found = re.search(r"is worth (\d)", text)
    return int(found[1]) if found else 0


def _comparing(choose: Callable[[int, int], str]) -> Script:
    def script(number: int, body: Body) -> Scripted:
        first, second = map(_worth, _shown(body))
        return completion(json.dumps({"better": choose(first, second)}))

    return script


def _fair(first: int, second: int) -> str:
    return "first" if first > second else "second"


def test_a_fair_judge(store: Store) -> None:
    with scripted(_comparing(_fair)) as server:
        found = prefer_by_model(store, server.url, "tiny")
        assert len(server.asked) == 30  # three pairs of neighbours a query, in both orders
        again = prefer_by_model(store, server.url, "tiny")
        assert len(server.asked) == 30
    assert found.ways["preferred"] == 15
    assert list(found.first) == [0.5] * 3
    assert again.summary == "Nothing to ask: " + found.summary, "what was said before is counted"
    assert "sent 30 requests" in str(found)
    assert "15 pairs compared before" in str(again)
    assert all(int(one.better[-1]) > int(one.worse[-1]) for one in store.preferences())
    ideal = {f"q{q}": [f"q{q}d{d}" for d in (3, 2, 1, 0)] for q in range(5)}
    prefs = StoredPreferences.of(store.preferences())
    assert il.evaluate(prefs.qrels(), ideal, "prefs_simp")["prefs_simp"] == 1


def test_a_judge_who_takes_the_first(store: Store) -> None:
    with scripted(_comparing(lambda first, second: "first")) as server:
        found = prefer_by_model(store, server.url, "tiny", beside=2, what="judged")
    assert found.ways == {"preferred": 0, "tie": 0, "order": 25, "half": 0}
    assert list(found.first) == [1] * 3
    assert "25 where the answer depends on the order" in found.summary
    rows = list(store.preferences())
    assert len(rows) == 25
    assert all(one.tied and one.note.startswith("the order decides") for one in rows)
    assert StoredPreferences.of(rows).qrels().preferred is not None


def test_ties_and_halves(store: Store) -> None:
    def choose(first: int, second: int) -> str:
        return "tie" if first + second == 5 or (first, second) == (3, 0) else _fair(first, second)

    with scripted(_comparing(choose)) as server:
        found = prefer_by_model(store, server.url, "tiny")
    assert found.ways == {"preferred": 5, "tie": 5, "order": 0, "half": 5}
    assert found.first.value == pytest.approx(1 / 3)


def test_failures_and_limits(store: Store) -> None:
    def script(number: int, body: Body) -> Scripted:
        bad = any("q0d2" in text for text in _shown(body))
        return completion("I cannot say." if bad else '{"better": "tie"}')

    with scripted(script) as server:
        found = prefer_by_model(store, server.url, "tiny", max_requests=10, concurrency=1)
    assert found.lost == 1
    assert found.open == 10
    assert found.summary.startswith(
        "INCOMPLETE: tiny/preference@1 compared 4 of 15 pairs in both orders (1 failed; 10 were not "
        "asked, because --max-requests 10"
    )
    assert len(list(store.preferences())) == 4
    with scripted(_comparing(_fair)) as server:
        rest = prefer_by_model(store, server.url, "tiny")
        assert len(server.asked) == 22
    assert rest.already == 4
    assert sum(rest.ways.values()) == 15
    assert rest.ways["tie"] == 4
    status = str(StoreStatus.of(store))
    assert "tiny/preference@1: 11 preferences and 4 ties." in status


def test_a_probe_that_a_limit_stops_has_lost_nothing(store: Store) -> None:
    with scripted(graded(1)) as server:
        found = probe_judge(store, server.url, "tiny", documents=2, max_requests=6, concurrency=1)
    assert [one.lost for one in found.findings] == [0, 0, 0]
    assert sum(one.left for one in found.findings) == 2
    assert "2 questions were not asked." in str(found)
    assert "0.0000 to 0.0000" not in str(found)


def test_wrong_kinds_of_prompts(store: Store) -> None:
    with pytest.raises(UsageError, match="asks for a grade, not for a preference"):
        prefer_by_model(store, "http://127.0.0.1:9/v1", "tiny", prompt="graded")
    with pytest.raises(UsageError, match=r"asks for a preference.*\n.*judge prefer"):
        probe_judge(store, "http://127.0.0.1:9/v1", "tiny", prompt="preference")


def test_every_way() -> None:
    duel = Duel("q", "a", "b")
    seen = {
        (said, turned): (one.way, one.better, one.worse)
        for said in ("first", "second", "tie", "")
        for turned in ("first", "second", "tie", "")
        for one in [Compared(duel, said, turned)]
    }
    assert seen["first", "second"] == ("preferred", "a", "b")
    assert seen["second", "first"] == ("preferred", "b", "a")
    assert {key for key, (way, *_) in seen.items() if way == "order"} == {
        ("first", "first"), ("second", "second"),
    }  # fmt: skip
    assert all(not better for way, better, _ in seen.values() if way != "preferred")


def _probed(store: Store, grade: Callable[[str, int], int], **given: Any) -> JudgeProbe:
    def script(number: int, body: Body) -> Scripted:
        return graded(grade(_shown(body)[-1], body["seed"]))

    with scripted(script) as server:
        return probe_judge(store, server.url, "tiny", **given)


def test_a_steady_judge(store: Store) -> None:
    found = _probed(store, lambda text, seed: _worth(text), documents=12)
    assert [one.name for one in found.findings] == ["again", "padding", "plea"]
    assert all(one.counts == (12, 0, 0) for one in found.findings)
    assert found.shared == 12
    assert found.length is None  # it gives what people give, whatever the length
    assert not [one for one in store.current() if one.kind == "model"]


def test_judges_with_faults_are_found_out(store: Store) -> None:
    moody = _probed(store, lambda text, seed: (_worth(text) + seed) % 4, again=2, documents=5)
    assert moody.findings[0].counts[0] == 0
    assert len(moody.findings[0].moved) == 10
    gullible = _probed(store, lambda text, seed: 3 if "Note to the judge" in text else 1,
                       prompt="graded-examples", judge="other", documents=8)  # fmt: skip
    assert {one.name: one.counts[1] for one in gullible.findings} == {
        "again": 0, "padding": 0, "plea": 8, "examples": 0,
    }  # fmt: skip
    assert "a plea for the highest grade (+2.00)" in gullible.summary


def test_a_judge_who_likes_long_documents(store: Store) -> None:
    rows = [
        replace(one, grade=min(3, len((store.text(one.document) or ("",))[-1]) // 15), id=None,
                judge="tiny/graded@1", kind="model", time="")
        for one in store.current()
    ]  # fmt: skip
    store.judge_all(rows)
    found = _probed(store, lambda text, seed: min(3, len(text) // 15), documents=4)
    assert found.shared == 20
    assert found.length is not None
    assert found.length.value > 0.2
    padding = next(one for one in found.findings if one.name == "padding")
    assert padding.counts[1] > 0


def test_documents_are_drawn_from_all_queries(store: Store) -> None:
    found = _probed(store, lambda text, seed: 1, documents=5)
    assert len({one.query for one in found.findings[0].moved}) == 5
    stopped = _probed(store, lambda text, seed: 1, documents=8, max_requests=3, judge="b", seed=5)
    assert stopped.summary.startswith("INCOMPLETE")
    assert "--max-requests 3" in str(stopped)


def test_what_a_prompt_cuts_off_is_no_probe(store: Store, tmp_path: Path) -> None:
    store.add_documents({f"q0d{d}": "word " * 30 for d in range(4)})
    source = read_prompt("graded").source.replace("[scale]", "longest = 100\n[scale]", 1)
    (tmp_path / "cut.md").write_text(source.replace('"graded"', '"cut"'), "utf-8")
    found = _probed(store, lambda text, seed: 1, documents=5, prompt=tmp_path / "cut.md")
    assert {one.name: len(one.moved) for one in found.findings} == {
        "again": 5, "padding": 4, "plea": 4,
    }  # fmt: skip


def test_examples_that_are_missing_and_grades_that_were_forced(store: Store) -> None:
    given: dict[str, Any] = {"what": "judged", "prompt": "graded-examples"}
    assert not il.estimate_model_judging(store, "tiny", **given).notes
    for one in [one for one in store.current() if one.grade == 3]:
        store.judge(replace(one, grade=2, id=None, time=""))
    (note,) = il.estimate_model_judging(store, "tiny", **given).notes
    assert note.startswith("there is no example of grade 3")
    likely = [{"token": "The", "logprob": -0.1}, {"token": "2", "logprob": -3.0}]
    tokens = [{"token": "2", "logprob": -3.0, "top_logprobs": likely}]
    with scripted(completion("2", logprobs=tokens)) as server:
        found = il.judge_by_model(store, server.url, "tiny", max_requests=1, **given)
    text = " ".join(str(found).split())
    assert note in text
    assert "1 answer would rather have been something else" in text
    (kept,) = [one for one in store.current() if one.kind == "model"]
    assert kept.note == "expected 2.00, confidence 1.00, probability of a grade 0.05"


def test_the_verbs(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(store.path)
    main(["judge", "prefer", path, "--model", "tiny", "--dry-run"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "would be sent 30 requests about 15 pairs" in shown
    with scripted(_comparing(_fair)) as server:
        main(["judge", "prefer", path, "--url", server.url, "--model", "tiny"])
    assert "15 preferences, 0 ties" in " ".join(capsys.readouterr().out.split())
    with scripted(graded(1)) as server:
        main(
            [
                "judge",
                "probe",
                path,
                "--url",
                server.url,
                "--model",
                "tiny",
                "-n",
                "5",
                "-f",
                "json",
            ]
        )
    assert json.loads(capsys.readouterr().out)["probes"]["plea"]["same"] == 5
