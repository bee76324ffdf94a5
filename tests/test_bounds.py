"""Bounds are what they say: brute force over all completions agrees, and witnesses attain them."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings

import idealist as il
from effort import tries
from generated import seeds, some_measure
from idealist.bounding import Bounds
from idealist.bounding.bound_case import EXACT
from idealist.cli.main import cli
from idealist.errors import UsageError
from idealist.measures import MEASURES
from idealist.ranking import ranked as ranking
from idealist.ranking.compiled import compiled

EXAMPLES = Path(__file__).parents[1] / "examples"
CONVENTIONS = ["trec_eval", "sklearn", "burges", "torchmetrics", "elasticsearch", "helm"]
SCALES: list[list[float]] = [[0, 1], [0, 1, 2, 3], [-1, 0, 1, 2], [1, 2], [0, 0.5, 2]]

Judged = dict[str, dict[str, float]]
Lists = dict[str, dict[str, float]]


def some_case(rng: random.Random, most: int = 5) -> tuple[Judged, Lists, list[float]]:
    """Make two queries: few holes, some judged documents that are not retrieved, ties."""
    scale = rng.choice(SCALES)
    qrels: Judged = {}
    run: Lists = {}
    for query in ("q1", "q2"):
        holes = [f"u{i}" for i in range(rng.randint(0, most))]
        judged = [f"d{i}" for i in range(rng.randint(1, 6))]
        grades = rng.choice([scale, scale[:1], scale])
        qrels[query] = {d: rng.choice(grades) for d in judged}
        found = rng.sample(judged, rng.randint(0, len(judged))) + holes
        scores = rng.choice([[1, 2, 3, 4], list(range(-5, 50))])
        run[query] = {d: float(rng.choice(scores)) for d in found}
    run["q3"] = {"d": 1.0}
    return qrels, {q: docs for q, docs in run.items() if docs}, scale


def merged(qrels: Judged, witness: Judged) -> Judged:
    return {q: {**judged, **witness.get(q, {})} for q, judged in qrels.items()}


def evaluated(qrels: Judged, run: Lists, measure: Any, scale: list[float], **axes: Any) -> Any:
    return il.evaluate(il.read_qrels(qrels).on(il.Scale.of(scale)), run, measure, **axes)


def tried(
    judged: dict[str, float], listed: dict[str, float] | None, holes: list[str], measure: Any,
    scale: list[float], **axes: Any,
) -> list[float]:  # fmt: skip
    """Give the value of one query for all grades of the holes, each completion as a query."""
    ways = list(itertools.product(scale, repeat=len(holes)))
    qrels = {str(i): {**judged, **dict(zip(holes, way, strict=True))} for i, way in enumerate(ways)}
    run = {str(i): listed for i in range(len(ways))} if listed else {"none": {"d": 1.0}}
    result = evaluated(qrels, run, measure, scale, **axes)
    label = next(iter(result))
    counted = dict(zip(result.queries, result.counted[label].tolist(), strict=True))
    values = dict(zip(result.queries, result.values[label].tolist(), strict=True))
    return [values[q] if counted.get(q) else math.nan for q in map(str, range(len(ways)))]


def check_exact(
    rng: random.Random, measure: Any, qrels: Judged, run: Lists, scale: list[float], **axes: Any
) -> None:
    found = il.bounds(qrels, run, measure, scale=scale, **axes)
    assert found.kind == "exact"
    for i, query in enumerate(found.queries):
        holes = found.documents.get(query, [])
        values = tried(qrels[query], run.get(query), holes, measure, scale, **axes)
        some = [value for value in values if not math.isnan(value)] or [math.nan]
        assert found.lows[i] == pytest.approx(min(some), abs=1e-12, nan_ok=True), (query, measure)
        assert found.highs[i] == pytest.approx(max(some), abs=1e-12, nan_ok=True), (query, measure)
    for end, witness in ((found.low, found.lowest), (found.high, found.highest)):
        there = evaluated(merged(qrels, witness), run, measure, scale, **axes)
        value = there[next(iter(there))]
        assert value == pytest.approx(end, abs=1e-12, nan_ok=True), (measure, witness)


def exact_measure(rng: random.Random, name: str) -> Any:
    """Give a measure whose parameters have bounds."""
    made = some_measure(rng, name)
    written = made.written() | {"no_relevant": rng.choice(["0", "1", "skip", "nan", "empty"])}
    if name not in ("CG", "DCG", "Judged", "Unjudged") and not name.startswith("Num"):
        made = MEASURES[name](**written, cutoff=made.cutoff)
    return made


@pytest.mark.parametrize("name", EXACT)
def test_brute_force_agrees(name: str) -> None:
    tried = 0
    for seed in range(tries(25, 40)):
        rng = random.Random(f"{name}{seed}")
        qrels, run, scale = some_case(rng, 4 if seed % 3 else 2)
        measure = exact_measure(rng, name)
        ties = rng.choice(["docid-desc", "input", "expected"])
        axes: dict[str, Any] = {"ties": ties, "grades": rng.choice(["truncate", "keep", "nonzero"])}
        try:
            il.bounds(qrels, run, measure, scale=scale, **axes)
            check_exact(rng, measure, qrels, run, scale, **axes)
        except UsageError:  # rules that do not go together, and what is refused
            continue
        tried += 1
    assert tried > 5


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("measure", ["nDCG@3", "nDCG", "AP", "RR@2", "R@3"])
def test_brute_force_agrees_under_conventions(convention: str, measure: str) -> None:
    if not il.CONVENTIONS[convention].has(il.parse(measure)):
        pytest.skip(f"{convention} has no {measure}")
    for seed in range(8):
        rng = random.Random(seed)
        qrels, run, _ = some_case(rng, 6 if seed == 0 else 4)
        scale: list[float] = [0, 1, 2, 3]
        qrels = {q: {d: max(0, int(g)) for d, g in judged.items()} for q, judged in qrels.items()}
        if measure == "AP":  # the precision at the end of a tie has no exact bounds
            run = {q: {d: 9.0 - i for i, d in enumerate(docs)} for q, docs in run.items()}
        check_exact(rng, measure, qrels, run, scale, convention=convention)


def elsewhere(qrels: Judged, found: Bounds, high: bool) -> Judged:
    """Judge made-up documents, as many as an end asks for."""
    more = {
        q: {f"e{i}": grade for i in range(n)} for q, (n, grade) in found.elsewhere(high).items()
    }
    witness = found.highest if high else found.lowest
    return merged(merged(qrels, witness), more)


@settings(max_examples=60, deadline=None)
@given(seed=seeds)
def test_a_collection_widens_bounds_to_what_its_witnesses_attain(seed: int) -> None:
    rng = random.Random(seed)
    qrels, run, scale = some_case(rng)
    measure = exact_measure(rng, rng.choice(EXACT))
    try:
        near = il.bounds(qrels, run, measure, scale=scale)
        documents = max(map(len, qrels.values())) + 10
        far = il.bounds(qrels, run, measure, scale=scale, reach="collection", documents=documents)
    except UsageError:
        return
    if scale[0] <= 0 and str(measure.written().get("rel")) != "0":  # elsewhere may be nothing
        assert far.low <= near.low + 1e-12 or math.isnan(near.low)
        assert far.high >= near.high - 1e-12 or math.isnan(near.high)
    for end, high in ((far.low, False), (far.high, True)):
        there = evaluated(elsewhere(qrels, far, high), run, measure, scale)
        assert there[next(iter(there))] == pytest.approx(end, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["nDCG", "AP", "R", "P", "RBP", "RR", "ERR"])
def test_brute_force_over_a_collection_agrees(name: str) -> None:
    for seed in range(12):
        rng = random.Random(f"{name}{seed}")
        scale: list[float] = [0, 1, 2]
        qrels = {"q": {f"d{i}": rng.choice(scale) for i in range(rng.randint(1, 3))}}
        run = {"q": {d: rng.random() for d in ("d0", "u0", "u1")}}
        rules: dict[str, Any] = {"no_relevant": rng.choice(["0", "1", "empty"])}
        measure = MEASURES[name](**rules) @ 2
        size = len(qrels["q"]) + 2 + 2
        found = il.bounds(qrels, run, measure, scale=2, reach="collection", documents=size)
        seen = found.documents.get("q", [])
        others = [f"e{i}" for i in range(size - len(qrels["q"]) - len(seen))]
        values = tried(qrels["q"], run["q"], seen + others, measure, scale)
        assert found.low == pytest.approx(min(values), abs=1e-12)
        assert found.high == pytest.approx(max(values), abs=1e-12)


def test_any_number_of_relevant_documents_elsewhere() -> None:
    found = il.bounds({"q": {"a": 1}}, {"q": ["a"]}, "AP", reach="collection")
    assert (found.low, found.high, found.kind) == (0.0, 1.0, "limit")
    cut = il.bounds({"q": {"a": 1}}, {"q": ["a", "b"]}, "nDCG@2", reach="collection")
    assert cut.kind == "exact"
    assert cut.elsewhere(high=False) == {"q": (2, 1)}


def tall(rng: random.Random, depth: int, scale: list[float]) -> tuple[Judged, Lists]:
    """Make a list with many holes."""
    run = {"q": {f"d{i}": float(depth - i) for i in range(depth)}}
    judged = rng.sample(list(run["q"]), depth // 20) + [f"x{i}" for i in range(40)]
    return {"q": {d: rng.choice(scale) for d in judged}}, run


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "nDCG", "nDCG(gain=exp2)@100", "RBP", "ERR"])
def test_witnesses_attain_the_bounds_of_long_lists(measure: str) -> None:
    for seed in range(3):
        rng, scale = random.Random(seed), [0.0, 1.0, 2.0, 3.0]
        qrels, run = tall(rng, 1000, scale)
        found = il.bounds(qrels, run, measure, scale=3)
        assert found.low <= found.value <= found.high
        for end, witness in ((found.low, found.lowest), (found.high, found.highest)):
            there = evaluated(merged(qrels, witness), run, measure, scale)[measure]
            assert there == pytest.approx(end, abs=1e-12)
        for _ in range(20):  # no completion that comes to mind is beyond them
            hidden = rng.sample(found.documents["q"], len(found.documents["q"]))
            some = rng.randint(0, len(hidden))
            guess = {d: rng.choice(scale) if i < some else 0.0 for i, d in enumerate(hidden)}
            there = evaluated(merged(qrels, {"q": guess}), run, measure, scale)[measure]
            assert found.low - 1e-12 <= there <= found.high + 1e-12


def top(scores: dict[str, float], cutoff: int | None) -> list[str]:
    return sorted(scores, key=lambda d: (scores[d], d), reverse=True)[:cutoff]


EXACT_DIFFERENCES = ["nDCG@1", "nDCG@3", "nDCG", "DCG@3", "CG", "P@3", "P(denominator=min(k,n))@4", "RBP",
                     "Judged@3", "nDCG(gain=exp2,ideal_cut=none)@3", "RBP(no_relevant=1)@3", "RBP(normalise_depth=2)"]  # fmt: skip


OUTER_DIFFERENCES = ["AP", "RR", "R@2", "ERR", "Success@2", "AP@2", "F@2"]


@pytest.mark.parametrize("measure", [*EXACT_DIFFERENCES, *OUTER_DIFFERENCES])
def test_brute_force_over_both_runs_agrees(measure: str) -> None:
    for seed, reach in itertools.product(range(6), ("list", "retrieved")):
        rng = random.Random(f"{measure}{seed}")
        qrels, a, scale = some_case(rng, 3)
        scale = [0.0, *(g for g in scale if g > 0)]
        qrels = {q: {d: max(0.0, g) for d, g in judged.items()} for q, judged in qrels.items()}
        b = {q: dict(zip(rng.sample(list(docs), len(docs)), docs.values(), strict=True))
             for q, docs in a.items()}  # fmt: skip
        found = il.bounds_of_difference(qrels, b, a, measure, scale=scale, reach=reach)
        assert found.kind == ("exact" if measure in EXACT_DIFFERENCES else "outer")
        for i, query in enumerate(found.queries):
            cutoff = il.parse(measure).cutoff if reach == "list" else None
            near = [d for run in (a, b) for d in top(run.get(query, {}), cutoff)]
            holes = [d for d in dict.fromkeys(near) if d not in qrels[query]]
            holes += ["nowhere"] if found.reach == "collection" else []
            both = (tried(qrels[query], run.get(query), holes, measure, scale) for run in (a, b))
            values = [x - y for x, y in zip(*both, strict=True)]
            if found.kind == "exact":
                assert found.lows[i] == pytest.approx(min(values), abs=1e-12), (seed, query)
                assert found.highs[i] == pytest.approx(max(values), abs=1e-12), (seed, query)
            assert found.lows[i] <= min(values) + 1e-12
            assert found.highs[i] >= max(values) - 1e-12
            given = found.source.ends
            assert min(abs(given.low[i] - v) for v in values) < 1e-12  # some judgments give it
            assert min(abs(given.high[i] - v) for v in values) < 1e-12
        if found.kind == "exact":
            for end, witness in ((found.low, found.lowest), (found.high, found.highest)):
                whole = merged(qrels, witness)
                x, y = (evaluated(whole, run, measure, scale)[measure] for run in (a, b))
                assert x - y == pytest.approx(end, abs=1e-12)


def test_a_difference_says_which_documents_it_is_bounded_over() -> None:
    qrels, base = {"q": {"a": 1}}, {"q": ["x", "a", "u"]}
    run = {"q": ["a", "x", "v"]}
    reaches = {
        "P@2": "collection",
        "nDCG@1": "collection",
        "nDCG@2": "collection",
        "R@2": "retrieved",
    }
    for measure, reach in reaches.items():
        assert il.bounds_of_difference(qrels, base, run, measure).reach == reach
    assert il.bounds_of_difference(qrels, base, run, "nDCG@2", reach="list").reach == "list"
    with pytest.raises(UsageError, match="no reach 'all'"):
        il.bounds_of_difference(qrels, base, run, "nDCG@2", reach="all")


@pytest.mark.parametrize("measure", ["nDCG@3", "AP", "RR", "P@2", "ERR", "RBP", "R@2"])
def test_tie_bounds_are_those_of_all_orders(measure: str) -> None:
    for seed in range(4):
        rng = random.Random(seed)
        qrels = {"q": {f"d{i}": rng.choice([0, 1, 2]) for i in range(4)}}
        run = {"q": {d: float(rng.randint(0, 1)) for d in ("d0", "d1", "d2", "u0", "u1")}}
        values = []
        for order in itertools.permutations(run["q"]):
            listed = sorted(order, key=lambda d: -run["q"][d])
            values.append(il.evaluate(qrels, {"q": listed}, measure)[measure])
        found = il.tie_bounds(qrels, run, measure)
        assert found.low == pytest.approx(min(values), abs=1e-12)
        assert found.high == pytest.approx(max(values), abs=1e-12)
        if measure != "ERR":
            assert found.expected == pytest.approx(sum(values) / len(values), abs=1e-12)


def test_the_documents_to_judge_first_save_what_they_say() -> None:
    qrels = {"q": {"a": 2, "b": 0}, "p": {"a": 1}}
    run = {"q": ["u", "a", "v", "b"], "p": ["a", "w"]}
    found = il.bounds(qrels, run, "nDCG@3", scale=2)
    assert found.first(1)[0].document == "u"
    assert len(found.first()) == 3
    for one in found.first():
        i, widths = found.queries.index(one.query), []
        for grade in (0, 1, 2):
            then = il.bounds(merged(qrels, {one.query: {one.document: grade}}), run, "nDCG@3", scale=2)  # type: ignore[arg-type]  # fmt: skip
            widths.append(float(then.highs[i] - then.lows[i]))
        width = float(found.highs[i] - found.lows[i])
        assert one.saved == pytest.approx(width - sum(widths) / 3, abs=1e-12)
        assert one.least == pytest.approx(width - max(widths), abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "axes", "words"),
    [
        ("bpref", {}, "no bounds are known for bpref"),
        ("AP", {"unjudged": "drop"}, "unjudged=drop removes"),
        ("AP", {"ties": "best"}, "by unknown grades"),
        ("AP", {"reach": "nowhere"}, "no reach 'nowhere'"),
        (
            "nDCG",
            {"reach": "collection", "ideal": "retrieved"},
            "does not depend on documents outside",
        ),
        ("CG", {"reach": "collection", "negative": "keep"}, "negative gains"),
        ("NumRel", {"reach": "collection"}, "has no highest value"),
        ("AP", {"reach": "collection", "documents": 1}, "fewer than"),
    ],
)
def test_what_cannot_be_bounded_is_refused(measure: str, axes: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        il.bounds({"q": {"a": 1, "b": 0}}, {"q": ["a", "u"]}, measure, **axes)


def test_trec_covid_is_bounded_at_once(data: Path) -> None:
    folder = data / "trec-covid-r1"
    qrels = il.read_qrels(folder / "qrels.txt")
    for path in sorted((folder / "runs").iterdir())[:3]:
        run = il.read_run(path)
        for measure in ("nDCG@10", "AP"):
            found = il.bounds(qrels, run, measure, precision="float32")
            assert found.low <= found.value <= found.high
            judged = qrels.to_dict()
            for end, witness in ((found.low, found.lowest), (found.high, found.highest)):
                there = il.evaluate(merged(judged, witness), run, measure, precision="float32")
                assert there[measure] == pytest.approx(end, abs=1e-12)


@pytest.mark.parametrize("measure", [*EXACT, "P(positive_score=true)@2"])
def test_a_run_without_holes_stays_what_it_is(measure: str) -> None:
    qrels = {"q": {"a": 1, "b": 2}, "missing": {"a": 1}}
    for ties in ("docid-desc", "expected"):
        try:
            found = il.bounds(qrels, {"q": {"a": 2.0, "b": 1.0}}, measure, scale=2, ties=ties)
        except UsageError as error:
            assert "ties=expected" in str(error)  # noqa: PT017
            continue
        assert found.low == found.value == found.high
        assert found.first() == []
        assert found.summary.endswith("depends on no unjudged document of its list")


def test_the_command_says_bounds() -> None:
    words = [
        "eval",
        str(EXAMPLES / "qrels.txt"),
        str(EXAMPLES / "bm25.run"),
        "-m",
        "nDCG@10",
        "-m",
        "bpref",
    ]
    shown = CliRunner().invoke(cli, [*words, "--bounds"])
    assert "nDCG@10 0.6742 could be 0.6717 to 0.6771 if the 2 unjudged documents" in shown.stderr
    assert "no bounds are known for bpref" in shown.stderr
    assert "0.6771" not in shown.stdout
    data = json.loads(CliRunner().invoke(cli, [*words, "--bounds", "-f", "json"]).stdout)
    (run,) = data["runs"]
    assert run["bounds"]["bpref"] is None
    assert run["bounds"]["nDCG@10"]["high"] == pytest.approx(0.6771, abs=1e-4)


def test_weights_of_queries_are_respected() -> None:
    qrels = {"q": {"a": 1}, "p": {"a": 1}}
    run = {"q": ["u", "a"], "p": ["a"]}
    found = il.bounds(qrels, run, "RR", weights={"q": 3, "p": 1})
    assert (found.low, found.value, found.high) == (0.625, 0.625, 1.0)
    assert il.bounds(qrels, run, "RR", queries=["p"]).high == 1.0
    gap = il.bounds_of_difference(
        qrels, {"q": ["a"], "p": ["b", "a"]}, run, "P@2", weights={"q": 3, "p": 1}
    )
    assert (gap.run, gap.value, gap.low) == ("run - run", 0.0, -0.125)
    tied = il.tie_bounds(
        {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}, "r": {}}, "RR", weights={"q": 2}
    )
    assert (tied.low, tied.high) == (0.5, 1.0)


def test_a_query_that_may_count_counts_where_it_helps() -> None:
    qrels = {"q": {"a": 1}, "p": {"b": 0}}
    run = {"q": ["x", "a"], "p": ["b", "c", "d", "u"]}
    found = il.bounds(qrels, run, "RR(no_relevant=skip)")
    assert (found.low, found.high) == ((0.5 + 0.25) / 2, 1.0)
    assert found.lowest["p"] == {"c": 0, "d": 0, "u": 1}
    assert found.highest["p"] == {"c": 0, "d": 0, "u": 0}


def test_bounds_are_results_in_every_form() -> None:
    found = il.bounds(EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run", "nDCG@10")
    ties = il.tie_bounds(EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run", "nDCG@10")
    for one in (found, found.to_judge(2), ties):
        assert repr(one) == f"<{type(one).__name__} {one.summary}>"
        assert one.summary in one.markdown()
        assert "<table>" in one._repr_html_()
        assert json.loads(one.to_json()) == json.loads(json.dumps(one.data()))
    assert "| q04 | 0.9313 | 0.9019 | 0.9381 | 1 |" in found.markdown()
    assert "| q04 | 0.9313 | 0.9019 | 0.9381 | 1 |" in found.to_judge(2).markdown(details=True)
    assert "q04     0.9313" not in found.to_judge(2).render("table")
    assert "| q07 | 0.5172 | 0.5172 | 0.5273 | 0.5223 |" in ties.markdown()
    assert found.aggregate_data().items() <= found.data().items()


def test_both_runs_of_a_difference_are_ranked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ranked: list[str] = []
    monkeypatch.setattr(
        ranking,
        "compiled",
        lambda *a: ranked.append(Path(a[1].name).stem) or compiled(*a),  # type: ignore[func-returns-value]
    )
    base, run = (il.read_run(EXAMPLES / f"{name}.run") for name in ("bm25", "reranked"))
    found = il.bounds_of_difference(EXAMPLES / "qrels.txt", base, run, "nDCG@10")
    assert found.kind == "exact"
    assert sorted(ranked) == ["bm25", "reranked"]
