"""Judging in a browser: every key, undo, notes, lost networks, reloads, telephones, and its speed."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

import idealist as il
from idealist.judging.store import Store
from idealist.judging.store_records import Judgment
from visits import findings, screen
from workbench import Bench, Look, entered, serving

pytest_plugins = ["visits", "workbench"]

SCALE = {0: "off topic", 1: "related", 2: "partly answers", 3: "answers it"}
#: How many key presses are timed, and how many milliseconds the next document may take.
PRESSES, QUICK, BUSY = 200, 50, 250
#: Whether the server has all that was said.
SENT = "() => !Object.keys(localStorage).length"


def pooled(folder: Path, depth: int = 30) -> None:
    """Choose documents of the demo's runs, with their texts, in a store beside them."""
    path = folder / "labels.db"
    queries, docs = (str(folder / name) for name in ("queries.csv", "documents.jsonl"))
    with Store.create(path, scale=SCALE, guidelines="Read it all.", queries=queries) as store:
        runs = [str(folder / name) for name in ("bm25.run", "reranked.run")]
        store.add_batch(il.pool(str(path), runs, depth=depth).batch)
        store.add_documents(docs)


@pytest.fixture
def bench(demo_folder: Path, tmp_path: Path, browser: Browser) -> Iterator[Bench]:
    """A workbench on a folder in which documents are chosen to be judged."""
    folder = tmp_path / "demo"
    shutil.copytree(demo_folder, folder)
    pooled(folder)
    with serving(folder) as served:
        entered(served, browser)
        yield served


@pytest.fixture
def store(bench: Bench) -> Path:
    return bench.folder / "labels.db"


def said(path: Path) -> list[tuple[Any, ...]]:
    """Return what the store has, in order."""
    asked = "SELECT query, document, grade, status, note, token FROM judgment ORDER BY id"
    connection = sqlite3.connect(path)
    try:
        return connection.execute(asked).fetchall()
    finally:
        connection.close()


def shown(page: Page) -> tuple[str, str]:
    """Return the pair on the table."""
    return page.locator("#jq-query").inner_text(), page.locator(".jq-id").first.inner_text()


def saved(page: Page) -> None:
    """Wait until nothing waits to be sent."""
    page.wait_for_function(SENT)
    expect(page.locator(".status")).to_have_text("Saved")


def test_every_key_says_what_it_shows(bench: Bench, store: Path, look: Look) -> None:
    with look(bench, "/judge") as page:
        wanted: list[tuple[Any, ...]] = []
        keys = {"0": 0, "1": 1, "2": 2, "3": 3, "a": 0, "s": 1, "d": 2, "f": 3}
        for key, grade in keys.items():
            wanted.append((*shown(page), grade, "graded", ""))
            page.keyboard.press(key)
        wanted.append((*shown(page), None, "later", ""))
        page.keyboard.press("l")
        wanted.append((*shown(page), None, "cannot tell", "in no language I read"))
        page.keyboard.press("x")
        page.keyboard.type("in no language I read")
        page.keyboard.press("Enter")
        pair = shown(page)
        page.keyboard.press("n")
        page.keyboard.type("see the end")
        page.keyboard.press("Enter")
        expect(page.locator("#jq-noted")).to_have_text("Note: see the end")
        wanted.append((*pair, 2, "graded", "see the end"))
        page.keyboard.press("2")
        for key in (" ", "ArrowRight"):
            before = shown(page)
            page.keyboard.press(key)
            assert shown(page) != before
        saved(page)
        assert [row[:5] for row in said(store)] == wanted
        assert len({row[5] for row in said(store)}) == len(wanted)
        page.keyboard.press("?")
        expect(page.locator("#help")).to_be_visible()
        page.keyboard.press("2")
        page.keyboard.press("Escape")
        assert len(said(store)) == len(wanted)


