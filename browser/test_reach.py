"""Who and what can read the report page: assistive technology, phones, dark rooms, paper."""

from __future__ import annotations

from pathlib import Path

import pypdf
import pytest

from visits import PageOf, Visit, findings, screen, unfold

pytest_plugins = ["visits"]

SCREENS = [(width, scheme) for width in (360, 1440) for scheme in ("light", "dark")]


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
@pytest.mark.parametrize("name", ["one", "many", "demo"])
def test_nothing_bars_the_way(
    visit: Visit, page_of: PageOf, name: str, width: int, scheme: str
) -> None:
    with visit(page_of(name), **screen(width, scheme)) as page:
        unfold(page, 3)
        page.keyboard.press("?")
        assert findings(page, "dialog") == []
        page.keyboard.press("Escape")
        assert findings(page) == []


@pytest.mark.parametrize("name", ["one", "many", "demo", "covid"])
def test_a_phone_scrolls_one_way_only(visit: Visit, page_of: PageOf, name: str) -> None:
    with visit(page_of(name), **screen(360, "light")) as page:
        unfold(page)
        root = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
        assert root == [360, 360]


def test_two_lists_stand_beside_each_other_where_there_is_room(
    visit: Visit, page_of: PageOf
) -> None:
    for width, beside in (1440, True), (360, False):
        with visit(page_of("two"), "#query-1", **screen(width, "light")) as page:
            left, right = (side.bounding_box() for side in page.locator("#query-1 .side").all())
            assert left is not None
            assert right is not None
            assert (left["y"] == right["y"]) is beside


def test_colours_follow_the_theme(visit: Visit, page_of: PageOf) -> None:
    seen = set()
    for scheme in "light", "dark":
        with visit(page_of("two"), **screen(1440, scheme)) as page:
            seen.add(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
    assert len(seen) == 2


@pytest.mark.parametrize("script", [True, False])
def test_paper_has_all_but_closed_lists(
    visit: Visit, page_of: PageOf, tmp_path: Path, script: bool
) -> None:
    target = tmp_path / "page.pdf"
    with visit(page_of("two"), java_script_enabled=script) as page:
        if script:
            page.get_by_role("searchbox").fill("no such words")
        opened, closed = page.locator("details.lists").first, page.locator("details.lists").last
        opened.evaluate("details => { details.open = true }")
        page.pdf(path=target, prefer_css_page_size=True)
        ids = page.locator("#query-table tbody th").all_text_contents()
        summaries = page.locator("details:not(.lists) summary").all_text_contents()
        deep = opened.locator("td").last.text_content()
        left_out = closed.locator("summary").text_content()
    pages = pypdf.PdfReader(target).pages
    text = "".join("".join(one.extract_text() for one in pages).split())
    assert 4 <= len(pages) <= 40
    assert round(float(pages[0].mediabox.width)) == 595
    for words in [*ids, *summaries, deep]:
        assert "".join(str(words).split()) in text, words
    assert "".join(str(left_out).split()) not in text
    assert "Copy" not in text
