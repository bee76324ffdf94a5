"""Sphinx configuration. The reference is written and figures are drawn before every build."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import chdir
from glob import glob
from itertools import chain, combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from sphinx.application import Sphinx

import idealist
from idealist import errors
from idealist.cli.main import cli
from idealist.conventions import CONVENTIONS, DEFAULT, Convention
from idealist.conventions.describe import Description, describe_all, names_of
from idealist.conventions.signature import Signature
from idealist.fusing.method_list import listed as fusion_methods
from idealist.measures import MEASURES, parse
from idealist.measures.instrument import Aggregate
from idealist.measures.spellings import SPELLINGS
from idealist.notation import Settings, text
from idealist.protocol import Protocol
from idealist.rendering import doubt

project = "idealist"
author = "The idealist authors"
copyright = author
version = release = idealist.__version__

extensions = ["myst_parser"]
exclude_patterns = ["_build", "reference/generated/one-list.md"]  # which is part of another page
html_theme = "furo"
html_title = f"idealist {release}"
html_static_path = ["_static"]
html_css_files = ["style.css"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

#: Measures whose rules the page of conventions compares.
COMPARED = ("nDCG@10", "AP", "RR")

#: The judgments and the run of `explanation/which-ndcg.md`: five documents, four of them tied.
ONE_LIST: tuple[Mapping[str, Any], Mapping[str, Any]] = (
    {"1": {"d01": 2, "d02": 0, "d03": 1, "d04": 0, "d05": 3}},
    {"1": [("d04", 0.9), ("d02", 0.5), ("d01", 0.5), ("d05", 0.5), ("d03", 0.5)]},
)


def write_reference(app: Sphinx) -> None:
    pages = {
        "measures": measures_page(),
        "fusion": fusion_page(),
        "names": names_page(),
        "axes": axes_page(),
        "conventions": conventions_page(),
        "one-list": one_list_part(),
        "errors": codes_page("Error codes", ERRORS_INTRO, errors.CODES),
        "doubts": codes_page("Doubt codes", DOUBTS_INTRO, dict(sorted(_DOUBTS.items()))),
        "command-line": command_line_page(),
    }
    folder = Path(app.srcdir) / "reference" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in pages.items():
        content = "\n".join(lines) + "\n"
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text("utf-8") != content:
            path.write_text(content, "utf-8")


def draw_figures(app: Sphinx) -> None:
    """Run the commands on the page of figures, as a reader would, and keep what they draw."""
    page = Path(app.srcdir) / "how-to" / "figures.md"
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    commands = re.findall(r"^\$ idealist (plot .+)$", page.read_text("utf-8"), re.MULTILINE)
    with TemporaryDirectory() as here, chdir(here):
        shutil.copytree(Path(app.srcdir).parent / "examples", "examples")
        for command in commands:
            words = [sorted(glob(word)) or [word] for word in shlex.split(command)]
            cli.main([*chain.from_iterable(words)], standalone_mode=False)
        for drawn in Path().glob("*.svg"):
            shutil.copy(drawn, folder)


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", write_reference)
    app.connect("builder-inited", draw_figures)


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in (headers, ["---"] * len(headers), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def code(value: str) -> str:
    return f"`{value}`"


def fenced(language: str, body: str) -> list[str]:
    return [f"```{language}", body, "```"]


def measures_page() -> Iterator[str]:
    yield "# Measures"
    yield "\nOne section a measure. `idealist measures NAME` prints the same."
    yield "\nEvery parameter can be written in the measure's text, as in `nDCG(gain=exp2)@10`, as a"
    yield "keyword, as in `nDCG(gain='exp2') @ 10`, and with `--set` for all measures that have it."
    group = ""
    for one in describe_all():
        if one.group != group:
            group = one.group
            yield f"\n## {group}"
        yield from measure_section(one)


def fusion_page() -> Iterator[str]:
    listed = fusion_methods().data()
    yield "# Fusion methods"
    yield "\nOne section a method. `idealist fuse --list --method NAME` prints the same; [fuse"
    yield "runs](../../how-to/fuse-runs.md) says which when."
    family = ""
    for one in listed["methods"]:
        if one["family"] != family:
            family = one["family"]
            yield f"\n## {family}"
        yield f"\n### {one['name']}\n\n{one['summary']}\n"
        if one["formula"]:
            yield from fenced("text", one["formula"])
        yield f"\n- Needs: {one['needs']}"
        if one["aliases"]:
            yield f"- Also called: {', '.join(map(code, one['aliases']))}"
        yield f"- Reference: {one['reference']}"
        if one["notes"]:
            yield f"\n{one['notes']}"
        yield ""
        yield from parameters_table(one["parameters"])
    yield "\n## Normalisations\n"
    yield from table(
        ["norm", "what it does"], ([code(n), doc] for n, doc in listed["norms"].items())
    )


def measure_section(one: Description) -> Iterator[str]:
    yield f"\n### {one.name}\n\n{one.summary}\n"
    yield from fenced("text", one.formula)
    cut = f"`{one.name} @ k` looks at the first k ranks" if one.cutoff else "takes no cutoff"
    yield f"\n- Range: {one.range}, {one.direction}"
    yield f"- Cutoff: {cut}"
    if one.needs:
        yield f"- Needs: judgments with {one.needs}"
    if one.aliases:
        yield f"- Also typed: {', '.join(map(code, one.aliases))}"
    if one.names:
        called = (f"{tool} {', '.join(map(code, names))}" for tool, names in one.names.items())
        yield f"- Called: {'; '.join(called)}"
    if tools := [code(each.name) for each in CONVENTIONS.values() if computes(each, one)]:
        yield f"- Conventions of tools that compute it: {', '.join(tools)}"
    yield f"- Reference: {one.reference}"
    if one.notes:
        yield f"\n{one.notes}"
    if one.parameters:
        yield ""
        yield from parameters_table(one.parameters)
    yield ""
    yield from fenced("python", one.example)


def parameters_table(parameters: Iterable[Mapping[str, str]]) -> Iterator[str]:
    rows = (
        [code(each["name"]), code(each["default"]), each["doc"], each["values"]]
        for each in parameters
    )
    yield from table(["parameter", "default", "what it sets", "values"], rows)


def computes(convention: Convention, one: Description) -> bool:
    return convention.measures is not None and one.name in convention.measures


def names_page() -> Iterator[str]:
    """Tabulate every measure of every tool, and what it is here."""
    yield "# Names in other tools"
    yield "\nEvery measure of every tool, and our name for it. Each name can be typed, with `@k` or"
    yield "as the tool writes it. The tool's own rules come with its [convention](conventions.md);"
    yield "`idealist measures --tool TOOL` prints the same table."
    for tool in SPELLINGS:
        yield f"\n## {tool}\n"
        names = names_of(tool).data()
        here = [[code(theirs), linked_name(ours)] for theirs, ours in names.items()]
        yield from table(["there", "here"], here)


def linked_name(ours: str) -> str:
    name = ours.partition("(")[0]
    return f"[`{ours}`](measures.md#{name.lower()})" if name in MEASURES else ours


def axes_page() -> Iterator[str]:
    yield "# Axes"
    yield "\nAn axis is one rule. Set it with `--set AXIS=VALUE` or as a keyword of `evaluate`. The"
    yield "parameters of a measure are axes too; they are listed with the [measures](measures.md)."
    yield "\n## Protocol: how a run becomes a ranking, and which queries count\n"
    yield from axes_table(Protocol)
    yield "\n## Aggregate: how the values of queries become one\n"
    yield from axes_table(Aggregate)


def axes_table(cls: type[Settings]) -> Iterator[str]:
    rows = [
        [code(name), code(text(about.default)), about.doc, about.kind.words]
        for name, about in cls.parameters().items()
    ]
    return table(["axis", "default", "what it sets", "values"], rows)


def conventions_page() -> Iterator[str]:
    yield "# Conventions"
    yield f"\nThe default is `{DEFAULT}`. A convention sets what you leave open; what you write"
    yield "wins. Evidence: *live* means that the tool runs in our tests, *recorded* that values it"
    yield "printed are checked, *derived* that its source was read."
    for one in CONVENTIONS.values():
        yield from convention_section(one)


def convention_section(one: Convention) -> Iterator[str]:
    has = "all" if one.measures is None else ", ".join(map(code, sorted(one.measures)))
    yield f"\n## {one.name}\n"
    yield f"- Tool: {one.tool} {one.version}"
    yield f"- Evidence: {one.evidence}"
    yield f"- Measures that follow it: {has}"
    if one.measures is not None:
        yield "- Other measures are computed with a doubt, `not-in-tool`"
    rows = [
        [written, code(axis), code(usual), code(here)]
        for written in COMPARED
        for axis, (usual, here) in signed(DEFAULT, written).diff(signed(one.name, written)).items()
    ]
    yield ""
    if rows:
        yield from table(["measure", "axis", DEFAULT, one.name], rows)
    else:
        yield f"{', '.join(COMPARED)}: this is the default."


def signed(name: str, written: str) -> Signature:
    return Signature.of(CONVENTIONS[name].instrument(parse(written)), qrels="")


def one_list_part() -> Iterator[str]:
    """Tabulate the nDCG@10 of one list under every convention that has it, with the rules to it."""
    found: dict[str, list[Convention]] = {}
    for one in CONVENTIONS.values():
        if one.has(parse("nDCG@10")):
            found.setdefault(nDCG_of_one_list(convention=one.name), []).append(one)
    rows = [
        [value, ", ".join(map(linked, ones)), rules_to(value, ones[0]), shares_of(ones[0])]
        for value, ones in sorted(found.items())
    ]
    headers = ["nDCG@10", "conventions", "from trec_eval's rules to this value", "what each does"]
    return table(headers, rows)


def nDCG_of_one_list(measure: str = "nDCG@10", **settings: Any) -> str:  # noqa: N802
    return f"{idealist.evaluate(*ONE_LIST, measure, **settings)[measure]:.4f}"


def linked(one: Convention) -> str:
    return f"[{one.name}](../reference/generated/conventions.md#{one.name})"


def rules_to(value: str, one: Convention) -> str:
    """Find the fewest of a convention's rules that turn the default's value into its own."""
    differences = signed(DEFAULT, "nDCG@10").diff(signed(one.name, "nDCG@10"))
    axes = [(axis, here) for axis, (_, here) in differences.items()]
    for rules in chain.from_iterable(combinations(axes, size) for size in range(len(axes) + 1)):
        own = ",".join(f"{a.removeprefix('nDCG.')}={v}" for a, v in rules if a.startswith("nDCG."))
        others = {axis: here for axis, here in rules if not axis.startswith("nDCG.")}
        if nDCG_of_one_list(f"nDCG({own})@10" if own else "nDCG@10", **others) == value:
            return ", ".join(code(f"{a.removeprefix('nDCG.')}={v}") for a, v in rules) or "none"
    raise ValueError(f"{one.name} and its rules give different values")


def shares_of(one: Convention) -> str:
    """Divide the gap between the default and a convention among its rules, and its rounding."""
    found = idealist.attribute(*ONE_LIST, "nDCG@10", DEFAULT, one.name)
    shares = {each.axis.removeprefix("nDCG."): each.shapley for each in found.shares}
    shares["round"] = found.rounding
    shown = [f"{code(axis)} {share:+.4f}" for axis, share in shares.items() if abs(share) > 5e-5]
    return ", ".join(shown) or "nothing"


ERRORS_INTRO = """\
Input that cannot be read raises `InputError`. Its text ends with the code in square brackets; its
`code`, `file` and `line` are those of the first fault, and `faults` holds the first ten. A name or
an option that does not exist raises `UsageError`. Both are an `IdealistError`. The command line
prints the same text and leaves with exit code 2."""

DOUBTS_INTRO = """\
What evaluations, comparisons and `idealist agree` doubt and what `idealist audit` finds, beside the
faults of files, which keep [their codes](errors.md). A doubt never stops an evaluation and never
changes its exit code. [Doubts](../../explanation/doubts.md) explains how to read them, and
[Audit your data](../../how-to/audit-your-data.md) how to act on them."""

_DOUBTS = doubt.CODES


def codes_page(title: str, intro: str, codes: dict[str, str]) -> Iterator[str]:
    yield f"# {title}\n\n{intro}\n"
    rows = [[code(key), words] for key, words in codes.items()]
    yield from table(["code", "what it means"], rows)


def command_line_page() -> Iterator[str]:
    yield "# Command line"
    yield "\nData goes to standard output, words to standard error. Exit code 0 is fine, 2 is bad"
    yield "input or usage. Doubts do not change it. `NO_COLOR` switches colours off."
    settings: dict[str, Any] = {"help_option_names": ["-h", "--help"], "terminal_width": 80}
    yield from command_section(cli, click.Context(cli, info_name="idealist", **settings))


def command_section(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"\n## {context.command_path}\n"
    yield from fenced("text", command.get_help(context))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from command_section(below, click.Context(below, context, name))
