"""No verb writes over a file that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from idealist.cli.main import cli, main
from idealist.cli.options import FILES, Target

SAID = "is an input, and would be overwritten"


def verbs(
    group: click.Group, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """List all verbs, with the words that call them."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from verbs(found, (*words, name))
        else:
            yield (*words, name), found


WRITING = {
    " ".join(words): found
    for words, found in verbs(cli)
    if any(isinstance(one.type, Target) for one in found.params)
}


def needed(verb: click.Command, file: str) -> list[str]:
    """Fill in what a verb cannot do without: every argument is a file."""
    words: list[str] = []
    for one in verb.params:
        if isinstance(one, click.Argument) and one.name != "measure":
            choices = getattr(one.type, "choices", None)
            words += [choices[0] if choices else file] * max(one.nargs, 1)
        elif one.required and not isinstance(one.type, Target):
            words += [one.opts[0], "1"]
    return words


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("in.csv", "other.csv"):
        (tmp_path / name).write_text(name)
    (tmp_path / "link.csv").symlink_to("in.csv")
    return tmp_path


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = capsys.readouterr().err
    assert SAID in said, (words, said)
    assert ended.value.code == 2
    assert Path("in.csv").read_text() == "in.csv"


def test_all_verbs_that_write_are_here() -> None:
    assert {"eval", "compare", "report", "bundle", "fuse", "plot", "interleave draw"} <= {*WRITING}
    assert len(WRITING) > 30
    outputs = {"--output", "--save", "--to-judge", "--write", "--junit", "--summary"}
    for words, verb in WRITING.items():
        for one in verb.params:
            if outputs & {*one.opts} and (words, one.name) != ("gate", "save"):
                assert isinstance(one.type, Target), (words, one.name)


@pytest.mark.parametrize("verb", WRITING)
@pytest.mark.usefixtures("folder")
def test_no_verb_writes_over_its_arguments(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = WRITING[verb]
    if not any(isinstance(one, click.Argument) for one in found.params):
        pytest.skip("reads no file")
    for one in (one for one in found.params if isinstance(one.type, Target)):
        for target in ("in.csv", "./in.csv", "link.csv"):
            needs = ["-o", "new.csv"] if one.name != "output" and verb == "bundle" else []
            refused([*verb.split(), *needed(found, "in.csv"), *needs, one.opts[0], target], capsys)


@pytest.mark.parametrize("verb", WRITING)
@pytest.mark.usefixtures("folder")
def test_no_verb_writes_over_files_of_options(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = WRITING[verb]
    for one in found.params:
        names = any(word in str(getattr(one, "metavar", "")) for word in FILES)
        if isinstance(one, click.Option) and names and not isinstance(one.type, Target):
            if one.nargs != 1 or (verb, one.name) == ("gate", "save"):
                continue
            given = "collapse=in.csv" if one.name == "settings" else "in.csv"
            words = [*verb.split(), *needed(found, "other.csv"), one.opts[0], given]
            refused([*words, "-o", "in.csv"], capsys)