def test_undo_shows_the_document_again_with_its_note(bench: Bench, store: Path, look: Look) -> None:
    with look(bench, "/judge") as page:
        pair = shown(page)
        page.keyboard.press("n")
        page.keyboard.type("hm")
        page.keyboard.press("Enter")
        page.keyboard.press("3")
        page.keyboard.press("u")
        assert shown(page) == pair
        expect(page.locator("#jq-noted")).to_have_text("Note: hm")
        page.keyboard.press("1")
        saved(page)
        rows = [row for row in said(store) if row[:2] == pair]
        assert [(row[2], row[3], row[4]) for row in rows] == [
            (3, "graded", "hm"), (None, "undone", ""), (1, "graded", "hm"),
        ]  # fmt: skip
        page.reload()
        page.keyboard.press("u")
        expect(page.locator(".jq-id")).to_have_text(pair[1])
        expect(page.locator("#jq-noted")).to_have_text("Note: hm")
        saved(page)
    with Store(store) as opened:
        assert [one.status for one in opened.current()] == []


def test_grades_given_offline_arrive_once(bench: Bench, store: Path, look: Look) -> None:
    with look(bench, "/judge") as page:
        page.keyboard.press("1")
        saved(page)
        page.context.set_offline(True)
        wanted = []
        for n in range(12):
            wanted.append((*shown(page), n % 4))
            page.keyboard.press(str(n % 4))
        page.keyboard.press("u")
        wanted[-1] = (*shown(page), 3)
        page.keyboard.press("3")
        expect(page.locator(".status")).to_have_text("14 waiting to be sent: offline")
        assert len(said(store)) == 1
        page.context.set_offline(False)
        saved(page)
    rows = said(store)
    assert len({row[5] for row in rows}) == len(rows) == 1 + 12 + 2
    with Store(store) as opened:
        current = {(one.query, one.document): one.grade for one in opened.current()}
    assert len(current) == 13
    assert all(current[query, document] == grade for query, document, grade in wanted)


