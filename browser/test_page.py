"""The report page in a real browser, opened from disk: what a reader can do with it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from visits import PageOf, Visit, unfold

pytest_plugins = ["visits"]

NAMES = ["one", "two", "many", "demo", "covid"]

#: The milliseconds from a click on a head until the next frame is drawn.
SORTING = """(place) => new Promise((done) => {
  const button = document.querySelectorAll("#query-table thead button")[place];
  const begin = performance.now();
  button.click();
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - begin);
    channel.port2.postMessage(0);
  });
})"""

#: What can be read, without the controls that the script made.
READ = """() => {
  const copy = document.body.cloneNode(true);
  for (const one of copy.querySelectorAll("script, .tools, .copy, dialog")) one.remove();
  return copy.textContent.replace(/\\s+/g, "");
}"""


def column(page: Page, name: str) -> list[str]:
    """Read the cells of a column of the queries, of the rows that are shown."""
    heads = page.locator("#query-table thead th").all_text_contents()
    place = [head.strip() for head in heads].index(name)
    rows = page.locator("#query-table tbody tr:visible")
    return [text.strip() for text in rows.locator(f":nth-child({place + 1})").all_text_contents()]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_quiet_and_asks_for_nothing(visit: Visit, page_of: PageOf, name: str) -> None:
    with visit(page_of(name)) as page:
        for section in ("verdict", "real", "queries", "lost", "trust", "how"):
            page.locator(f"#{section}").scroll_into_view_if_needed()
        unfold(page)
        page.wait_for_timeout(100)


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_there_without_javascript(visit: Visit, page_of: PageOf, name: str) -> None:
    with visit(page_of(name)) as page:
        with_script = page.evaluate(READ)
    with visit(page_of(name), java_script_enabled=False) as page:
        rows = page.locator("#query-table tbody tr")
        assert page.locator("#query-table tbody tr:visible").count() == rows.count() > 0
        assert page.locator("button, input").count() == 0
        assert page.evaluate(READ) == with_script


def test_sort(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("two")) as page:
        head = page.locator("#query-table th", has_text="difference")
        button = head.get_by_role("button")
        button.click()
        up = column(page, "difference")
        expect(head).to_have_attribute("aria-sort", "ascending")
        button.press("Enter")
        down = column(page, "difference")
        expect(head).to_have_attribute("aria-sort", "descending")
    assert [float(one) for one in up] == sorted(map(float, up))
    assert [float(one) for one in down] == sorted(map(float, up), reverse=True)
    assert float(up[0]) < 0 < float(down[0])


def test_other_tables_are_sorted_too(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("covid")) as page:
        table = page.locator("#verdict table")
        table.get_by_role("button", name="nDCG@10").click()
        values = table.locator("tbody td:nth-child(2)").all_text_contents()
    assert values == sorted(values)
    assert len(values) == 12


def test_what_is_missing_stands_last(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("two")) as page:
        page.evaluate(
            "() => { document.querySelector('#query-table tbody tr .num').textContent = '-' }"
        )
        button = page.locator("#query-table thead th.num button").first
        for _ in "up", "down":
            button.click()
            assert page.locator("#query-table tbody tr .num").all_text_contents()[-1] != ""
            last = page.locator("#query-table tbody tr").last.locator(".num").first
            expect(last).to_have_text("-")


def test_search(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("two")) as page:
        rows = page.locator("#query-table tbody tr:visible")
        text = rows.first.inner_text().split("\t")
        page.get_by_role("searchbox").fill(text[0])
        assert 1 <= rows.count() < page.locator("#query-table tbody tr").count()
        expect(rows.first).to_contain_text(text[0])
        page.get_by_role("searchbox").fill("no such words")
        expect(rows).to_have_count(0)
        expect(page.get_by_role("status").first).to_contain_text("0 of")


def test_filter(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("two")) as page:
        for name, tone in ("Better", "win"), ("Worse", "loss"):
            button = page.get_by_role("button", name=re.compile(f"^{name} "))
            button.click()
            expect(button).to_have_attribute("aria-pressed", "true")
            shown = page.locator("#query-table tbody tr:visible")
            whole = page.locator(f"#query-table tbody tr.{tone}")
            assert shown.count() == whole.count() == int((button.text_content() or "").split()[1])
            signs = {float(one) > 0 for one in column(page, "difference")}
            assert signs == {tone == "win"}
        page.get_by_role("button", name=re.compile("^All ")).click()
        assert shown.count() == page.locator("#query-table tbody tr").count()


def test_a_row_opens_its_query_and_back_returns(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("two")) as page:
        links = page.locator("#query-table tbody a[href^='#query-']")
        first, second = (str(links.nth(place).get_attribute("href")) for place in (0, 1))
        links.nth(0).click()
        expect(page.locator(first)).to_have_attribute("open", "")
        expect(page.locator(f"{first} > summary")).to_be_focused()
        expect(page.locator(f"{first} > summary")).to_be_in_viewport()
        links.nth(1).locator("xpath=ancestor::tr").locator("td").last.click()
        expect(page.locator(f"{second} > summary")).to_be_focused()
        page.go_back()
        expect(page.locator(f"{first} > summary")).to_be_focused()
        page.go_forward()
        expect(page.locator(f"{second} > summary")).to_be_focused()
        page.locator(f"{second} > summary").click()
        expect(page.locator(second)).not_to_have_attribute("open", "")
        links.nth(1).click()
        expect(page.locator(second)).to_have_attribute("open", "")


def test_an_address_opens_a_query(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("two"), "#query-3") as page:
        expect(page.locator("#query-3")).to_have_attribute("open", "")
        expect(page.locator("#query-3 > summary")).to_be_in_viewport()


@pytest.mark.parametrize(
    "anchor", ["#", "#%", "#query-99999", "#row-0", "#<script>", "#query-1%00"]
)
def test_an_address_that_leads_nowhere_is_no_fault(
    visit: Visit, page_of: PageOf, anchor: str
) -> None:
    with visit(page_of("one"), anchor) as page:
        expect(page.locator("details.lists[open]")).to_have_count(0)


def test_a_bar_leads_to_its_query(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("two")) as page:
        bars = page.locator("#figure-differences a")
        assert bars.count() == page.locator("#query-table tbody tr").count()
        bar = bars.last
        target = str(bar.get_attribute("href"))
        bar.click()
        expect(page.locator(f"{target} > summary")).to_be_focused()
        expect(page.locator(target)).to_have_attribute("open", "")
        bars.first.focus()
        page.keyboard.press("Enter")
        expect(page.locator(f"{bars.first.get_attribute('href')} > summary")).to_be_focused()


def test_all_lists_open_and_close(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("two")) as page:
        opened, lists = page.locator("details.lists[open]"), page.locator("details.lists")
        page.get_by_role("button", name="Open all lists").click()
        assert opened.count() == lists.count() > 1
        page.get_by_role("button", name="Close all lists").click()
        expect(opened).to_have_count(0)


def test_copy(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("two"), permissions=["clipboard-read", "clipboard-write"]) as page:
        box = page.locator("#how .copyable").first
        box.get_by_role("button").click()
        expect(box.get_by_role("button")).to_have_text("Copied")
        copied = page.evaluate("() => navigator.clipboard.readText()")
        assert copied == str(box.locator("pre").text_content()).strip()
        assert copied.startswith("idealist ")


def test_copy_without_the_clipboard(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("two"), permissions=["clipboard-read"]) as page:
        page.evaluate(
            "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }"
        )
        box = page.locator("#how .copyable").last
        box.get_by_role("button").click()
        expect(box.get_by_role("button")).to_have_text("Copied")
        copied = page.evaluate("() => navigator.clipboard.readText()")
        assert copied == str(box.locator("pre").text_content()).strip()
        expect(page.locator("textarea")).to_have_count(0)


def test_keys(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("two")) as page:
        links = page.locator("#query-table tbody a[href^='#query-']")
        summary = [
            page.locator(f"{links.nth(place).get_attribute('href')} > summary") for place in (0, 1)
        ]
        page.keyboard.press("j")
        expect(summary[0]).to_be_focused()
        page.keyboard.press("j")
        expect(summary[1]).to_be_focused()
        page.keyboard.press("k")
        expect(summary[0]).to_be_focused()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.keyboard.press("/")
        search = page.get_by_role("searchbox")
        expect(search).to_be_focused()
        page.keyboard.type("j/k?")
        expect(search).to_have_value("j/k?")


def test_the_order_of_the_table_is_the_order_of_the_keys(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("two")) as page:
        page.locator("#query-table thead button").first.click()
        page.locator("#query-table thead button").first.click()
        first = page.locator("#query-table tbody tr").first.locator("a").get_attribute("href")
        page.keyboard.press("j")
        expect(page.locator(f"{first} > summary")).to_be_focused()


def test_seven_thousand_queries(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("large")) as page:
        rows = page.locator("#query-table tbody tr:visible")
        expect(rows).to_have_count(200)
        heads = page.locator("#query-table thead button").count()
        for place in range(heads):
            assert min(page.evaluate(SORTING, place) for _ in range(5)) < 200, place
        page.get_by_role("button", name="Show all 6,980").click()
        expect(rows).to_have_count(6980)
        assert min(page.evaluate(SORTING, heads - 1) for _ in range(5)) < 200


def test_a_row_beyond_the_first_two_hundred_is_found(visit: Visit, page_of: PageOf) -> None:
    with visit(page_of("large"), "#row-6000") as page:
        expect(page.locator("#row-6000")).to_be_in_viewport()
        page.get_by_role("searchbox").fill("no such words")
        page.evaluate("() => { location.hash = '#row-5000' }")
        expect(page.locator("#row-5000")).to_be_focused()
