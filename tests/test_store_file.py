"""The file of a store: kills, crowds, full disks, locks, damage, other versions, forks, threads."""

from __future__ import annotations

import gc
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import idealist as il
import store_writers
from idealist import files
from idealist.errors import Fault, IdealistError, InputError, UsageError
from idealist.formats import sqlite_files, stored_judgments
from idealist.judging import schema, store_file
from idealist.judging.store import Store
from idealist.judging.store_records import Batch, Judgment, Pooled
from waiting import PATIENCE, beside


@pytest.fixture(scope="module")
def empty(tmp_path_factory: Any) -> Path:
    path: Path = tmp_path_factory.mktemp("stores") / "empty.db"
    Store.create(path, scale=3).close()
    return path


@pytest.fixture
def store(empty: Path, tmp_path: Path) -> Iterator[Store]:
    with Store(shutil.copy(empty, tmp_path / "labels.db")) as made:
        made.judge(Judgment("q1", "d1", 2, "ann"))
        yield made


KNOWN = {"q1": {"d1": 2}}


def test_nothing_acknowledged_is_lost_when_writers_are_killed(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    Store.create(path, scale=3).close()
    found = store_writers.run("kills", path, 10, 7)
    assert store_writers.check_kept(path, found["acknowledged"]) >= 10


def test_a_crowd_judges_every_document_once(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    with Store.create(path) as store:
        store.add_batch(Batch("depth", tuple(Pooled("q", f"d{i}", i) for i in range(40))))
    assert store_writers.run("crowd", path, 6) == {"failed": 0}
    with Store(path) as store:
        judged = Counter(row.document for row in store.judgments())
    assert (len(judged), judged.total()) == (40, 40)


def test_threads_share_a_store(store: Store) -> None:
    def write(name: str) -> None:
        for i in range(10):
            store.judge(Judgment("q2", f"{name}{i}", 1, name))

    names = ("bob", "cy", "dan")
    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    with beside(threads[0]), beside(threads[1]), beside(threads[2]):
        pass
    assert Counter(row.judge for row in store.current()) == {"ann": 1} | dict.fromkeys(names, 10)


def test_a_child_opens_the_file_for_itself(store: Store) -> None:
    code = f"""
import gc
import os
import random
from idealist.judging.store import Store, Judgment
store = Store({str(store.path)!r})
child = os.fork()
store.judge(Judgment("q1", "d" + str(bool(child)), 1, "bob"))
if child:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    print(sorted(row.document for row in store.current()))
else:
    store.close()
    os._exit(0)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)  # fmt: skip
    assert done.stdout.strip() == "['d1', 'dFalse', 'dTrue']"


# What keeps one from writing


def test_a_full_disk_loses_nothing(store: Store) -> None:
    pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
    store.connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(UsageError, match="the disk is full") as error:
        store.judge_all([Judgment("q2", f"d{i}", 1, "bob", note="x" * 500) for i in range(200)])
    assert "nothing of this was written" in error.value.hint
    assert store.qrels().to_dict() == KNOWN
    store.connection.execute(f"PRAGMA max_page_count = {pages + 500}")
    store.judge(Judgment("q1", "d2", 1, "bob"))
    assert len(list(store.judgments())) == 2


def test_a_quota_loses_nothing(store: Store) -> None:
    """Writing fails in the middle of the log, as on a disk that is full."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    log = Path(f"{store.path}-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (log + 9_000, limit[1]))
    try:
        with pytest.raises(UsageError, match="the disk") as error:
            store.judge_all([Judgment("q2", f"d{i}", 1, "bob", note="x" * 500) for i in range(200)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert "nothing of this was written" in error.value.hint
    assert il.read_qrels(store).to_dict() == KNOWN
    store.judge(Judgment("q1", "d2", 1, "bob"))
    assert len(list(store.judgments())) == 2


def test_who_waits_too_long_for_a_lock_is_told(store: Store, monkeypatch: Any) -> None:
    monkeypatch.setattr(store_file, "PATIENCE", 0.05)
    with Store(store.path) as other, store.writing():
        with pytest.raises(UsageError, match="locked") as error:
            other.judge(Judgment("q1", "d2", 1, "bob"))
        assert other.qrels().to_dict() == il.read_qrels(store.path).to_dict() == KNOWN
    assert "try again" in error.value.hint
    with Store(store.path) as other:
        other.judge(Judgment("q1", "d2", 1, "bob"))


def test_what_fails_in_the_middle_is_undone_and_reading_does_not_write(store: Store) -> None:
    with pytest.raises(InputError), store.writing():  # noqa: PT012
        store.judge_all([Judgment("q1", "d2", 1, "bob")])
        store.judge_all([Judgment("q1", "d3", 9, "bob")])
    assert store.qrels().to_dict() == KNOWN
    with store.reading(), pytest.raises(UsageError, match="nothing can be written"):
        store.judge(Judgment("q1", "d2", 1, "bob"))


# Where one may not write


def as_nobody(task: Callable[[], Any]) -> str:
    """Do something as a user to whom things are forbidden; return what it returns, as text."""
    code, out = os.pipe(), ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads of libraries that wait for work
        child = os.fork()
    if not child:
        try:
            if not os.geteuid():
                os.setuid(65534)
            out = str(task())
        except IdealistError as error:
            out = str(error)
        finally:
            os.write(code[1], out.encode())
            os._exit(0)
    os.close(code[1])
    os.waitpid(child, 0)
    with open(code[0], "rb") as file:
        return file.read().decode()


@pytest.fixture
def forbidden(store: Store) -> Iterator[Path]:
    """A store in a folder that nobody may write to; its log is left by a writer that was killed."""
    Path(f"{store.path}-wal").stat()
    with TemporaryDirectory() as made:  # pytest's own folders are closed to others
        folder = Path(made)
        for end in ("", "-wal"):
            shutil.copy(f"{store.path}{end}", folder / f"labels.db{end}")
            (folder / f"labels.db{end}").chmod(0o444)
        folder.chmod(0o555)
        yield folder / "labels.db"
        folder.chmod(0o755)


def looked_at(path: Path) -> str:
    with Store.to_read(path) as store:
        return f"{store.path}: {store.qrels().to_dict()}"


def test_a_store_is_read_where_there_is_no_room_for_a_copy(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.close()
    old = time.time() - 9
    os.utime(store.path, (old, old))
    monkeypatch.setattr("shutil.copyfile", lambda *_: (_ for _ in ()).throw(OSError))
    with sqlite_files.readable(store.path) as (where, how), Store(where, how=how) as found:
        assert how == "immutable=1"
        assert found.qrels().to_dict() == KNOWN
    Path(f"{store.path}-wal").write_bytes(b"judgments")
    with pytest.raises(OSError), sqlite_files.readable(store.path):  # noqa: PT011
        pass


@pytest.mark.parametrize("log", [True, False])
def test_a_store_is_read_where_one_may_not_write(forbidden: Path, log: bool) -> None:
    if not log:
        forbidden.parent.chmod(0o755)
        with Store(forbidden):
            pass  # the last who closes it empties the log
        forbidden.parent.chmod(0o555)
    il.read_qrels(forbidden)  # imports all that is needed, before all is forbidden
    before = sorted(os.listdir(forbidden.parent))
    assert as_nobody(lambda: il.read_qrels(forbidden).to_dict()) == str(KNOWN)
    old = time.time() - 9
    os.utime(forbidden, (old, old))
    assert as_nobody(lambda: il.read_qrels(forbidden).to_dict()) == str(KNOWN)
    assert as_nobody(lambda: looked_at(forbidden)) == f"{forbidden}: {KNOWN}"
    assert sorted(os.listdir(forbidden.parent)) == before
    told = as_nobody(lambda: Store(forbidden).judge(Judgment("q1", "d2", 1, "bob")))
    assert "cannot be" in told
    assert "check" in told


def test_reading_leaves_no_trace(store: Store) -> None:
    store.close()
    old = time.time() - 9
    os.utime(store.path, (old, old))
    before = store.path.read_bytes()
    assert il.read_qrels(store.path).to_dict() == KNOWN
    assert os.listdir(store.path.parent) == ["labels.db"]
    assert store.path.read_bytes() == before


def test_what_changes_while_it_is_read_is_read_again(store: Store) -> None:
    store.close()
    old = time.time() - 9
    os.utime(store.path, (old, old))
    seen = []

    def use(connection: sqlite3.Connection) -> int:
        seen.append(connection.execute("SELECT COUNT(*) FROM judgment").fetchone()[0])
        if len(seen) == 1:
            with Store(store.path) as other:
                other.judge(Judgment("q1", "d2", 1, "bob"))
            raise InputError([Fault("damaged", "torn")])
        return len(seen)

    assert sqlite_files.read(store.path, use) == 2
    assert seen == [1, 2]


def test_of_two_who_make_a_store_one_is_told(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    with pytest.raises(UsageError, match="exists already"), store_file.fresh_file(path):
        path.write_text("mine")
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["labels.db"]


def test_a_log_that_a_killed_writer_left_is_read(store: Store) -> None:
    copy = store.path.with_name("copy.db")
    for end in ("", "-wal"):
        shutil.copy(f"{store.path}{end}", f"{copy}{end}")
    log = Path(f"{copy}-wal").read_bytes()
    assert log
    assert il.read_qrels(copy).to_dict() == KNOWN
    assert Path(f"{copy}-wal").read_bytes() == log


def test_the_log_of_a_link_lies_beside_the_file(store: Store) -> None:
    old = time.time() - 9
    os.utime(store.path, (old, old))
    (store.path.parent / "elsewhere").mkdir()
    link = store.path.parent / "elsewhere" / "link.db"
    link.symlink_to(store.path)
    assert il.read_qrels(link).to_dict() == KNOWN
    with Store(link) as linked:
        linked.judge(Judgment("q1", "d2", 1, "bob"))
    assert len(il.read_qrels(link)) == len(store.qrels()) == 2


# Damage, and other files


def test_damage_is_said(store: Store) -> None:
    store.judge_all([Judgment("q2", f"d{i}", 1, "bob", note="x" * 100) for i in range(500)])
    store.close()
    whole = store.path.read_bytes()
    for damaged in (
        whole[: len(whole) // 2],
        whole[:4096] + b"\xff" * 4096 + whole[8192:],
        whole[:700],
    ):
        store.path.write_bytes(damaged)
        opens: tuple[Callable[[Path], Any], ...] = (il.read_qrels, lambda path: Store(path).qrels())
        for opened in opens:
            with pytest.raises(InputError, match="damaged") as error:
                opened(store.path)
            assert "export" in error.value.hint
    store.path.write_bytes(whole)
    assert len(il.read_qrels(store.path)) == 501


def test_any_damage_is_said_or_does_no_harm(store: Store) -> None:
    store.add_queries({"q1": "tuples"})
    store.judge_all([Judgment(f"q{i}", "d1", 1, "bob") for i in range(50)])
    store.close()
    whole, chance = store.path.read_bytes(), random.Random(18)
    for _ in range(25):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 20, 400])):
            damaged[chance.randrange(100, len(damaged))] = chance.randrange(256)
        store.path.write_bytes(damaged)
        with suppress(IdealistError):
            il.read_qrels(store.path)
        with suppress(IdealistError), Store(store.path) as opened:
            list(opened.judgments())
            opened.judge(Judgment("q1", "d9", 1, "bob"))


@pytest.mark.parametrize("content", [b"", b"q1 0 d1 1\n", "sqlite", "folder"])
def test_what_is_no_store_is_refused(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "other.db"
    if content == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE judgment (x)")
    elif content == "folder":
        path.mkdir()
    else:
        path.write_bytes(content)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(InputError, match="not a store") as error:
        Store(path)
    assert error.value.hint
    if content == "sqlite":
        with pytest.raises(InputError, match="not a store of judgments"):
            il.read_qrels(path)
    with pytest.raises(UsageError, match="exists already"):
        Store.create(path)
    assert (path.read_bytes() if path.is_file() else b"") == before
    with pytest.raises(InputError, match="there is no such store"):
        Store(tmp_path / "none.db")


# Other versions


#: The version of the tables today.
TODAY = stored_judgments.VERSION


def at_version(monkeypatch: Any, version: int) -> None:
    for module in (stored_judgments, store_file):
        monkeypatch.setattr(module, "VERSION", version)
    monkeypatch.setattr(stored_judgments, "OLDEST", version)


def test_a_newer_store_is_refused_and_not_touched(store: Store, monkeypatch: Any) -> None:
    store.connection.execute("PRAGMA user_version = 9")
    store.close()
    before = store.path.read_bytes()
    for opened in (il.read_qrels, Store):
        with pytest.raises(InputError, match="a newer idealist wrote this store") as error:
            opened(store.path)
        assert "update idealist" in error.value.hint
    assert store.path.read_bytes() == before


def test_an_older_store_is_brought_up_to_date(store: Store, monkeypatch: Any) -> None:
    store.close()
    at_version(monkeypatch, TODAY + 2)
    monkeypatch.setitem(schema.MIGRATIONS, TODAY, "ALTER TABLE judgment ADD COLUMN mood TEXT;")
    monkeypatch.setitem(schema.MIGRATIONS, TODAY + 1, "CREATE TABLE more (x TEXT) STRICT;")
    with pytest.raises(InputError, match="an older idealist wrote") as error:
        il.read_qrels(store.path)
    assert "judge status" in error.value.hint
    with Store(store.path) as newer:
        assert newer.connection.execute("SELECT mood FROM judgment").fetchall() == [(None,)]
        assert newer.connection.execute("PRAGMA user_version").fetchone() == (TODAY + 2,)
        newer.judge(Judgment("q1", "d2", 1, "bob"))
    assert len(il.read_qrels(store.path)) == 2
    Store.create(store.path.with_name("new.db")).close()


def test_a_migration_that_fails_changes_nothing(store: Store, monkeypatch: Any) -> None:
    store.close()
    at_version(monkeypatch, TODAY + 2)
    monkeypatch.setitem(schema.MIGRATIONS, TODAY, "ALTER TABLE judgment ADD COLUMN mood TEXT;")
    monkeypatch.setitem(schema.MIGRATIONS, TODAY + 1, "CREATE TABLE judgment (x TEXT) STRICT;")
    with pytest.raises(InputError, match="already exists"):
        Store(store.path)
    at_version(monkeypatch, TODAY)
    with Store(store.path) as older:
        assert older.qrels().to_dict() == KNOWN
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            older.connection.execute("SELECT mood FROM judgment")


def test_a_store_of_one_claim_a_judge_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """A store of version 1 is read as it is; opened to judge, its claims are kept."""
    path = tmp_path / "old.db"
    with monkeypatch.context() as before:
        at_version(before, 1)
        with Store.create(path, scale=3) as old:
            old.add_batch(Batch("depth", tuple(Pooled("q", f"d{i}", i) for i in range(3))))
            old.judge(Judgment("q", "d0", 1, "ann"))
            claim = ("ann", "q", "d1", time.time() + 500)
            with old.writing() as connection:
                connection.execute("INSERT INTO claim VALUES (?, ?, ?, ?)", claim)
            assert old.connection.execute("PRAGMA user_version").fetchone() == (1,)
    assert il.read_qrels(path).to_dict() == {"q": {"d0": 1}}
    with Store(path) as store:
        assert store.connection.execute("PRAGMA user_version").fetchone() == (TODAY,)
        assert store.connection.execute("SELECT * FROM claim").fetchall() == [claim]
        assert [task.document for task in store.upcoming("bob", 5)] == ["d2"]
        assert [task.document for task in store.upcoming("ann", 5)] == ["d1"]
        store.judge(Judgment("q", "d1", 1, "ann"))
        assert len(store.connection.execute("SELECT * FROM claim").fetchall()) == 1


@pytest.mark.parametrize(
    "touch",
    [
        sqlite_files.is_sqlite,
        files.fingerprint,
        lambda path: sqlite_files.read(path, lambda connection: connection.execute("SELECT 1")),
        lambda path: il.read_qrels(str(path)),
        lambda path: il.read_queries(str(path)),
    ],
    ids=["is_sqlite", "fingerprint", "read", "read_qrels", "read_queries"],
)
def test_locks_survive_a_look_at_the_file(tmp_path: Path, touch: Callable[[Path], object]) -> None:
    """Else a process that closes the store deletes the log that this one writes to."""
    path = tmp_path / "labels.db"
    with il.Store.create(path, scale=3) as store:
        store.judge(il.Judgment("q1", "d1", 1, "ann"))
        touch(path)
        assert elsewhere(path) == 1
        store.judge(il.Judgment("q1", "d2", 1, "ann"))
        assert elsewhere(path) == 2


def elsewhere(path: Path) -> int:
    """Count the judgments in another process, which opens and closes the store."""
    code = (
        f"import sqlite3; store = sqlite3.connect({str(path)!r});"
        "print(store.execute('SELECT COUNT(*) FROM judgment').fetchone()[0]); store.close()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, timeout=PATIENCE
    )
    return int(done.stdout)


def test_a_store_that_was_closed_is_a_file_like_others(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    store = il.Store.create(path, scale=3)
    assert files.is_open_database(path)
    store.close()
    assert not files.is_open_database(path)
    again = il.Store(path)
    assert files.is_open_database(path)
    del again
    gc.collect()
    assert not files.is_open_database(path)
