"""`idealist trec-eval`: its own test files to the byte, pytrec_eval live, options, exit codes."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import pytest
import pytrec_eval

from effort import tries
from idealist.cli.main import main
from idealist.dropin.arguments import options_of
from idealist.dropin.entries import ENTRIES, NICKNAMES
from idealist.dropin.evaluate import report
from idealist.errors import UsageError
from test_peers import cases

QRELS = "q1 0 a 2\nq1 0 b 1\nq2 0 a 1\nq3 0 c 1\nq3 0 d -1\n"
RUN = "q1 Q0 b 1 2.0 old\nq1 Q0 a 2 1.0 t\nq3 Q0 x 1 1.0 t\nq3 Q0 d 2 0.5 tag\n"

#: trec_eval 10.0's own tests: a command line, and the file that holds its output.
COMMANDS = [
    ("qrels.test results.test", "out.test"),
    ("qrels.test.with-comments results.test", "out.test"),
    ("-m all_trec qrels.test results.test", "out.test.a"),
    ("-m all_trec -q qrels.test results.test", "out.test.aq"),
    ("-m all_trec -q -c qrels.test results.trunc", "out.test.aqc"),
    ("-m all_trec -q -c -M100 qrels.test results.trunc", "out.test.aqcM"),
    ("-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test", "out.test.aql"),
    ("-m all_prefs -q -R prefs prefs.test prefs.results.test", "out.test.prefs"),
    ("-m all_prefs -q -R prefs prefs.comment.test prefs.results.test", "out.test.prefs"),
    ("-m all_prefs -q -R qrels_prefs qrels.test results.test", "out.test.qrels_prefs"),
    ("-m qrels_jg -q -R qrels_jg qrels.123 results.test", "out.test.qrels_jg"),
    ("-m qrels_jg -q -R qrels_jg qrels.comments.123 results.test", "out.test.qrels_jg"),
    (
        "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
        "-m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 "
        "-mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20 qrels.test results.test",
        "out.test.meas_params",
    ),
    ("-q -m all_trec -Z zscores_file qrels.test results.test", "out.test.aqZ"),
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


def printed(capfd: pytest.CaptureFixture[str], words: str, code: int = 0) -> tuple[str, str]:
    """Run the command; give what it prints, and check its exit code."""
    try:
        main(["trec-eval", *words.split()])
        left = 0
    except SystemExit as end:
        left = int(end.code or 0)
    captured = capfd.readouterr()
    assert left == code, captured.err
    return captured.out, captured.err


def values_in(out: str) -> dict[tuple[str, str], str]:
    lines = [line.split("\t") for line in out.splitlines()]
    return {(label.strip(), query): value for label, query, value in lines}


@pytest.mark.parametrize(("words", "expected"), COMMANDS, ids=[row[0] for row in COMMANDS])
def test_its_own_tests_to_the_byte(
    words: str, expected: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data / "trec_eval-10.0")
    assert "".join(report(options_of(words.split()))) == Path(expected).read_text()


@pytest.mark.parametrize("level", [1, 2])
def test_every_measure_of_version_9_equals_pytrec_eval(level: int, tmp_path: Path) -> None:
    """It is trec_eval 9.0.8 compiled; what is printed must be its values to four digits."""
    names = pytrec_eval.supported_measures
    compared = set()
    for qrels, run in cases(tries(60, 150), level):
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, names, relevance_level=level)
        theirs = evaluator.evaluate(run)
        if not theirs:
            continue
        judged = [f"{q} 0 {d} {int(g)}" for q in qrels for d, g in qrels[q].items()]
        ranked = [f"{q} Q0 {d} 0 {s!r} t" for q in run for d, s in run[q].items()]
        (tmp_path / "qrels").write_text("\n".join(judged))
        (tmp_path / "run").write_text("\n".join(ranked))
        words = f"--as 9.0.8 -q -n -m all_trec -l{level} {tmp_path}/qrels {tmp_path}/run"
        ours = values_in("".join(report(options_of(words.split()))))
        for (label, query), value in ours.items():
            if label == "relstring":
                continue
            assert math.isclose(float(value), theirs[query][label], abs_tol=0.5001e-4), label
            compared.add(label)
        assert {query for _, query in ours} == theirs.keys()
    geometric = {"gm_map", "gm_bpref"}  # which trec_eval prints over all queries only
    assert compared | geometric | {"runid", "num_q"} >= set(theirs[query].keys()) - {"relstring"}


@pytest.mark.usefixtures("files")
def test_queries_that_the_run_lacks(capfd: pytest.CaptureFixture[str]) -> None:
    """Version 10 stops there, or counts them with -c; version 9 leaves them out or counts them."""
    out, err = printed(capfd, "-q -m map qrels run", 4)
    assert out == "map                   \tq1\t1.0000\n"
    assert "q2" in err
    assert "-c" in err
    out, _ = printed(capfd, "-q -c -m map -m num_ret -m relstring -m yaap qrels run")
    assert values_in(out) == {
        ("num_ret", "q1"): "2", ("map", "q1"): "1.0000", ("relstring", "q1"): "'12'",
        ("yaap", "q1"): "1.0986",
        ("num_ret", "q2"): "0", ("map", "q2"): "0.0000", ("relstring", "q2"): "''",
        ("yaap", "q2"): "-0.6931",
        ("num_ret", "q3"): "2", ("map", "q3"): "0.0000", ("relstring", "q3"): "'-.'",
        ("yaap", "q3"): "-0.6931",
        ("num_ret", "all"): "4", ("map", "all"): "0.3333", ("yaap", "all"): "-0.0959",
    }  # fmt: skip
    out, _ = printed(capfd, "--as 9.0.8 -q -m map -m num_q qrels run")
    assert values_in(out)["map", "all"] == "0.5000"
    assert ("map", "q2") not in values_in(out)
    out, _ = printed(capfd, "--as 9.0.8 -c -m map -m num_q -m gm_map -m num_rel qrels run")
    assert values_in(out) == {
        ("num_q", "all"): "3", ("num_rel", "all"): "4", ("map", "all"): "0.3333",
        ("gm_map", "all"): "0.0005",
    }  # fmt: skip


@pytest.mark.usefixtures("files")
def test_what_a_parameter_keeps_of_an_invented_document(capfd: pytest.CaptureFixture[str]) -> None:
    """With -c, version 10 ranks one unjudged document; only names without parameters forget it."""
    out, _ = printed(capfd, "-q -c -m utility.1,-1,0,0 -m relstring.3 -m rbp_resid.p=.5 qrels run")
    found = values_in(out)
    assert found["utility_1,-1,0,0", "q2"] == "-1.0000"
    assert found["relstring_3", "q2"] == "'-'"
    assert found["rbp_resid_p=.5", "q2"] == "1.0000"


@pytest.mark.usefixtures("files")
def test_options(capfd: pytest.CaptureFixture[str]) -> None:
    out, _ = printed(capfd, "-c qrels run")
    assert out.startswith("runid                 \tall\ttag\nnum_q                 \tall\t3\n")
    assert len(out.splitlines()) == 30
    assert printed(capfd, "--complete_rel_info_wanted run qrels -m map -n", 2)[0] == ""
    assert printed(capfd, "-c -n -m map qrels run")[0] == ""
    assert values_in(printed(capfd, "-c -l2 -m map qrels run")[0])["map", "all"] == "0.1667"
    assert values_in(printed(capfd, "-c -J -m num_ret qrels run")[0])["num_ret", "all"] == "2"
    assert values_in(printed(capfd, "-c -M1 -m num_ret qrels run")[0])["num_ret", "all"] == "2"
    out, _ = printed(capfd, "-c -N10 -mutility.0,0,0,1 -q -n -D0.q1 qrels run")
    assert values_in(out) == {("utility_0,0,0,1", "q1"): "8.0000"}
    assert "trec_eval 10.0" in printed(capfd, "-v")[1]
    assert "trec_eval 9.0.8" in printed(capfd, "--as 9 --version")[1]


@pytest.mark.usefixtures("files")
def test_help_explains_the_measures_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    out, _ = printed(capfd, "-h")
    assert all(entry.name in out for entry in ENTRIES)
    assert all(name in out for name in NICKNAMES)
    out, _ = printed(capfd, "-h -m infAP -m relstring")
    assert "Yilmaz" in out
    assert "not pooled" in out
    out, _ = printed(capfd, "-h -m all_trec -m all_prefs -m qrels_jg -m yaap")
    assert all(entry.name in out for entry in ENTRIES if entry.name not in ("dcg", "ideal_dcg"))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ("qrels", 1, "expected two files, got 1"),
        ("-x qrels run", 1, "option -x not recognized"),
        ("-m ndgc qrels run", 1, "there is no measure 'ndgc'\n  hint: did you mean ndcg"),
        ("-m P. qrels run", 1, "has a dot but no parameters"),
        ("--as 8 qrels run", 1, "--as 8: unknown version"),
        ("-l two qrels run", 1, "-l 'two' is not a whole number"),
        ("-M0 qrels run", 1, "-M takes a number of at least 1"),
        ("-T other qrels run", 2, "unknown run format"),
        ("--as 9.0.8 -m rbp qrels run", 1, "there is no measure 'rbp'"),
        ("-m P.5,5 qrels run", 2, "P.5,5: a cutoff appears twice"),
        ("-m P.0 qrels run", 2, "cutoffs go from 1"),
        ("-m P.x qrels run", 2, "P.x: these are not all numbers"),
        ("-m ndcg.x qrels run", 2, "ndcg.x: these are not pairs"),
        ("-m ndcg.-1=1 qrels run", 2, "only judged documents can have a gain"),
        ("-m ndcg.1=-1 qrels run", 2, "gain cannot be"),
        ("-R other qrels run", 2, "unknown judgment format"),
        ("qrels nowhere", 2, "nowhere: there is no such file"),
        ("qrels qrels", 2, "qrels:1:"),
        ("-m utility.1 qrels run", 4, "utility takes four numbers, not 1"),
        ("-m prefs_simp qrels run", 4, "prefs_simp cannot be computed from qrels"),
        ("-m map -R qrels_jg qrels run", 4, "map cannot be computed from qrels_jg"),
        ("-D0.q9 qrels run", 7, "no query is both judged and in the run"),
        ("-Z qrels qrels run", 255, "qrels:1:"),
        ("-Z nowhere qrels run", 255, "nowhere: there is no such file"),
    ],
)
def test_exit_codes(words: str, code: int, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    out, err = printed(capfd, words, code)
    assert out == ""
    assert says in err
    assert err.startswith("trec-eval: ")


@pytest.mark.usefixtures("files")
def test_the_words_of_an_error_do_not_choose_its_exit_code() -> None:
    with pytest.raises(SystemExit) as end:
        main(["trec-eval", "-m", "P.four numbers", "qrels", "run"])
    assert end.value.code == 2


@pytest.mark.parametrize(
    ("qrels", "run", "says"),
    [
        ("q1 0 a 1\nq1 0 a 1\n", RUN, "1 document is judged twice"),
        ("q1 0 a 1\nq1 1 a 0\n", RUN, "1 document is judged twice"),
        ("q1 0 a 1\nq1 0 a 2\n", RUN, "contradicts"),
        (QRELS, RUN + "q1 Q0 a 3 0.5 t\n", "'a'"),
    ],
)
def test_a_document_that_stands_there_twice(
    qrels: str, run: str, says: str, files: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (files / "qrels").write_text(qrels)
    (files / "run").write_text(run)
    assert says in printed(capfd, "-c qrels run", 4)[1]


def test_version_9_compares_float32_even_where_nothing_is_measured(
    files: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (files / "qrels").write_text("1 0 a 1\n1 0 b 2\n")
    (files / "run").write_text("1 Q0 a 1 16777217 t\n1 Q0 b 2 16777216 t\n")
    out, _ = printed(capfd, "--as 9.0.8 -q -n -m relstring qrels run")
    assert out == "relstring             \t1\t'21'\n"


def test_preferences_are_no_qrels(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "prefs").write_text("q1 g s a 2\nq1 g s b 1\n")
    assert "prefs: these are preferences" in printed(capfd, "-m map prefs run", 2)[1]
    assert printed(capfd, "-m prefs_simp -R prefs prefs run")[0] != ""


def test_compressed_files_and_the_tag_of_the_last_line(
    files: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (files / "run.gz").write_bytes(gzip.compress((RUN + "\n# the end\n").encode()))
    out, _ = printed(capfd, "-c -m runid qrels run.gz")
    assert out == "runid                 \tall\ttag\n"


def test_a_query_may_hold_a_percent_sign(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "qrels").write_text("100%d 0 a 1\n")
    (files / "run").write_text("100%d Q0 a 1 1.0 t%s\n")
    out, _ = printed(capfd, "-q -m P.1 -m runid qrels run")
    assert values_in(out) == {
        ("P_1", "100%d"): "1.0000", ("runid", "all"): "t%s", ("P_1", "all"): "1.0000",
    }  # fmt: skip


def test_rbp_is_defined_where_trec_eval_leaves_it_to_chance(
    files: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The gain is max(grade, 0) over max(1, the query's highest); grades below -1 do no harm."""
    (files / "qrels").write_text("q 0 a 1\nq 0 b 4\nq 0 c -3\np 0 a -2\n")
    (files / "run").write_text("q Q0 a 1 3 t\nq Q0 c 1 2 t\nq Q0 b 1 1 t\np Q0 a 1 1 t\n")
    found = values_in(printed(capfd, "-q -m rbp.p=0.5 -m map qrels run")[0])
    assert float(found["rbp_p=0.5", "q"]) == pytest.approx(0.5 * (0.25 + 0.25), abs=1e-4)
    assert found["map", "p"] == "0.0000"


def test_parameters_are_read_as_getopt_reads_them() -> None:
    options = options_of(["run", "-qc", "--level_for_rel=2", "--mea", "map", "-mP.5", "qrels"])
    assert (options.files, options.measures) == (["run", "qrels"], ["map", "P.5"])
    assert (options.per_query, options.complete, options.level) == (True, True, 2)
    with pytest.raises(UsageError, match="not a unique prefix"):
        options_of(["--R"])
