"""Hostile ids, texts and names in the workbench: nothing runs, nothing is asked for, all can be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import hostile
import idealist as il
from idealist.rendering.wording import seen
from workbench import Bench, Look, entered, serving, there

pytest_plugins = ["visits", "workbench"]


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Bench]:
    """Serve a folder in which everything that can be named or told is an attack."""
    folder = tmp_path_factory.mktemp("hostile")
    attacks = hostile.strings()
    ids = [f"{hostile.as_id(text)[:300]}{place}" for place, text in enumerate(attacks)]
    pairs = list(enumerate(ids))
    grades = {query: {ids[place - 1]: 2, ids[place - 2]: 1} for place, query in pairs}
    lists = {
        "old": {query: [ids[place - 3], ids[place - 1]] for place, query in pairs},
        "new": {query: [ids[place - 1], ids[place - 2]] for place, query in pairs},
    }
    write(folder / "qrels.json", grades)
    write(folder / f"{hostile.as_name(attacks[0])}.run.json", lists["old"])
    write(folder / f"{hostile.as_name(attacks[60])}.run.json", lists["new"])
    write(
        folder / "queries.json",
        [
            {"query": query, "text": attacks[place], "kind": attacks[place % 10] or "x"}
            for place, query in pairs
        ],
    )
    records = [
        {"id": one, "title": attacks[-place], "text": attacks[place]} for place, one in pairs
    ]
    (folder / "docs.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records))
    roles = {path.name: "run" for path in folder.glob("*.run.json")}
    roles |= {"queries.json": "queries", "qrels.json": "judgments"}
    write(folder / "idealist-ui.json", {"roles": roles})
    judge_some(folder, ids, attacks)
    with serving(folder) as served:
        entered(served, browser)
        yield served


def write(path: Path, data: object) -> None:
    path.write_text(json.dumps(data))


def judge_some(folder: Path, ids: list[str], attacks: list[str]) -> None:
    """Let two judges with hostile names and notes disagree, and leave something to judge."""
    names = [one for one in attacks if one.isprintable() and 0 < len(one) < 60][:2]
    with il.Store.create(folder / "labels.db", scale={0: attacks[20], 1: "<b>x</b>"}) as store:
        store.judge_all(
            il.Judgment(ids[0], document, n % 2, judge, note=attacks[n][:500])
            for n, judge in enumerate(names)
            for document in ids[:20]
        )


def check(page: Page) -> None:
    """Assert that nothing ran, and that nothing became an element."""
    assert page.evaluate("() => window.hit") is None
    assert (
        page.locator("[onerror], [onload], [onfocus], [onclick], [ontoggle], [style]").count() == 0
    )
    assert page.locator("iframe, object, embed, base, template, style, main img").count() == 0
    hrefs = page.locator("[href]").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert all(one.startswith(("/", "#")) and not one.startswith("//") for one in hrefs)


PAGES = (
    "/runs?qrels=qrels.json", "/compare?qrels=qrels.json&slice=kind", "/files", "/judge", "/judges",
    "/audit?qrels=qrels.json", "/settings?qrels=qrels.json", "/runs?qrels=labels.db",
)  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_nothing_runs_on_any_page(attacked: Bench, look: Look, path: str) -> None:
    with look(attacked, path) as page:
        for one in page.locator("details").all()[:10]:
            one.evaluate("details => { details.open = true }")
        check(page)


def test_nothing_runs_from_query_to_query(attacked: Bench, look: Look) -> None:
    with look(attacked, "/compare?qrels=qrels.json&sort=id") as page:
        with page.expect_navigation():
            page.locator("#query-table tbody th a").first.click()
        for _ in range(60):
            check(page)
            with page.expect_navigation():
                page.keyboard.press("j")


def test_nothing_runs_in_searches(attacked: Bench, look: Look) -> None:
    with look(attacked, "/runs?qrels=qrels.json") as page:
        for text in hostile.strings()[::10]:
            page.locator(".search input").fill(text[:300])
            with page.expect_navigation():
                page.locator(".search input").press("Enter")
            check(page)
        page.keyboard.press("Escape")
        page.locator("body").click()
        page.keyboard.press("Control+k")
        page.keyboard.type("<script>")
        page.wait_for_timeout(300)
        check(page)


def test_what_hides_is_shown(attacked: Bench, look: Look) -> None:
    with look(attacked, "/compare?qrels=qrels.json&find=desrever") as page:
        assert seen("\u202edesrever") in page.locator("#query-table").inner_text()
        there(page, attacked.url("/files"))
        shown = page.locator("main").inner_text()
        assert hostile.as_name(hostile.strings()[0]) in shown
