"""Hostile ids, texts and names on the report page: nothing runs, and all of them can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

import hostile
import idealist as il
from idealist.rendering.wording import seen
from visits import Visit, unfold

pytest_plugins = ["visits"]

#: What the page shows of a text at least, when it is long.
SHOWN = 100

#: All that can be read, also what is only told when it is pointed at.
READ = """() => {
  const copy = document.body.cloneNode(true);
  for (const one of copy.querySelectorAll("script")) one.remove();
  return document.title + copy.textContent;
}"""


def squeezed(text: str) -> str:
    return "".join(text.split())


def written(text: str) -> str:
    """Write a text as the page does, at least its beginning: blanks are one, what hides is shown."""
    return squeezed(seen(" ".join(text.split())))[:SHOWN]


@pytest.fixture(scope="module")
def attacks() -> list[str]:
    return hostile.strings()


@pytest.fixture(scope="module")
def attacked(attacks: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a page where everything that can be named or told is an attack."""
    path = tmp_path_factory.mktemp("hostile") / "page.html"
    ids = [f"{hostile.as_id(text)}{place}" for place, text in enumerate(attacks)]
    qrels = {query: {ids[place - 1]: 2, ids[place - 2]: 1} for place, query in enumerate(ids)}
    old = {query: [ids[place - 3], ids[place - 1]] for place, query in enumerate(ids)}
    new = {query: [ids[place - 1], ids[place - 2]] for place, query in enumerate(ids)}
    page = il.report(
        qrels,
        {attacks[0] + attacks[60]: old, attacks[1] + attacks[61]: new},
        ["nDCG@10", "AP"],
        texts=dict(zip(ids, attacks, strict=True)),
        docs=dict(zip(ids, reversed(attacks), strict=True)),
        slices={query: attacks[place % 10] or "x" for place, query in enumerate(ids)},
        title=" ".join(text for text in attacks if len(text) < 100),
        notes="\n\n".join(text for text in attacks if len(text) < 1000),
        full=True,
    )
    page.save(path)
    return path


def test_nothing_runs(visit: Visit, attacked: Path) -> None:
    with visit(attacked) as page:
        unfold(page)
        page.wait_for_timeout(500)
        for key in "jjk":
            page.keyboard.press(key)
        page.locator("#query-table thead button").first.click()
        page.get_by_role("searchbox").fill("<script>")
        assert page.evaluate("() => window.hit") is None
        assert page.locator("[onerror], [onload], [onfocus], [onclick], [ontoggle]").count() == 0
        assert page.locator("img, iframe, object, embed, form, base, template, style").count() == 1
        assert page.locator("[style]").count() == 0
        hrefs = page.locator("[href]").evaluate_all(
            "all => all.map(one => one.getAttribute('href'))"
        )
        assert all(one.startswith("#") for one in hrefs)


def test_everything_is_shown(visit: Visit, attacked: Path, attacks: list[str]) -> None:
    with visit(attacked) as page:
        read = squeezed(page.evaluate(READ))
        names = page.locator("#query-table tbody th").all_text_contents()
        texts = page.locator("#query-table tbody td:nth-child(3)").all_text_contents()
    assert len(names) == len(attacks)
    shown = {squeezed(text)[:SHOWN] for text in texts}
    for place, text in enumerate(attacks):
        assert written(text) in shown, text[:80]
        assert written(f"{hostile.as_id(text)}{place}") in read, text[:80]


def test_names_of_files(visit: Visit, attacks: list[str], tmp_path: Path) -> None:
    """Runs are named after their files, and commands name the files."""
    chosen = dict.fromkeys(hostile.as_name(text) for text in attacks[:40])
    paths = [tmp_path / f"{name}.run" for name in chosen]
    for path in paths:
        path.write_text("q1 Q0 a 1 2 x\nq1 Q0 b 2 1 x\nq2 Q0 a 1 1 x\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 a 1\n")
    target = tmp_path / "page.html"
    il.report(tmp_path / "qrels.txt", paths, "AP").save(target)
    with visit(target) as page:
        unfold(page)
        read = squeezed(page.evaluate(READ))
        assert page.evaluate("() => window.hit") is None
    for name in chosen:
        assert written(name) in read, name
