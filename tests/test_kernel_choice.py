"""Which kernel ranks: what is asked for, what is installed, and what is said about it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from types import ModuleType

import pytest

from idealist import UsageError, kernel
from idealist._version import __version__
from waiting import PATIENCE

INSTALLED = find_spec("idealist._kernel") is not None
#: What an import meets where nothing was compiled, and where what was compiled does not fit.
BROKEN = {
    "not installed": ModuleNotFoundError("No module named 'idealist._kernel'"),
    "undefined symbol: PyNothing": ImportError("kernel.so: undefined symbol: PyNothing"),
}


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget what was asked for, what was found and what was said."""
    monkeypatch.delenv("IDEALIST_KERNEL", raising=False)
    monkeypatch.delenv("IDEALIST_THREADS", raising=False)
    forget()
    yield
    forget()


def forget() -> None:
    kernel._compiled.cache_clear()
    kernel._say_once.cache_clear()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("idealist._kernel")
    monkeypatch.setitem(sys.modules, "idealist._kernel", module)
    return module


@pytest.fixture(params=BROKEN)
def why(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A kernel that cannot be imported, and words that must be said of it."""
    words: str = request.param

    def fail(_: str) -> ModuleType:
        raise BROKEN[words]

    monkeypatch.setattr(kernel, "import_module", fail)
    return words


def test_the_compiled_kernel_serves_where_it_is_installed(
    compiled: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kernel.native() is compiled
    assert kernel.name() == "native"
    assert kernel.description() == "native kernel"
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("choice", ["", "native"])
def test_asking_for_what_serves_anyway_changes_nothing(
    compiled: ModuleType, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", choice)
    assert kernel.native() is compiled


def test_the_choice_is_read_at_every_call(
    compiled: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", "python")
    assert kernel.native() is None
    monkeypatch.setenv("IDEALIST_KERNEL", "native")
    assert kernel.native() is compiled


@pytest.mark.usefixtures("compiled")
def test_the_twin_serves_silently_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", "python")
    assert kernel.native() is None
    assert kernel.name() == "python"
    assert kernel.description() == "python kernel: IDEALIST_KERNEL=python"
    assert capsys.readouterr() == ("", "")


def test_without_a_kernel_the_twin_serves_and_says_so_once(
    why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kernel.native() is None
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("idealist: the compiled kernel ")
    assert err.count("\n") == 1
    for words in (why, "using the slower Python twin", "compiler", "IDEALIST_KERNEL=python"):
        assert words in err
    assert kernel.native() is None
    assert capsys.readouterr() == ("", "")


def test_naming_the_kernel_says_nothing_on_the_way(
    why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kernel.name() == "python"
    assert why in kernel.description()
    assert capsys.readouterr() == ("", "")


def test_a_closed_standard_error_is_no_reason_to_write_into_the_result(
    why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert kernel.native() is None
    assert capsys.readouterr().out == "", why


@pytest.mark.parametrize("ask", [kernel.native, kernel.name, kernel.description])
def test_insisting_on_a_kernel_that_cannot_be_imported_is_refused(
    why: str, ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", "native")
    with pytest.raises(UsageError, match="IDEALIST_KERNEL=native, but the compiled kernel") as said:
        ask()
    assert why in said.value.message
    assert "compiler" in said.value.hint
    assert "unset IDEALIST_KERNEL" in said.value.hint


@pytest.mark.parametrize("choice", ["rust", "Native", " python"])
def test_other_kernels_do_not_exist(choice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", choice)
    with pytest.raises(UsageError, match="is not a kernel") as said:
        kernel.native()
    assert repr(choice) in said.value.message
    assert "native or python" in said.value.hint


@pytest.mark.parametrize(("said", "number"), [("1", 1), ("3", 3), ("64", 64), ("9999", 9999)])
def test_the_user_says_how_many_threads(
    said: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_THREADS", said)
    assert kernel.threads() == number


@pytest.mark.parametrize("said", ["0", "-1", "2.0", "two", "1_0", " 2", "٢", "10000", "9" * 5000])
def test_not_a_number_of_threads(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDEALIST_THREADS", said)
    with pytest.raises(UsageError, match="is not a number of threads") as refused:
        kernel.threads()
    assert repr(said) in refused.value.message
    assert "whole number" in refused.value.hint


@pytest.mark.parametrize(("cpus", "number"), [(1, 1), (4, 4), (16, 16), (128, 16)])
def test_threads_are_the_cpus_up_to_a_limit(
    cpus: int, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "_cpus", lambda: cpus)
    assert kernel.threads() == number


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="CPUs cannot be taken away here")
def test_only_cpus_that_we_may_use_count() -> None:
    program = (
        "import os\nfrom idealist import kernel\nmine = sorted(os.sched_getaffinity(0))\n"
        "os.sched_setaffinity(0, mine[:1])\nprint(kernel.threads())"
    )
    assert run(program).stdout == "1\n"


@pytest.mark.parametrize("option", ["--version", "-V"])
@pytest.mark.parametrize("choice", ["python", None])
def test_the_version_names_the_kernel_and_loads_nothing_heavy(
    option: str, choice: str | None
) -> None:
    program = (
        "import sys\nfrom idealist.cli.main import main\nmain(sys.argv[1:])\n"
        "heavy = {'numpy', 'rich'} & sys.modules.keys()\nsys.exit(repr(heavy) if heavy else 0)"
    )
    done = run(program, option, choice=choice)
    native = INSTALLED and choice is None
    shown = f"idealist {__version__} ({'native kernel)' if native else 'python kernel: '}"
    assert done.stdout.startswith(shown)
    assert not done.stderr


def test_the_command_line_refuses_a_kernel_that_does_not_exist() -> None:
    done = run("from idealist.cli.main import main; main(['--version'])", choice="rust", code=2)
    assert done.stderr.startswith("error: IDEALIST_KERNEL='rust' is not a kernel\n")
    assert not done.stdout


def test_a_process_without_the_kernel_says_so_only_when_it_is_to_rank() -> None:
    hide = "import sys; sys.modules['idealist._kernel'] = None\n"
    said = run(hide + "from idealist.cli.main import main; main(['--help'])").stderr
    assert not said
    said = run(hide + "from idealist import kernel; kernel.native(); kernel.native()").stderr
    assert said.startswith("idealist: the compiled kernel is not installed; ")
    assert said.count("\n") == 1


def run(
    program: str, *arguments: str, choice: str | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run a program in an interpreter of its own, with a kernel forced or none."""
    environment = {name: value for name, value in os.environ.items() if name != "IDEALIST_KERNEL"}
    if choice is not None:
        environment["IDEALIST_KERNEL"] = choice
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment, capture_output=True, encoding="utf-8", check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done
