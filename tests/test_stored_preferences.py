"""Preferences of a store: what measures read of them, also where they go in circles."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealist as il
from idealist.cli.main import main
from idealist.errors import UsageError
from idealist.judging.store_records import Preference
from idealist.judging.stored_preferences import StoredPreferences


def _said(*pairs: str, judge: str = "ann") -> list[Preference]:
    return [Preference("q", a, b, judge) for a, b in map(tuple, pairs)]


def test_what_measures_read() -> None:
    said = StoredPreferences.of([*_said("ab", "bc"), *_said("ca", judge="gpt/preference@1")])
    qrels = said.qrels()
    assert not said.circular
    assert il.evaluate(qrels, {"q": ["a", "b", "c"]}, "prefs_simp")["prefs_simp"] == 0.75
    assert il.evaluate(qrels, {"q": ["c", "b", "a"]}, "prefs_simp")["prefs_simp"] == 0.25
    assert il.evaluate(StoredPreferences.of(said.said, "ann").qrels(), {"q": ["a", "b", "c"]},
                       "prefs_simp")["prefs_simp"] == 1  # fmt: skip


def test_the_last_word_counts_and_ties_say_nothing() -> None:
    rows = [*_said("ab", "ba"), Preference("q", "c", "d", "ann", tied=True)]
    said = StoredPreferences.of(rows)
    assert said.trec() == b"q ann 1 b 2\nq ann 1 a 1\nq ann 2 c 1\nq ann 2 d 1\n"
    possible = il.evaluate(said.qrels(), {"q": ["b", "a"]}, "prefs_num_prefs_poss")
    assert possible["prefs_num_prefs_poss"] == 1


def test_circles_are_left_out() -> None:
    said = StoredPreferences.of(_said("ab", "bc", "ca", "ad", "de"))
    assert {one.better + one.worse for one in said.circular} == {"ab", "bc", "ca"}
    assert il.evaluate(said.qrels(), {"q": list("abcde")}, "prefs_simp")["prefs_simp"] == 1


@given(st.lists(st.sampled_from(list(permutations("abcde", 2))), min_size=1, max_size=12))
def test_whatever_is_said_can_be_read(pairs: list[tuple[str, str]]) -> None:
    said = StoredPreferences.of([Preference("q", a, b, "ann") for a, b in pairs])
    kept = {(one.better, one.worse) for one in said.said if one not in said.circular}
    last = {frozenset(pair): pair for pair in pairs}.values()
    assert kept == {(a, b) for a, b in last if a not in _reached(b, set(last))}
    if kept:
        assert all(group.conflict is None for group in (said.qrels().preferred or ())[0])


def _reached(start: str, pairs: set[tuple[str, str]]) -> set[str]:
    found, new = set[str](), {start}
    while new:
        found |= new
        new = {b for a, b in pairs if a in new} - found
    return found


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "said.prefs"
    path.write_bytes(StoredPreferences.of(_said("ab", judge="Ann Lee")).trec())
    assert il.evaluate(path, {"q": ["a", "b"]}, "prefs_simp")["prefs_simp"] == 1
    with pytest.raises(UsageError, match="holds no preferences"):
        StoredPreferences.of([]).trec()
    with pytest.raises(UsageError, match="has a blank"):
        StoredPreferences.of([Preference("q 1", "a", "b", "ann")]).trec()


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with il.Store.create(tmp_path / "labels.db") as store:
        for one in _said("ab", "bc", "ca", "ad"):
            store.prefer(one)
    path = tmp_path / "labels.prefs"
    main(["judge", "export", str(store.path), "-o", str(path)])
    assert path.read_bytes() == b"q ann 1 a 2\nq ann 1 d 1\n"
    said = capsys.readouterr().err
    assert "3 preferences go in a circle" in said
    assert f"written: 1 preference to {path}" in said
    with pytest.raises(SystemExit):
        main(["judge", "export", str(store.path), "--to", "prefs", "--merge", "max"])
    assert "neither merged nor sampled" in capsys.readouterr().err
