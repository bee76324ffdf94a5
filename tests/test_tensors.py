"""Measures of arrays are those of the judgments and runs that the arrays stand for."""

from __future__ import annotations

import copy
import math
import pickle
import random
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest

import idealist as il
from effort import tries
from generated import PLAIN, some_measure
from idealist.conventions import CONVENTIONS
from idealist.errors import IdealistError, InputError, UsageError
from idealist.tensors import DoubtWarning, Meter, array_libraries, values
from tensor_cases import AXES, Case, some_batch

DOUBTS_ALLOWED = pytest.mark.filterwarnings("ignore::idealist.tensors.DoubtWarning")


def outcome(compute: Callable[..., Any], *given: Any, **rules: Any) -> Any:
    """Give what is computed, or that nothing can be."""
    try:
        return compute(*given, **rules)
    except UsageError:
        return "refused"


@DOUBTS_ALLOWED
@pytest.mark.parametrize("name", PLAIN)
def test_every_measure_is_that_of_evaluate(name: str) -> None:
    """Bit for bit, with ties, padding, empty rows, and every axis that needs no ids."""
    tried = 0
    for seed in range(tries(25, 2000)):
        rng = random.Random(f"{name} {seed}")
        measure = some_measure(rng, name)
        axes = {key: rng.choice(some) for key, some in AXES.items() if rng.random() < 0.4}
        case = some_batch(rng, nan=axes.get("nonfinite") == "last")
        if not case.qrels:
            continue
        rules = {"ties": "input", "grades": "keep"} | axes
        if measure.averages_ties and rng.random() < 0.3 and rules.get("depth", "none") == "none":
            rules["ties"] = "expected"
        wanted = outcome(case.evaluated, measure, **rules)
        found = outcome(values, measure, case.scores, case.labels, **case.more, **rules)
        np.testing.assert_array_equal(found, wanted, err_msg=f"{measure} {rules} {case}")
        tried += not isinstance(wanted, str)
    assert tried > 8


#: Tools that see a list and its labels, and no more.
LIST_WISE = [
    "sklearn",
    "torchmetrics",
    "lightgbm",
    "xgboost",
    "catboost",
    "rax",
    "tf-ranking",
    "phoenix",
]


@DOUBTS_ALLOWED
@pytest.mark.parametrize("tool", LIST_WISE)
def test_every_convention_of_list_wise_tools(tool: str) -> None:
    """Ties that a tool shuffles, or says nothing of, keep the order of the input in both."""
    tried = 0
    for name in sorted(CONVENTIONS[tool].measures or ()):
        for seed in range(tries(20, 40)):
            rng = random.Random(f"{tool} {name} {seed}")
            case = some_batch(rng)
            measure = il.parse(name)
            if measure.takes_cutoff and rng.random() < 0.6:
                measure = measure @ rng.choice([1, 3, 10])
            if not case.qrels:
                continue
            by_id = (
                CONVENTIONS[tool].instrument(measure).protocol.ties.startswith(("docid", "random"))
            )
            rules: dict[str, Any] = {"convention": tool, "ties": "input" if by_id else None}
            try:
                wanted = case.evaluated(measure, **rules)
            except IdealistError:
                with pytest.raises(IdealistError):
                    values(measure, case.scores, case.labels, **case.more, **rules)
                continue
            found = values(measure, case.scores, case.labels, **case.more, convention=tool)
            np.testing.assert_array_equal(found, wanted, err_msg=f"{measure} {case}")
            tried += 1
    assert tried > 30


@DOUBTS_ALLOWED
@pytest.mark.parametrize("name", PLAIN)
def test_any_library_that_follows_the_standard(name: str) -> None:
    for seed in range(20):
        rng = random.Random(f"{name} {seed}")
        measure, case = some_measure(rng, name), some_batch(rng)
        ties = rng.choice(["input", "worst", *(["expected"] if measure.averages_ties else [])])
        with suppress(UsageError):  # parameters and grades that do not go together
            wanted = values(measure, case.scores, case.labels, **case.more, ties=ties)
            arrays = array_api_strict.asarray(case.scores), array_api_strict.asarray(case.labels)
            found = values(measure, *arrays, **case.more, ties=ties)
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-12)