def test_unsent_grades_survive_a_reload(bench: Bench, store: Path, browser: Browser) -> None:
    context = browser.new_context(storage_state=bench.state)
    page, asked, pairs = context.new_page(), list[str](), []

    def accept(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", accept)
    page.goto(bench.url("/judge"))
    context.route("**/judge/say*", lambda route: route.abort())
    for _ in range(3):
        pairs.append(shown(page))
        page.keyboard.press("2")
    expect(page.locator(".status")).to_have_text("3 waiting to be sent: offline")
    page.reload()
    assert asked == ["beforeunload"]
    assert shown(page) not in pairs
    context.unroute("**/judge/say*")
    page.evaluate("() => window.dispatchEvent(new Event('online'))")
    saved(page)
    assert [row[:3] for row in said(store)] == [(*pair, 2) for pair in pairs]
    context.close()


def test_two_tabs_lose_and_double_nothing(bench: Bench, store: Path, look: Look) -> None:
    with look(bench, "/judge") as page:
        other = page.context.new_page()
        other.goto(bench.url("/judge"))
        assert shown(other) == shown(page)
        for n in range(10):
            before = shown(page)[1]
            (page, other)[n % 2].keyboard.press(str(n % 4))
            for one in (page, other):
                expect(one.locator(".jq-id")).not_to_have_text(before)
        saved(page)
        saved(other)
    counts = Counter(row[:2] for row in said(store))
    assert len(counts) == counts.total() == 10


def test_what_the_server_refuses_is_told(bench: Bench, store: Path, look: Look) -> None:
    with look(bench, "/judge") as page:
        with Store(store) as opened:
            opened.set(scale=1, guidelines="Only two grades.")
        pair = shown(page)
        page.keyboard.press("3")
        page.keyboard.press("1")
        told = page.locator("#jq-told")
        expect(told).to_contain_text(f"What you said of {pair[1]} was not kept: 3 is not a grade")
        expect(told).to_contain_text("The scale or the guidelines have changed.")
        page.wait_for_function(SENT)
        assert [row[2] for row in said(store)] == [1]
        page.get_by_role("button", name="Show the new ones").click()
        expect(page.locator(".jq-grades button")).to_have_count(2)


def test_documents_are_compared_two_by_two(bench: Bench, store: Path, look: Look) -> None:
    with look(bench, "/judge?way=pairs") as page:
        wanted = []
        for key, way in (
            ("ArrowLeft", 0),
            ("1", 0),
            ("ArrowRight", 1),
            ("2", 1),
            ("=", 2),
            ("3", 2),
        ):
            sides = page.locator(".jq-id").all_inner_texts()
            query = page.locator("#jq-query").inner_text()
            better, worse = (sides[1], sides[0]) if way == 1 else sides
            wanted.append((query, better, worse, way == 2))
            page.keyboard.press(key)
        page.keyboard.press("u")
        assert page.locator(".jq-id").all_inner_texts() == list(wanted[-1][1:3])
        page.keyboard.press("1")
        wanted.append((*wanted[-1][:3], False))
        saved(page)
        with Store(store) as opened:
            rows = [(one.query, one.better, one.worse, one.tied) for one in opened.preferences()]
        assert rows == wanted
        sides = page.locator(".jq-id").all_inner_texts()
        page.reload()
        assert page.locator(".jq-id").all_inner_texts() == sides


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("way", ["", "pairs", "choose"])
def test_it_has_no_barriers_and_fits(
    bench: Bench, store: Path, look: Look, way: str, width: int, scheme: str
) -> None:
    with look(bench, f"/judge?way={way}", **screen(width, scheme, 740)) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert findings(page) == []
        if way == "" and width == 360:
            places = page.locator(".jq-grades button").all()
            before = [one.bounding_box() for one in places]
            assert all(
                box and box["height"] >= 44 and box["y"] + box["height"] <= 740 for box in before
            )
            places[2].click()
            saved(page)
            assert [one.bounding_box() for one in places] == before
            assert said(store)[0][2] == 2


def test_an_editor_chooses_what_to_judge(
    demo_folder: Path, tmp_path: Path, browser: Browser, look: Look
) -> None:
    folder = Path(shutil.copytree(demo_folder, tmp_path / "demo"))
    with serving(folder) as bench, look(entered_at(bench, browser), "/judge") as page:
        expect(page.locator("main")).to_contain_text("It will be made in this folder")
        page.get_by_label("Depth of each run").fill("20")
        page.get_by_role("button", name="Choose documents").click()
        expect(page.locator(".status")).to_have_text("Saved")
        expect(page.locator(".jq-text")).not_to_be_empty()
        pair = shown(page)
        page.keyboard.press("2")
        saved(page)
    with Store(folder / "judgments.db") as opened:
        own = [one for one in opened.current() if one.judge == "ann"]
    assert [(one.query, one.document, one.grade) for one in own] == [(*pair, 2)]


def entered_at(bench: Bench, browser: Browser) -> Bench:
    entered(bench, browser)
    return bench


def test_it_says_when_all_is_done(bench: Bench, store: Path, look: Look) -> None:
    with look(bench, "/judge") as page:
        with Store(store) as opened:
            opened.judge_all(
                Judgment(task.query, task.document, 0, "bob", batch=task.batch)
                for task in opened.upcoming("bob", 1000)
            )
        page.reload()
        while "All done." not in page.locator("#jq-over-title").all_inner_texts():
            page.keyboard.press("0")
        saved(page)
    with Store(store) as opened:
        counts = Counter((one.query, one.document) for one in opened.current())
    assert {*counts.values()} == {1}


#: Presses a key so often, and returns after how many milliseconds each next document was painted.
TIMED = """async (times) => {
  const spent = [];
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  for (let n = 0; n < times; n += 1) {
    const before = document.querySelector(".jq-id").textContent;
    const start = performance.now();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: String(n % 4), bubbles: true }));
    if (document.querySelector(".jq-id").textContent === before) throw new Error("nothing happened");
    await painted();
    spent.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 120));
  }
  return spent;
}"""


def test_the_next_document_is_there_at_once(
    bench: Bench, store: Path, look: Look, capsys: pytest.CaptureFixture[str]
) -> None:
    with look(bench, "/judge") as page:
        page.set_default_timeout(120_000)
        spent = sorted(page.evaluate(TIMED, PRESSES))
        saved(page)
    median, high = spent[PRESSES // 2], spent[int(PRESSES * 0.95)]
    with capsys.disabled():
        print(f"\nkey to next document: median {median:.1f} ms, 95th percentile {high:.1f} ms")
    quiet = os.getloadavg()[0] < (os.cpu_count() or 1)
    assert high < (QUICK if quiet else BUSY), spent[-20:]
    assert len(said(store)) == PRESSES
