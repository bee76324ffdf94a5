"""The page Settings: what differs between evaluations; and the report that can be kept."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import idealist as il
from idealist.cli.main import main
from web_client import EXAMPLES, Client
from web_stores import shown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with judgments, two runs and texts of queries."""
    for name in ("qrels.txt", "bm25.run", "reranked.run", "queries.tsv"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    return tmp_path


def saved(folder: Path, run: str, **rules: str) -> str:
    """Save an evaluation; return how an address names it."""
    one = il.evaluate(folder / "qrels.txt", folder / f"{run}.run", ["nDCG@10", "AP"], **rules)
    name = f"{run}-{'-'.join(rules.values()) or 'usual'}.json"
    one.save(folder / name)
    return f"saved:{name}"


def difference(folder: Path, a: str, b: str, more: str = "") -> Any:
    address = f"/settings.json?a={quote(a)}&b={quote(b)}{more}"
    return Client.of(folder).get(address).json()["difference"]


def test_axes_are_those_of_the_command_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = saved(folder, "bm25"), saved(folder, "bm25", convention="sklearn")
    found = difference(folder, a, b)
    names = [str(folder / one.removeprefix("saved:")) for one in (a, b)]
    main(["signature", "diff", *names, "-f", "json"])
    assert found["axes"] == json.loads(capsys.readouterr().out)
    assert found["comparison"] is None
    assert found["answer"].startswith("No number of")


def test_the_same_rules_are_compared(folder: Path) -> None:
    a, b = saved(folder, "bm25"), saved(folder, "reranked")
    found = difference(folder, a, b)
    both = [
        il.evaluate(folder / "qrels.txt", folder / f"{x}.run", ["nDCG@10", "AP"])
        for x in ("bm25", "reranked")
    ]
    values = {one["measure"]: one for one in found["values"]}
    for label in ("nDCG@10", "AP"):
        assert (values[label]["first"], values[label]["second"]) == (both[0][label], both[1][label])
        assert values[label]["difference"] == both[1][label] - both[0][label]
        assert values[label]["comparable"] == "yes"
    wanted = il.compare_evaluations(both).pairs[0]
    assert found["comparison"]["pairs"][0]["p_randomisation"] == wanted.p_randomisation
    page = unescape(shown(Client.of(folder), f"/settings?a={quote(a)}&b={quote(b)}"))
    assert "may be compared: they were made by the same rules" in page
    assert "Verdict" in page


def test_what_was_saved_is_compared_with_now(folder: Path) -> None:
    a = saved(folder, "bm25")
    now = difference(folder, a, "now:bm25", "&m=nDCG@10&m=AP")
    assert now["axes"] == {"nDCG@10": {}, "AP": {}}
    assert [one["difference"] for one in now["values"]] == [0.0, 0.0]
    other = difference(folder, a, "now:bm25", "&m=nDCG@10&set=unjudged%3Ddrop")
    assert other["axes"] == {"nDCG@10": {"unjudged": ["zero", "drop"]}}
    usual = Client.of(folder).get("/settings.json?m=nDCG@10").json()["difference"]
    assert (usual["first"], usual["second"]) == (a.removeprefix("saved:"), "bm25 now")


def test_conventions_are_compared_measure_by_measure(folder: Path) -> None:
    found = difference(folder, "rules:trec_eval", "rules:sklearn", "&m=nDCG@10")
    qrels = il.read_qrels(folder / "qrels.txt").hash
    one, other = (
        il.Signature.parse(f"nDCG@10|{name}|qrels:{qrels}|rules:1")
        for name in ("trec_eval", "sklearn")
    )
    assert found["axes"] == {
        "nDCG@10": {axis: list(pair) for axis, pair in one.diff(other).items()}
    }
    mixed = difference(folder, "now:bm25", "rules:sklearn", "&m=nDCG@10")
    assert mixed["axes"]["nDCG@10"].keys() == found["axes"]["nDCG@10"].keys()


@pytest.mark.parametrize(
    "address", ["/settings?a=x", "/settings?a=now:no", "/settings?a=saved:../../etc/passwd",
                "/settings?b=rules:no", "/settings?a=saved:qrels.txt", "/settings?pin=a&pin=b",
                "/settings?m=nope", "/report.html?m=nope", "/report.html?slice=nope",
                "/report.html?pin=no&pin=nor", "/report.html?c=nope"],
)  # fmt: skip
def test_bad_addresses_are_refused_in_words(folder: Path, address: str) -> None:
    answer = Client.of(folder).get(address)
    assert answer.status == 400 or (answer.status == 200 and 'class="error"' in answer.text)


def test_hostile_names_are_only_text(folder: Path) -> None:
    name = "<img src=x onerror=alert(1)>"
    saved(folder, "bm25")
    (folder / "bm25-usual.json").rename(folder / f"{name}.json")
    (folder / "bm25.run").rename(folder / f"{name}.run")
    page = shown(
        Client.of(folder), f"/settings?a={quote(f'saved:{name}.json')}&b={quote(f'now:{name}')}"
    )
    assert name not in page
    assert "&lt;img src=x" in page


def test_an_empty_folder_shows_conventions(tmp_path: Path) -> None:
    client = Client.of(tmp_path)
    assert "Rules that differ" in shown(client, "/settings")
    assert client.get("/report.html").status == 400


#: What an evaluation says in numbers.
NUMBERS = ("run", "values", "intervals", "queries")


def embedded(page: str) -> Any:
    found = re.search('id="idealist-data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_report_has_the_numbers_of_eval(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = Client.of(folder).get(
        "/report.html?m=nDCG@10&m=AP&title=Ours+%3Cb%3E&baseline=reranked"
    )
    assert "report-reranked-bm25.html" in answer.headers["content-disposition"]
    assert "<title>Ours &lt;b&gt;</title>" in answer.text
    files = [str(folder / name) for name in ("qrels.txt", "reranked.run", "bm25.run")]
    main(["eval", *files, "-m", "nDCG@10", "-m", "AP", "-f", "json"])
    wanted = json.loads(capsys.readouterr().out)
    found = embedded(answer.text)["eval"]
    assert [one["run"] for one in found["runs"]] == ["reranked", "bm25"]
    for ours, theirs in zip(found["runs"], wanted["runs"], strict=True):
        assert [ours[key] for key in NUMBERS] == [theirs[key] for key in NUMBERS]


def test_one_run_and_odd_names_have_a_report(folder: Path) -> None:
    (folder / "reranked.run").unlink()
    (folder / "bm25.run").rename(folder / 'größe\n".run')
    answer = Client.of(folder).get("/report.html")
    assert answer.status == 200
    assert "report-gr__e__.html" in answer.headers["content-disposition"]


def test_readers_may_keep_the_report(folder: Path) -> None:
    assert Client.of(folder, role="reader").get("/report.html").status == 200
    assert Client.of(folder, role="judge").get("/report.html").status == 403