def some_arrays(rows: int = 30, width: int = 12, seed: int = 0) -> tuple[Any, Any]:
    """Make scores with ties, and labels."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 30, (rows, width)) / 4.0, rng.integers(0, 4, (rows, width))


MEASURES = ["nDCG@10", "AP", "RR", "ERR(max_grade=4)@5", "R@3"]


@DOUBTS_ALLOWED
def test_every_layout_gives_the_same_values() -> None:
    scores, labels = some_arrays()
    rng = np.random.default_rng(1)
    sizes = rng.integers(0, 13, 30)
    mask = np.arange(12) < sizes[:, None]
    wanted = values(MEASURES, scores, labels, mask=mask)
    flat = scores[mask], labels[mask]
    ids = np.repeat(np.arange(30), sizes)
    lists = [row[:size] for row, size in zip(scores, sizes, strict=True)]
    grades = [row[:size] for row, size in zip(labels, sizes, strict=True)]
    given: dict[str, Any] = {
        "mask of whole numbers": values(MEASURES, scores, labels, mask=mask.astype(int)),
        "masked array": values(MEASURES, scores, np.ma.masked_array(labels, ~mask)),
        "ignore": values(MEASURES, scores, np.where(mask, labels, -100), ignore=-100),
        "-inf": values(MEASURES, np.where(mask, scores, -np.inf), labels),
        "group": values(MEASURES, *flat, group=sizes),
        "ragged": values(MEASURES, lists, grades),
        "lists": values(
            MEASURES, [row.tolist() for row in lists], [row.tolist() for row in grades]
        ),
        "ragged with a mask": values(MEASURES, list(scores), list(labels), mask=list(mask)),
    }
    for how, found in given.items():
        for label in MEASURES:
            np.testing.assert_array_equal(found[label], wanted[label], err_msg=how)
    by_id = values(MEASURES, *flat, qid=ids)
    for label in MEASURES:
        np.testing.assert_array_equal(by_id[label], wanted[label][sizes > 0])


def test_documents_of_a_query_may_lie_apart() -> None:
    """Queries come in the order of their first documents, ties in the order of the input."""
    scores, labels, ids = [1.0, 5.0, 1.0, 4.0], [0, 1, 1, 1], ["b", "a", "b", "a"]
    assert values("RR", scores, labels, qid=ids).tolist() == [0.5, 1.0]
    assert values("RR", scores, labels, qid=ids, ties="input-reversed").tolist() == [1.0, 1.0]


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, labels = some_arrays(rows=100)
    sizes = np.random.default_rng(3).integers(1, 40, 30)
    sizes[-1] += 1200 - sizes.sum()
    flat = scores.ravel(), labels.ravel()
    others = [[1.0] * (i % 3) for i in range(100)]
    whole = values(MEASURES, scores, labels, judged=others), values(MEASURES, *flat, group=sizes)
    monkeypatch.setattr(array_libraries, "CPU_CELLS", 50)
    parts = values(MEASURES, scores, labels, judged=others), values(MEASURES, *flat, group=sizes)
    for some, others_ in zip(whole, parts, strict=True):
        for label in MEASURES:
            np.testing.assert_array_equal(some[label], others_[label])


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "int64", "uint8", "bool"]
)
def test_every_type_of_number(dtype: str) -> None:
    scores, labels = some_arrays()
    given = (scores * 4).astype(dtype), labels.astype(dtype)
    wanted = values(MEASURES, *(one.astype(np.float64) for one in given))
    for label, found in values(MEASURES, *given).items():
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, wanted[label])


def test_scores_are_compared_in_the_precision_asked_for() -> None:
    scores, labels = np.array([[1.0, 1.0 + 1e-9]]), [[0, 1]]
    assert values("RR", scores, labels).tolist() == [1.0]
    assert values("RR", scores, labels, precision="float32").tolist() == [0.5]


def test_views_and_one_number_and_nothing() -> None:
    scores, labels = some_arrays()
    np.testing.assert_array_equal(
        values("AP", scores[::2, ::-1], labels[::2, ::-1]),
        values("AP", scores[::2, ::-1].copy(), labels[::2, ::-1].copy()),
    )
    assert values("AP", [0.5, 0.2], [0, 1]).tolist() == [0.5]  # one dimension is one list
    assert values("AP", np.zeros((0, 5)), np.zeros((0, 5))).shape == (0,)
    assert np.isnan(values("AP", np.zeros((2, 0)), np.zeros((2, 0)))).all()
    assert values("AP", [], [], group=[]).shape == (0,)


def test_judged_documents_outside_the_list_count() -> None:
    scores, labels = [[0.9, 0.1], [0.2, 0.8]], [[1, 0], [1, 0]]
    wanted = [il.AP()([1, 0], judged=[1]), il.AP()([0, 1])]
    assert values("AP", scores, labels, judged=[[1], []]).tolist() == wanted
    padded = np.array([[1, np.nan], [np.nan, np.nan]])
    assert values("AP", scores, labels, judged=padded).tolist() == wanted
    ints = np.array([[1, -100], [-100, -100]])
    assert values("AP", scores, labels, judged=ints, ignore=-100).tolist() == wanted
    assert values("AP", [[-np.inf]], [[0]], judged=[[1]]).tolist() == [0.0]  # found nothing


TABLE: Any = np.zeros((2, 3))
REFUSED: dict[str, tuple[type[Exception], Callable[[], object]]] = {
    "scores have the shape": (InputError, lambda: values("AP", [1, 2], [1])),
    "labels are not an array": (InputError, lambda: values("AP", [1, 2], [1, [2]])),
    "labels are <U1": (InputError, lambda: values("AP", np.zeros(2), np.array(["a", "b"]))),
    "scores are complex128": (InputError, lambda: values("AP", np.zeros(2, complex), [0, 1])),
    "the groups hold 3": (InputError, lambda: values("AP", [1, 2], [1, 0], group=[3])),
    "group holds -1": (InputError, lambda: values("AP", [1, 2], [1, 0], group=[3, -1])),
    "group is for one": (InputError, lambda: values("AP", [[1, 2]], [[1, 0]], group=[2])),
    "mask is float64": (InputError, lambda: values("AP", [[1, 2]], [[1, 0]], mask=[[0.5, 1]])),
    "mask is bool of shape": (InputError, lambda: values("AP", [[1, 2]], [[1, 0]], mask=[[True]])),
    "qid has 1 ids for 2": (InputError, lambda: values("AP", [1, 2], [1, 0], qid=[1])),
    "no id": (InputError, lambda: values("AP", [1, 2], [1, 0], qid=[0.5, 1])),
    "judged has the shape": (InputError, lambda: values("AP", [[1, 2]], [[1, 0]], judged=[[1], [2]])),
    "judged is not": (InputError, lambda: values("AP", [[1, 2]], [[1, 0]], judged=[1])),
    "in list 1, arrays have 2 and 1": (InputError, lambda: values("AP", [[1], [2, 3]], [[1], [2]])),
    "there are 2 and 3 lists": (InputError, lambda: values("AP", [[1], [2, 3]], [[1], [2, 2], [3]])),
    "lists of lists need no group": (InputError, lambda: values("AP", [[1], [2, 3]], [[1], [2, 2]], group=[1])),
    "row 0: document 1, nan: a score": (InputError, lambda: values("AP", [[1, np.nan]], [[1, 0]])),
    "row 1: document 0, inf: a score": (InputError, lambda: values("AP", [[1], [np.inf]], [[1], [0]])),
    "row 0: document 1, 1e\\+300: a score": (
        InputError, lambda: values("AP", [[1, 1e300]], [[1, 0]], precision="float32")),
    "row 0: document 0, nan: a label": (InputError, lambda: values("AP", [[1, 2]], [[np.nan, 0]])),
    "a label is 1e\\+10, which is too large": (InputError, lambda: values("AP", [[1, 2]], [[1e10, 0]])),
    "query b: document 0, -1: a label is negative": (
        InputError, lambda: values("nDCG", [1, 2], [0, -1], qid=["a", "b"], convention="sklearn")),
    "row 0: two documents": (InputError, lambda: values("AP", [[1, 1]], [[1, 0]], ties="error")),
    "row 1' has no relevant": (
        InputError, lambda: values("AP", [[1], [1]], [[1], [0]], no_relevant="error")),
    "ties=docid-desc is about ids": (UsageError, lambda: values("AP", [[1]], [[1]], ties="docid-desc")),
    "ties=random\\(1\\) is about ids": (UsageError, lambda: values("AP", [[1]], [[1]], ties="random(1)")),
    "collapse=# is about ids": (UsageError, lambda: values("AP", [[1]], [[1]], collapse="#")),
    "missing=skip is about ids": (UsageError, lambda: values("AP", [[1]], [[1]], missing="skip")),
    "order=rank needs ranks": (UsageError, lambda: values("AP", [[1]], [[1]], order="rank")),
    "needs lengths": (UsageError, lambda: values("AP", [[1]], [[1]], depth="tokens(5)")),
    "grades=nonzero takes": (UsageError, lambda: values("AP", [[1]], [[1]], grades="nonzero")),
    "UDCG needs judgments with a column": (UsageError, lambda: values("UDCG", [[1]], [[1]])),
    "alpha_nDCG@5 needs judgments with subtopics": (
        UsageError, lambda: values("alpha_nDCG@5", [[1]], [[1]])),
    "no closed form": (UsageError, lambda: values("F@3", [[1]], [[1]], ties="expected")),
    "there is no axis": (UsageError, lambda: values("AP", [[1]], [[1]], tie="input")),
    "ignore cannot be": (UsageError, lambda: values("AP", [[1]], [[1]], ignore=math.nan)),
    "mask are not an array": (InputError, lambda: values("AP", [[1, 2]], [[1, 0]], mask=[[1], [1, 0]])),
    "that is too large": (
        InputError, lambda: values("AP", [1] * 10**5, [1] * 10**5, group=[1] * 10**5,
                                   judged=[[1] * 10**4, *[[]] * (10**5 - 1)])),
    "judged holds something": (InputError, lambda: values("AP", [[1]], [[1]], judged=[["a"]])),
    "qid has more than one": (InputError, lambda: values("AP", [[1]], [[1]], qid=[[1]])),
    "a label is not a finite": (InputError, lambda: values("AP", [[1]], [[1]], judged=[[math.inf]])),
    "there is no axis 'top_k'": (UsageError, lambda: values("AP", [[1]], [[1]], top_k=10)),
    "nothing says which documents": (InputError, lambda: Meter("RR").update(np.ones(2), np.ones(2))),
    "shape \\(1, 2, 1\\)": (InputError, lambda: values("AP", np.ones((1, 2, 1)), np.ones((1, 2, 1)))),
    "there is nothing to measure": (UsageError, lambda: values([], [[1]], [[1]])),
    "depends on the highest grade": (UsageError, lambda: Meter("ERR@5")),
    "nothing was measured yet": (UsageError, lambda: Meter("AP").compute()),
    "one list of grades": (UsageError, lambda: (il.nDCG @ 10)(TABLE, scores=np.zeros((2, 3)))),
    "of grades, in the order": (UsageError, lambda: (il.nDCG @ 10)(TABLE)),
}  # fmt: skip


@pytest.mark.parametrize("says", REFUSED)
def test_what_arrays_cannot_say_is_refused(says: str) -> None:
    error, call = REFUSED[says]
    with pytest.raises(error, match=says) as caught:
        call()
    assert caught.value.hint  # type: ignore[attr-defined]


def test_a_users_own_measure_is_refused() -> None:
    @il.measure("Mine")
    def mine(placements: il.Placements) -> Any:
        return np.zeros(len(placements.qrels.queries))

    with pytest.raises(UsageError, match="Mine is a function of placements"):
        values(mine, [[1]], [[1]])


def test_a_measure_takes_a_list_that_is_an_array() -> None:
    array: Any = np.array([1, 3, 0, 2, 2])
    assert (il.nDCG @ 5)(array) == (il.nDCG @ 5)([1, 3, 0, 2, 2])


def test_negative_labels_are_doubted_unless_padding_was_told() -> None:
    scores, labels = np.array([[0.1, 0.2, 0.3]]), np.array([[1, 0, -100]])
    with pytest.warns(DoubtWarning, match="1 label is negative .* ignore=-100"):
        assert values("nDCG", scores, labels).tolist() == [0.5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = [
            values("nDCG", scores, labels, ignore=-100),
            values("nDCG", scores, labels, mask=labels >= 0),
            values("nDCG", np.where(labels < 0, -np.inf, scores), labels),
        ]
        assert all(one.tolist() == [il.nDCG()([0, 1])] for one in told)
        values("nDCG(negative=keep)", scores, labels)
        values("nDCG", scores, labels, negative="drop")


def test_read_arrays_doubts_them_too() -> None:
    qrels, run = il.read_arrays([[1, 0, -100]], [[0.1, 0.2, 0.3]])
    (doubt,) = il.evaluate(qrels, run, "nDCG").doubts
    assert doubt.code == "negative-labels"
    assert doubt.severity == "warning"
    assert "ignore=-100" in doubt.message
    told = il.read_arrays([[1, 0, -100]], [[0.1, 0.2, 0.3]], ignore=-100)
    assert not il.evaluate(*told, "nDCG").doubts
    assert told[1].rows().documents == ["1", "2"]


def test_read_arrays_builds_what_rows_would() -> None:
    """The same judgments and rows as built one by one, whatever the order of the queries."""
    for seed in range(50):
        rng = random.Random(seed)
        count = rng.randint(1, 40)
        ids = [rng.choice(["q10", "q9", "b", "é"]) for _ in range(count)]
        labels = [rng.choice([0, 1, 2.5]) for _ in range(count)]
        scores = [rng.random() for _ in range(count)]
        places: dict[str, int] = {}
        for one in ids:
            places[one] = places.get(one, 0) + 1
        width, seen, names = len(str(max(places.values()))), dict.fromkeys(ids, 0), []
        for one in ids:
            seen[one] += 1
            names.append(f"{seen[one]:0{width}d}")
        qrels, run = il.read_arrays(labels, scores, qid=ids)
        assert qrels.hash == il.Qrels.build(ids, names, labels).hash
        assert qrels.queries == tuple(sorted(set(ids)))
        wanted = {q: {} for q in dict.fromkeys(ids)}  # type: dict[str, dict[str, float]]
        for query, document, score in zip(ids, names, scores, strict=True):
            wanted[query][document] = score
        rows = run.rows()
        found = {q: dict(zip(rows.documents[s], rows.scores[s].tolist(), strict=True))  # type: ignore[index]
                 for q, s in rows.spans().items()}  # fmt: skip
        assert found == wanted


# What a meter collects.


def test_a_meter_is_an_evaluation(tmp_path: Path) -> None:
    """Aggregates, values and intervals are those of evaluate, however batches are cut."""
    scores, labels = some_arrays(rows=60)
    qrels, run = il.read_arrays(labels, scores)
    wanted = il.evaluate(qrels, run, MEASURES, ties="input", grades="keep")
    meter = Meter(MEASURES)
    for first in range(0, 60, 7):
        meter.update(scores[first : first + 7], labels[first : first + 7])
    assert meter.compute() == dict(wanted.aggregates)
    found = meter.evaluation()
    for label in MEASURES:
        assert found.by_query(label) == wanted.by_query(label)
        assert found.interval(label) == wanted.interval(label)
        mine, theirs = found.signatures[label], wanted.signatures[label]
        assert mine.diff(theirs).keys() == {"qrels"}
    found.save(tmp_path / "epoch.json")
    assert il.Evaluation.load(tmp_path / "epoch.json").aggregates == found.aggregates


def test_batches_processes_and_orders_change_nothing() -> None:
    scores, labels = some_arrays(rows=200)
    whole = Meter(MEASURES)
    whole.update(scores, labels)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        parts = [Meter(MEASURES), Meter(MEASURES), Meter(MEASURES)]
        for i, some in enumerate(np.array_split(rng.permutation(200), rng.integers(3, 40))):
            parts[i % 3].update(scores[some], labels[some])
        merged = Meter(MEASURES)
        merged.merge(parts[2], parts[0].state_dict(), pickle.loads(pickle.dumps(parts[1])))
        assert merged.compute() == whole.compute()


def test_queries_may_go_on_in_later_batches() -> None:
    scores, labels = some_arrays()
    ids = np.repeat(np.arange(30), 12)
    mixed = np.random.default_rng(2).permutation(360)
    wanted = values(MEASURES, scores.ravel()[mixed], labels.ravel()[mixed], qid=ids[mixed])
    meter = Meter(MEASURES)
    buffer = np.zeros((2, 50))
    for first in range(0, 360, 50):
        some = mixed[first : first + 50]
        buffer[0, : len(some)], buffer[1, : len(some)] = scores.ravel()[some], labels.ravel()[some]
        meter.update(buffer[0, : len(some)], buffer[1, : len(some)], qid=ids[some])  # overwritten
    found = copy.deepcopy(meter).evaluation()
    assert found.queries == tuple(str(one) for one in dict.fromkeys(ids[mixed].tolist()))
    for label in MEASURES:
        np.testing.assert_array_equal(found.values[label], wanted[label])


def test_repeated_queries_count_once() -> None:
    """Samplers repeat queries so that all processes get equally many."""
    meter = Meter("RR")
    meter.update([[0.9, 0.1], [0.1, 0.9]], [[1, 0], [1, 0]], qid=["a", "b"])
    meter.update([[0.9, 0.1]], [[1, 0]], qid=["a"])
    meter.update([[0.1, 0.9], [0.1, 0.9]], [[1, 0], [1, 0]], qid=["b", "b"])
    found = meter.evaluation()
    assert found["RR"] == 0.75
    assert [doubt.code for doubt in found.doubts] == ["repeated-queries"]
    meter.update([[0.1, 0.9]], [[1, 0]], qid=["a"])
    with pytest.raises(InputError, match="query 'a' was measured twice, with different results"):
        meter.compute()


def test_named_and_unnamed_batches_do_not_mix() -> None:
    meter = Meter("RR")
    meter.update([[0.9, 0.1]], [[1, 0]], qid=["a"])
    meter.update([[0.9, 0.1]], [[1, 0]])
    with pytest.raises(UsageError, match="only some of the batches"):
        meter.compute()


def test_meters_that_measure_otherwise_do_not_merge() -> None:
    one, other = Meter("RR"), Meter("RR", ties="expected")
    with pytest.raises(UsageError, match="do not measure the same"):
        one.merge(other)


def test_padding_is_no_query_and_doubts_are_told() -> None:
    meter = Meter(["nDCG@2", "AP"], convention="sklearn", negative="allow", ties="input")
    meter.update([[0.5, 0.5, 0.1], [0.3, 0.2, 0.1]], [[1, 0, 0], [0, 0, 0]])
    meter.update([[1.0, 2.0]], [[0, 1]], mask=[[False, False]])
    found = meter.evaluation()
    assert found.queries == ("1", "2")
    codes = [doubt.code for doubt in found.doubts]
    assert codes == ["no-relevant", "ties", "unnamed-queries"]
    assert found.doubts[1].count == 1
    quiet = Meter("nDCG@2", ties="expected")
    quiet.update([[0.5, 0.5, 0.1]], [[1, 0, 0]])
    assert not quiet.evaluation().doubts


def test_negative_labels_are_a_doubt_of_the_meter() -> None:
    scores, labels = [[0.1, 0.2, 0.3]], [[1, 0, -100]]
    meter = Meter("nDCG")
    meter.update(scores, labels)
    assert [doubt.code for doubt in meter.evaluation().doubts] == ["negative-labels"]
    with pytest.warns(DoubtWarning, match="1 label is negative .* ignore=-100"):
        meter.compute()
    told = Meter("nDCG", ignore=-100)
    told.update(scores, labels)
    told.update(scores, labels, mask=np.array(labels) >= 0)
    assert [doubt.code for doubt in told.evaluation().doubts] == ["unnamed-queries"]
    told.compute()


def test_evaluations_of_two_epochs_are_compared_by_query() -> None:
    scores, labels = some_arrays(rows=50)
    before, after = Meter("nDCG@10", name="before"), Meter("nDCG@10", name="after")
    before.update(scores, labels)
    after.update(scores + labels, labels)
    (pair,) = il.compare_evaluations([before.evaluation(), after.evaluation()]).pairs
    assert pair.verdict.startswith("after is better than before")
    assert il.gate_evaluations(before.evaluation(), after.evaluation()).verdict == "PASS"
    assert il.gate_evaluations(after.evaluation(), before.evaluation(), "ndcg@10").verdict == "FAIL"
    shuffled = Meter("nDCG@10", name="shuffled")
    shuffled.update(scores[::-1], labels[::-1])
    for judged in (lambda *both: il.compare_evaluations(both), il.gate_evaluations):
        with pytest.raises(UsageError, match="qrels"):
            judged(before.evaluation(), shuffled.evaluation())


def test_a_meter_forgets_and_loads() -> None:
    meter = Meter(MEASURES)
    meter.update(*some_arrays())
    state, wanted = meter.state_dict(), meter.compute()
    meter.reset()
    with pytest.raises(UsageError, match="nothing was measured"):
        meter.compute()
    meter.load_state_dict(state)
    meter.load_state_dict(state)  # not twice
    assert meter.compute() == wanted


def test_what_a_mask_calls_a_document_is_one() -> None:
    with pytest.raises(InputError, match="document 1, -inf: a score"):
        values("nDCG", [[0.9, -np.inf]], [[1, 3]], mask=[[True, True]])
    found = values("RR", [[-np.inf, 0.1]], [[1, 0]], mask=[[True, True]], order="given")
    assert found.tolist() == [1.0]


def test_masks_of_scores_and_labels_count() -> None:
    scores = np.ma.masked_array([[0.9, 0.2, 0.5]], mask=[[True, False, False]])
    labels = np.ma.masked_array([[1, 0, 1]], mask=[[False, True, False]])
    assert values("P@1", scores, np.array([[1, 0, 0]])).tolist() == [0.0]
    assert values("NumRet", scores, labels).tolist() == [1.0]
    assert len(il.read_arrays(labels, scores)[1].rows()) == 1


def test_nothing_is_measured_as_nothing() -> None:
    for measure in PLAIN:
        if measure not in ("ERR", "nERR"):  # which need to be told the highest grade
            meter = Meter(measure)
            meter.update(np.zeros((0, 3)), np.zeros((0, 3)))
            assert values(measure, np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)
            meter.update([[0.5, 0.1]], [[1, 0]])
            assert len(meter.evaluation().queries) == 1
    assert np.isnan(values("AP", [], [], group=[0, 0])).tolist() == [True, True]
    assert values("AP", [], [], qid=[]).shape == (0,)
    assert np.isnan(values("AP", [], [])).tolist() == [True]


def test_names_of_measures_and_of_facts_are_apart() -> None:
    meter = Meter(["judged", "nDCG@10"])
    meter.update([[0.5, 0.1]], [[1, 0]])
    assert meter.compute() == {"judged": 1.0, "nDCG@10": 1.0}


def test_evaluations_of_other_grades_differ() -> None:
    """Also where number, sum, squares and cubes are the same."""
    signatures = []
    for labels in ([0, 2, 2, 2, 2, 2, 2, 4], [1, 1, 1, 1, 3, 3, 3, 3]):
        meter = Meter("nDCG")
        meter.update([[0.1 * i for i in range(8)]] * 3, [labels] * 3, qid=[1, 2, 3])
        signatures.append(meter.evaluation().signatures["nDCG"])
    assert signatures[0].diff(signatures[1]).keys() == {"qrels"}
    one_first, one_last = Meter("RR"), Meter("RR")
    one_first.update([[0.1, 0.2]] * 2, [[1, 0], [0, 1]])
    one_last.update([[0.1, 0.2]] * 2, [[0, 1], [1, 0]])  # the same lists in another order
    found = [one.evaluation().signatures["RR"].qrels for one in (one_first, one_last)]
    assert found[0] != found[1]


def test_ids_are_text() -> None:
    assert values("NumRet", [0.1, 0.2, 0.3], [0, 1, 2], qid=[1, "1", 1]).tolist() == [3.0]


def test_a_failed_merge_changes_nothing() -> None:
    meter, other = Meter("RR"), Meter("AP")
    meter.update([[0.9, 0.1]], [[0, 1]])
    for bad in (other, {}, {"idealist": 1, "rules": meter.rules.text}, 3, meter):
        with pytest.raises(UsageError):
            meter.merge(meter.fresh(), bad)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        meter.load_state_dict({})
    assert meter.compute() == {"RR": 0.5}


def test_bytes_and_strides_of_any_kind() -> None:
    scores, labels = some_arrays()
    wanted = values("AP", scores, labels)
    np.testing.assert_array_equal(values("AP", scores.astype(">f8"), labels.astype(">i4")), wanted)


def test_doubts_of_scores_and_of_what_ignore_left() -> None:
    with pytest.warns(DoubtWarning, match="1 label is negative"):
        values("P@2", [[0.1, 0.2]], [[1, -100]], ignore=-1)
    with pytest.warns(DoubtWarning, match="are scores and labels swapped"):
        values("P@2", [[1, 0]], [[0.3, -2.3]])
    with pytest.warns(DoubtWarning, match="1 document with a label above 0 has the score -inf"):
        values("P@2", [[1, -np.inf]], [[0, 3]])
    meter = Meter(["RR", "nDCG"], convention="torchmetrics")
    meter.update([[0.5, -0.2], [-np.inf, 0.1]], [[0, 1], [2, 1]], qid=["a", "b"])
    codes = [doubt.code for doubt in meter.evaluation().doubts]
    assert codes == ["hidden-documents", "low-scores"]
    plain = Meter("RR", convention="torchmetrics")
    plain.update([[0.5, 0.2, 0.1]], [[0, 1, 0]], qid=["a"])
    assert not plain.evaluation().doubts


def test_meters_serve_as_evaluations(tmp_path: Path) -> None:
    scores, labels = some_arrays(rows=50)
    before, after = Meter("nDCG@10", name="before"), Meter("nDCG@10", name="after")
    before.update(scores, labels, qid=list(range(50)))
    after.update((scores + labels)[::-1], labels[::-1], qid=list(range(50))[::-1])
    before.evaluation().save(tmp_path / "before.json")
    assert il.gate_evaluations(tmp_path / "before.json", after).verdict == "PASS"
    assert il.compare_evaluations([before, after]).pairs[0].difference > 0
    with pytest.raises(UsageError, match="go into one list"):
        il.compare_evaluations(before.evaluation(), after.evaluation())


def test_values_of_a_million_short_lists() -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.random((10**6, 10), np.float32), rng.integers(0, 2, (10**6, 10), np.int8)
    found = values("RR", scores, labels)
    some = slice(500_000, 500_050)
    assert found[some].tolist() == [
        il.RR()(row[np.argsort(-order)].tolist())
        for order, row in zip(scores[some], labels[some], strict=True)
    ]
    assert not math.isnan(found.mean())


def test_names_of_numpy_serve_where_those_of_the_standard_are_missing() -> None:
    """CuPy has NumPy's names, and not all of the standard."""
    old = {name: value for name, value in vars(np).items()
           if name not in ("astype", "concat", "cumulative_sum", "cumulative_prod", "pow", "bool")}  # fmt: skip
    module = type("module", (), old)
    library = array_libraries.Library(array_libraries.numpy_api(module))
    case = Case(*some_arrays(), {})
    for measure in ("nDCG@10", "AP", "ERR(max_grade=4)", "RBP", "OPA", "bpref"):
        wanted = values(measure, case.scores, case.labels, ties="input")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("idealist.tensors.layouts.library_of", lambda *_: library)
            patch.setattr(library, "array", lambda given, like=None: np.asarray(given))
            patch.setattr(library, "unseen", lambda array: True)
            found = values(measure, case.scores, case.labels, ties="input")
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_real_runs_as_arrays(data: Path) -> None:
    """Candidates of real systems with their grades, and judged documents that they missed."""
    folder = data / "trec-covid-r1"
    qrels = il.read_qrels(folder / "qrels.txt")
    grades = qrels.to_dict()
    measures = ["nDCG@10", "nDCG", "AP", "RR", "R@100", "P@5", "Success@1"]
    runs = sorted((folder / "runs").iterdir())
    assert runs
    for path in runs[:4]:
        run = il.read_run(path)
        wanted = il.evaluate(qrels, run, measures, ties="input")
        rows = run.rows()
        spans = {query: span for query, span in rows.spans().items() if query in grades}
        scores = [rows.scores[span] for span in spans.values()]  # type: ignore[index]
        names = [rows.documents[span] for span in spans.values()]
        labels = [np.array([max(grades[query].get(one, 0), 0) for one in some])
                  for query, some in zip(spans, names, strict=True)]  # fmt: skip
        missed = [[grade for one, grade in grades[query].items() if one not in set(some)]
                  for query, some in zip(spans, names, strict=True)]  # fmt: skip
        found = values(measures, scores, labels, judged=missed)
        for label in measures:
            assert dict(zip(spans, found[label].tolist(), strict=True)) == pytest.approx(
                {query: wanted.by_query(label)[query] for query in spans}, abs=1e-12
            )
