"""The workbench in a real browser: every page, its keys, both themes, wide and narrow screens."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import idealist as il
from visits import findings, screen
from workbench import Bench, Look, there

pytest_plugins = ["visits", "workbench"]

PAGES = (
    "/runs", "/compare", "/compare?slice=kind&way=worse", "/query?query=q05", "/query?query=q05&ranks=50",
    "/judge", "/judges", "/audit", "/settings", "/files", "/search?find=git", "/search", "/runs?m=nonsense",
)  # fmt: skip


#: Whether a document has its grade wherever it stands, and that is saved.
GRADED = """(name) => document.querySelector(".status").textContent === "Saved."
  && [...document.querySelectorAll(".doc")].filter((one) => one.dataset.document === name)
    .every((one) => one.querySelector(".chip").textContent.trim() === "2")"""


def is_quiet(path: str) -> bool:
    """Whether the browser has nothing to complain about: it reports pages with an error."""
    return "nonsense" not in path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_pages_have_no_barriers_and_fit(
    shared_bench: Bench, look: Look, width: int, scheme: str
) -> None:
    for path in PAGES:
        with look(shared_bench, path, is_quiet(path), **screen(width, scheme)) as page:
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, (path, wide)
            assert findings(page) == [], path


JUDGED = (
    "/runs", "/query?query=q05", "/judge", "/judge?way=pairs", "/judge?way=choose", "/judges",
    "/judges/agreement", "/judges/agreement?a=ann&b=bob", "/judges/disputes", "/judges/model",
    "/audit?run=bm25", "/settings?a=now:bm25&b=now:reranked",
)  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_pages_of_judges_have_no_barriers_and_fit(
    judged_bench: Bench, look: Look, width: int, scheme: str
) -> None:
    for path in JUDGED:
        quiet = "now:" not in path  # which may be spelt otherwise
        with look(judged_bench, path, quiet, **screen(width, scheme)) as page:
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, (path, wide)
            assert findings(page) == [], path


def test_disagreements_are_decided_by_keys(judged_bench: Bench, look: Look) -> None:
    with look(judged_bench, "/judges/disputes") as page:
        waiting = page.locator("main table tbody tr").count()
        assert waiting > 2
        first = page.locator("main h2").first.inner_text()
        page.keyboard.press("2")
        expect(page.locator("main table tbody tr")).to_have_count(waiting - 1)
        page.keyboard.press("j")
        page.wait_for_load_state()
        assert first
    with il.Store(judged_bench.folder / "judgments.db") as store:
        decided = [one for one in store.current() if one.adjudicates]
    assert [(one.judge, one.grade) for one in decided] == [("ann", 2)]


def test_a_repair_shows_its_command_first(bench: Bench, look: Look) -> None:
    lines = (bench.folder / "bm25.run").read_text().replace(" Q0 ", " Q0 corpus/")
    (bench.folder / "odd.run").write_text(lines)
    (bench.folder / "reranked.run").unlink()
    with look(bench, "/files") as page:
        while "odd.run" not in page.locator("main").inner_text():
            page.wait_for_timeout(200)
            there(page, bench.url("/files"))
        there(page, bench.url("/audit?run=odd"))
        page.get_by_role("button", name=re.compile("[Rr]epair")).first.click()
        dialog = page.locator("dialog[open]")
        expect(dialog).to_contain_text("idealist convert")
        assert not (bench.folder / "odd.fixed.run").exists()
        dialog.get_by_role("button", name="Repair").click()
        expect(dialog.locator("div.said-back")).to_contain_text("odd.fixed.run", timeout=60_000)
    assert (bench.folder / "odd.fixed.run").exists()


def test_everything_can_be_read_without_a_script(shared_bench: Bench, look: Look) -> None:
    for path in ("/runs", "/compare", "/query?query=q05", "/audit", "/settings", "/files"):
        with look(shared_bench, path, java_script_enabled=False) as page:
            assert len(page.locator("main").inner_text()) > 200, path
            expect(page.locator("h1")).to_be_visible()


def test_choices_apply_by_themselves(shared_bench: Bench, look: Look) -> None:
    with look(shared_bench, "/runs") as page:
        page.get_by_label("Convention").select_option("sklearn")
        page.wait_for_url("**/runs?**c=sklearn**")
        expect(page.get_by_text("convention sklearn")).to_be_visible()
        page.get_by_label("Pin bm25").check()
        page.wait_for_url("**pin=bm25**")
        page.get_by_label("Compare with reranked").check()
        page.wait_for_url("**baseline=reranked**")
        page.locator("input[list]").fill("RR@5, AP")
        page.locator("input[list]").press("Enter")
        expect(page.locator("#runs thead")).to_contain_text("RR@5")
        assert "sklearn" in page.url
        page.go_back()
        page.go_back()
        expect(page.get_by_label("Compare with bm25")).to_be_checked()


def test_keys_lead_everywhere(shared_bench: Bench, look: Look) -> None:
    with look(shared_bench, "/runs") as page:
        for key, path in (("c", "/compare"), ("a", "/audit"), ("j", "/judge"), ("r", "/runs")):
            page.keyboard.press("g")
            page.keyboard.press(key)
            page.wait_for_url(f"**{path}**")
        page.keyboard.press("?")
        expect(page.locator("#help")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#help")).to_be_hidden()
        page.keyboard.press("/")
        expect(page.locator(".search input")).to_be_focused()
        page.keyboard.type("reflog")
        page.keyboard.press("Enter")
        page.get_by_role("link", name=re.compile("git reflog")).click()
        page.wait_for_url("**/query?**query=q05**")


def test_the_palette(shared_bench: Bench, look: Look) -> None:
    with look(shared_bench, "/runs") as page:
        page.keyboard.press("Control+k")
        expect(page.locator("#palette")).to_be_visible()
        page.keyboard.type("reflog")
        expect(page.locator("#palette li").first).to_contain_text("git reflog")
        page.keyboard.press("Enter")
        page.wait_for_url("**/query?**query=q05**")
        page.keyboard.press("Control+k")
        page.keyboard.type("audit")
        expect(page.locator("#palette li").first).to_contain_text("Audit")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        page.wait_for_url("**/audit**")


def test_from_query_to_query_by_keys(shared_bench: Bench, look: Look) -> None:
    with look(shared_bench, "/compare?sort=best") as page:
        order = page.locator("#query-table tbody th").all_text_contents()[:4]
        with page.expect_navigation():
            page.locator("#query-table tbody th a").first.click()
        walked = [page.locator("h1 code").inner_text()]
        for key in ("j", "j", "j", "k"):
            with page.expect_navigation():
                page.keyboard.press(key)
            walked.append(page.locator("h1 code").inner_text())
        assert walked == [*(one.strip() for one in order), order[2].strip()]


def test_a_bar_leads_to_its_query(shared_bench: Bench, look: Look) -> None:
    with look(shared_bench, "/compare") as page:
        bar = page.locator("#figure-differences a").first
        bar.click()
        page.wait_for_url("**/query?**")
        expect(page.locator(".docs").first).to_be_visible()


def values(page: Page) -> list[str]:
    """Read the values of the lists."""
    found: list[str] = page.locator("[data-value]").all_text_contents()
    return found


def test_grades_by_key_move_the_value(bench: Bench, look: Look) -> None:
    with look(bench, "/query?query=q05") as page:
        page.get_by_role("button", name="Edit grades").click()
        page.wait_for_url("**qrels=judgments.db**")
        there(page, bench.url("/query?query=q05"))
        held = values(page)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("3")
        expect(page.locator(".status")).to_have_text("Saved.")
        assert values(page) != held
        expect(page.locator(".was").first).to_have_text(f"was {held[0]}")
        assert page.locator(".doc").nth(2).locator(".chip").inner_text() == "3"
        expect(page.locator(".doc").nth(2)).to_be_focused()
        page.keyboard.press("u")
        expect(page.locator(".doc").nth(2).locator(".chip")).not_to_have_text("3")
        assert values(page) == held


def test_new_files_appear(bench: Bench, look: Look) -> None:
    with look(bench, "/runs") as page:
        assert page.locator("#runs tbody tr").count() == 2
        (bench.folder / "third.run").write_text((bench.folder / "bm25.run").read_text())
        while page.locator("#runs tbody tr").count() != 3:
            page.wait_for_timeout(200)
            there(page, bench.url("/runs"))


def evaluated(*words: Any) -> Any:
    """Run ``idealist eval -f json``."""
    program = Path(sys.executable).with_name("idealist")
    done = subprocess.run(
        [str(program), "eval", *map(str, words), "-f", "json"], check=True, capture_output=True
    )
    return json.loads(done.stdout)


def test_the_whole_story(bench: Bench, look: Look, tmp_path: Path) -> None:
    """Open a folder, find the worst query, judge 20 documents by keyboard, see the value move,
    download the report, and find the same numbers in ``idealist eval``."""
    with look(bench, "/runs") as page:
        page.get_by_role("link", name="Compare them").click()
        page.wait_for_url("**/compare**")
        page.get_by_label("Order").select_option("low")
        page.wait_for_url("**sort=low**")
        worst = page.locator("#query-table tbody th a").first
        name = worst.inner_text()
        worst.click()
        page.wait_for_url(f"**query={name}**")
        page.get_by_role("button", name="Edit grades").click()
        page.wait_for_url("**qrels=judgments.db**")
        there(page, bench.url(f"/query?query={name}&ranks=20"))
        held = values(page)
        for _ in range(20):
            page.keyboard.press("ArrowDown")
            document = page.locator(".doc:focus").get_attribute("data-document")
            page.keyboard.press("2")
            page.wait_for_function(GRADED, arg=document)
        assert values(page) != held
        shown = dict(
            zip(
                page.locator("[data-value]").evaluate_all(
                    "all => all.map((one) => one.dataset.value)"
                ),
                values(page),
                strict=True,
            )
        )
        page.get_by_role("link", name="Runs", exact=True).click()
        page.wait_for_url("**/runs**")
        with page.expect_download() as waiting:
            page.get_by_role("link", name="Download the report").click()
        report = tmp_path / "report.html"
        waiting.value.save_as(report)
    runs = [bench.folder / f"{run}.run" for run in ("bm25", "reranked")]
    printed = evaluated(bench.folder / "judgments.db", *runs, "--per-query")
    per_query = {one["run"]: one["per_query"][name]["nDCG@10"] for one in printed["runs"]}
    assert {run: f"{value:.4f}" for run, value in per_query.items()} == {
        run: shown[run] for run in per_query
    }
    inside = re.search(r'id="idealist-data">(.*?)</script>', report.read_text(), re.DOTALL)
    assert inside is not None
    reported = json.loads(inside[1])["eval"]["runs"]
    assert [one["values"] for one in reported] == [one["values"] for one in printed["runs"]]
    counted = subprocess.run(
        [str(Path(sys.executable).with_name("idealist")), "judge", "status", str(bench.folder / "judgments.db"), "-f", "json"],
        check=True, capture_output=True,
    )  # fmt: skip
    (mine,) = [one for one in json.loads(counted.stdout)["judges"] if one["judge"] == "ann"]
    assert mine["graded"] == 20
