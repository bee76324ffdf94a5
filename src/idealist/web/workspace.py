"""What is open in the workbench: files, and what the verbs find in them, computed once."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from idealist.auditing import Audit, audit
from idealist.comparing import COMPARED, Comparison, compare, naming
from idealist.conventions import DEFAULT
from idealist.data import Qrels, Queries, Run
from idealist.diagnosing import Diagnosis, diagnose
from idealist.errors import IdealistError, InputError, UsageError, nearest
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluations import Evaluations
from idealist.evaluating.evaluator import DEFAULT_MEASURES, Evaluator
from idealist.formats import read_pairs, read_qrels, read_queries, read_run
from idealist.formats.document_texts import DocumentText, document_texts
from idealist.formats.source import run_names
from idealist.judging.judgment_imports import import_judgments
from idealist.judging.store import Store
from idealist.measures.instrument import typed_axes
from idealist.protocol import names_file
from idealist.ranking.ranked import Ranked
from idealist.web.found_files import FoundFile
from idealist.web.once import Once
from idealist.web.page_state import PageState

if TYPE_CHECKING:
    from idealist.reporting.report_result import Report

T = TypeVar("T")

#: For how many seconds the files are not looked for again.
FRESH = 1.0
#: The name of a store that is made where judgments are in a file.
STORE = "judgments.db"
#: How many texts of documents are remembered.
TEXTS = 5000


class Files(Protocol):
    """Where files come from: a folder, or names on the command line."""

    path: Path

    def files(self) -> dict[str, FoundFile]:
        """Return the files, by name."""

    def correct(self, name: str, role: str) -> None:
        """Say what a file is."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Runs ranked and evaluated by one evaluator; `refused` says why others could not be.

    Who asks more of what is ranked holds the `lock`.
    """

    evaluator: Evaluator
    ranked: Mapping[str, Ranked]
    evaluations: Evaluations
    refused: Mapping[str, str]
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def label(self) -> str:
        """The measure that decides: the first."""
        return next(iter(self.evaluator.measures))

    @property
    def runs(self) -> list[str]:
        """The runs, in the order of their files."""
        return list(self.ranked)

    def of(self, run: str) -> Evaluation:
        """Return the values of a run."""
        return next(one for one in self.evaluations.runs if one.run == run)


@dataclass
class Workspace:
    """Everything that pages ask for. `judge` is who judges where there are no accounts."""

    source: Files
    judge: str = ""
    stage: str = ""
    _once: Once = field(default_factory=Once)
    _saved: Once = field(default_factory=lambda: Once(500))
    _stores: dict[Path, Store] = field(default_factory=dict)
    _texts: dict[tuple[Any, str], DocumentText | None] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _found: tuple[float, dict[str, FoundFile]] = (0.0, {})

    def files(self, fresh: bool = False) -> dict[str, FoundFile]:
        """Return the files; those that are new or changed are noticed within a second."""
        with self._lock:
            if fresh or time.monotonic() - self._found[0] > FRESH or not self._found[1]:
                self._found = time.monotonic(), self.source.files()
            return self._found[1]

    def correct(self, name: str, role: str) -> None:
        """Say what a file is."""
        self.source.correct(name, role)
        self.files(fresh=True)

    def _of(self, *roles: str) -> list[FoundFile]:
        return [one for one in self.files().values() if one.role in roles]

    # -- what there is

    @property
    def judged(self) -> list[FoundFile]:
        """The files of judgments: stores first, then what is called so."""
        found = self._of("store", "judgments", "both")
        return sorted(found, key=lambda one: (one.role != "store", "qrel" not in one.name.lower()))

    @property
    def runs(self) -> dict[str, FoundFile]:
        """The files of runs, by the names of the runs."""
        found = self._of("run", "both")
        return dict(zip(run_names([one.name for one in found]), found, strict=True))

    def judgments_file(self, state: PageState) -> FoundFile:
        """Find the judgments that a page is about: those it names, or the first."""
        known = {one.name: one for one in self.judged}
        if not known:
            hint = "put judgments into the folder, or say under Files which file holds them"
            raise UsageError("there are no judgments here", hint)
        if state.judgments and state.judgments not in known:
            raise UsageError(
                f"there are no judgments {state.judgments!r}", nearest(state.judgments, known)
            )
        return known[state.judgments] if state.judgments else next(iter(known.values()))

    def stamp(self, file: FoundFile) -> Any:
        """Return what changes when a file does, and with every judgment of a store."""
        if file.role != "store":
            return file.name, file.stamp
        with self._opened(file.path).reading() as connection:
            asked = "SELECT (SELECT MAX(id) FROM judgment), (SELECT MAX(id) FROM setting)"
            return file.name, connection.execute(asked).fetchone()

    def qrels(self, state: PageState) -> Qrels:
        """Read the judgments that a page is about."""
        file = self.judgments_file(state)
        return self._once(("qrels", self.stamp(file)), lambda: self._read_qrels(file))

    def _read_qrels(self, file: FoundFile) -> Qrels:
        if file.role == "store":
            return self._opened(file.path).qrels()
        if file.role == "both":
            return read_pairs(str(file.path), name=file.name)[0]
        return read_qrels(str(file.path))

    def _read_run(self, name: str, file: FoundFile) -> Run:
        if file.role == "both":
            return read_pairs(str(file.path), name=name)[1]
        return read_run(str(file.path), queries=self.queries, name=name)

    def _read_or_named(self, name: str, file: FoundFile) -> Run | str:
        """Read a run; name the file where it cannot be read, so that an audit says why."""
        try:
            return self._read_run(name, file)
        except InputError:
            return str(file.path)

    def evaluation(self, file: FoundFile) -> Evaluation:
        """Read a saved evaluation."""
        return self._saved(
            ("evaluation", file.name, file.stamp), lambda: Evaluation.load(file.path)
        )

    @property
    def queries(self) -> Queries | None:
        """The texts of the queries, of a file or of the store."""
        found = [*self._of("queries"), *self._of("store")]
        if not found:
            return None
        stamps = tuple(map(self._text_stamp, found))
        return self._once(("queries", stamps), lambda: _joined(found))

    def _text_stamp(self, file: FoundFile) -> Any:
        """Return what changes when the texts of a file do."""
        if file.role != "store":
            return file.name, file.stamp
        with self._opened(file.path).reading() as connection:
            asked = "SELECT (SELECT MAX(id) FROM query), (SELECT MAX(id) FROM document)"
            return file.name, connection.execute(asked).fetchone()

    def query_text(self, query: str) -> str:
        """Return the words of a query."""
        known = self.queries
        return known.text.get(query, "") if known else ""

    def texts(self, ids: Iterable[str]) -> dict[str, DocumentText]:
        """Look up the texts of documents, in the store first, and remember them."""
        wanted = dict.fromkeys(ids)
        sources = [*self._of("store"), *self._of("documents")]
        found: dict[str, DocumentText] = {}
        with self._lock:
            for file in sources:
                stamp = self._text_stamp(file)
                lacking = [one for one in wanted if one not in found]
                new = [one for one in lacking if (stamp, one) not in self._texts]
                if len(self._texts) + len(new) > TEXTS:
                    self._texts.clear()
                    new = lacking
                told = document_texts(str(file.path), new).found if new else {}
                self._texts |= {(stamp, one): told.get(one) for one in new}
                known = {one: self._texts[stamp, one] for one in lacking}
                found |= {one: text for one, text in known.items() if text is not None}
        return found

    # -- stores

    def store(self, state: PageState) -> Store | None:
        """Return the store that a page's judgments are in, if they are in one."""
        if not self.judged:
            return None
        file = self.judgments_file(state)
        return self._opened(file.path) if file.role == "store" else None

    def _opened(self, path: Path) -> Store:
        with self._lock:
            if path not in self._stores:
                self._stores[path] = Store(path)
            return self._stores[path]

    def make_store(self, state: PageState) -> str:
        """Make a store of the judgments that a page is about; return its name."""
        path, queries = self.source.path / STORE, self._of("queries")
        file = self.judgments_file(state) if self.judged else None
        scale = _scale(self.qrels(state) if file else None)
        texts = str(queries[0].path) if queries else None
        with Store.create(path, scale=scale, queries=texts) as store:
            if file is not None:
                data = self.qrels(state).to_dict() if file.role == "both" else str(file.path)
                import_judgments(store, data, judge=file.name)
        self.files(fresh=True)
        return STORE

    def about_store(
        self, state: PageState, what: Hashable, make: Callable[[Store], T],
        runs: Sequence[str] = (),
    ) -> T:  # fmt: skip
        """Find something out about a page's store, once while nothing is added to it."""
        file = self.judgments_file(state)

        def made() -> T:
            with Store.to_read(file.path) as store:  # by itself, so that no judge waits
                return make(store)

        key = (what, file.name, self._filling(file), self._run_key(state, runs), state.column)
        return self._once(key, made)

    def _filling(self, file: FoundFile) -> Any:
        """Return what changes with everything that is added to a store."""
        tables = ("judgment", "setting", "preference", "batch", "call", "query", "document")
        asked = ", ".join(f"(SELECT MAX(id) FROM {table})" for table in tables)
        with self._opened(file.path).reading() as connection:
            return connection.execute(f"SELECT {asked}").fetchone()

    def read_runs(self, runs: Sequence[str]) -> dict[str, Run]:
        """Read some runs."""
        known = self.runs
        return {name: self._read_run(name, self._run(name, known)) for name in runs}

    def close(self) -> None:
        """Let go of the stores."""
        for store in self._stores.values():
            store.close()

    # -- what the verbs find

    def rules(self, state: PageState) -> dict[str, Any]:
        """Return the convention and the axes that a page asks for."""
        axes = typed_axes(state.settings)
        pattern = axes.get("collapse", "")
        if names_file(pattern):  # nothing is read by a path in an address
            raise UsageError("collapse cannot name a file here", "give a pattern of suffixes")
        if not is_quick(pattern):
            hint = r"give one without groups and with one repeat at most, such as #\d+ or -.*"
            raise UsageError(f"collapse={pattern} could take forever here", hint)
        return {"convention": state.convention or DEFAULT, **axes}

    def measured(self, state: PageState) -> Measured:
        """Evaluate all runs by the measures and rules of a page."""
        qrels, known = self.qrels(state), self.runs
        key = ("measured", qrels.hash, self._run_key(state, list(known)))
        return self._once(key, lambda: self._measure(qrels, known, state))

    def _run(self, name: str, known: Mapping[str, FoundFile]) -> FoundFile:
        if name not in known:
            hint = nearest(name, known) if known else "put runs into the folder"
            raise UsageError(f"there is no run {name!r}", hint)
        return known[name]

    def _measure(self, qrels: Qrels, runs: Mapping[str, FoundFile], state: PageState) -> Measured:
        evaluator = Evaluator(qrels, state.measures or DEFAULT_MEASURES, **self.rules(state))
        ranked, found, refused = {}, [], {}
        for number, (name, file) in enumerate(runs.items(), 1):
            self.stage = f"evaluating run {number} of {len(runs)}"
            try:
                one = evaluator.ranked(self._read_run(name, file), naming(evaluator))
                found.append(evaluator(one))
                one.forget()
                ranked[name] = one
            except IdealistError as error:
                refused[name] = str(error)
        return Measured(evaluator, ranked, Evaluations(tuple(found)), refused)

    def compared(self, state: PageState, runs: Sequence[str]) -> Comparison:
        """Compare runs, the first of which is the baseline, by the rules of a page."""
        own, slices = self.measured(state), self.slices(state)
        key = ("compared", own.evaluator.qrels.hash, self._run_key(state, runs), state.column)

        def make() -> Comparison:
            self.stage = f"comparing {len(runs)} runs"
            with own.lock:
                return compare(
                    own.evaluator.qrels, [own.ranked[run] for run in runs],
                    state.measures or COMPARED, baseline=0, slices=slices, **self.rules(state),
                )  # fmt: skip

        return self._once(key, make)

    def slices(self, state: PageState) -> dict[str, Any] | None:
        """Return the slice of each query, by the column that a page names."""
        if not state.column:
            return None
        known = self.queries
        if known is None or state.column not in known.columns:
            columns = list(known.columns) if known else []
            hint = nearest(state.column, columns) if columns else "give queries with columns"
            raise UsageError(f"the queries have no column {state.column!r}", hint)
        return known.column(state.column)

    def _run_key(self, state: PageState, runs: Sequence[str]) -> Any:
        known = self.runs
        stamps = tuple((name, known[name].stamp) for name in runs if name in known)
        return stamps, state.measures, state.convention, state.settings

    def audited(self, state: PageState, runs: Sequence[str]) -> Audit:
        """Audit runs by the rules of a page; the audit says what is wrong with unreadable ones."""
        return self._verb("audit", state, runs, lambda qrels, read: audit(
            qrels, read, state.measures or DEFAULT_MEASURES, texts=self.queries,
            **self.rules(state),
        ))  # fmt: skip

    def diagnosed(self, state: PageState, run: str) -> Diagnosis:
        """Diagnose a run by the rules of a page."""
        more: dict[str, Any] = {"measures": state.measures} if state.measures else {}
        return self._verb("diagnose", state, [run], lambda qrels, read: diagnose(
            qrels, read[run], texts=self.queries, slices=self.slices(state),
            **more, **self.rules(state),
        ))  # fmt: skip

    def reported(self, state: PageState, runs: Sequence[str]) -> Report:
        """Report on runs, the first of which is the baseline."""
        from idealist.reporting import report

        documents = self._of("documents", "store")
        return self._verb("report", state, runs, lambda qrels, read: report(
            qrels, read, state.measures or None, baseline=next(iter(read)), texts=self.queries,
            docs=str(documents[0].path) if documents else None,
            slices=state.column or None, **self.rules(state),
        ))  # fmt: skip

    def _verb(
        self, verb: str, state: PageState, runs: Sequence[str],
        make: Callable[[Qrels, dict[str, Any]], T],
    ) -> T:  # fmt: skip
        """Let a verb look at runs, once for the same judgments, runs and rules."""
        qrels, known = self.qrels(state), self.runs
        files = {name: self._run(name, known) for name in runs}

        def made() -> T:
            self.stage = {"audit": "auditing", "report": "writing the report"}.get(
                verb, "diagnosing"
            )
            read = self._read_or_named if verb == "audit" else self._read_run
            return make(qrels, {name: read(name, one) for name, one in files.items()})

        return self._once((verb, qrels.hash, self._run_key(state, runs), state.column), made)


def is_quick(pattern: str) -> bool:
    r"""Whether a pattern is searched quickly whatever the text: no groups, one repeat at most.

    Others can be made to take longer than anybody lives, and nothing else is answered meanwhile.

    >>> is_quick(r"_chunk-[0-9]+"), is_quick(r"#[a-f]{8}"), is_quick(r"(.*)*x"), is_quick(".*.*x")
    (True, True, False, False)
    """
    plain = re.sub(r"\\.|\[[^\]]*\]|\{\d{1,3}\}", "", pattern)
    return not re.search(r"[(){}|]", plain) and len(re.findall(r"[*+?]", plain)) <= 1


def _joined(found: Sequence[FoundFile]) -> Queries:
    """Read the queries of several files; the first that knows a query tells it."""
    read = [read_queries(str(one.path)) for one in found]
    text: dict[str, str] = {}
    columns: dict[str, dict[str, Any]] = {}
    for one in reversed(read):
        text |= {query: words for query, words in one.text.items() if words or query not in text}
        for name, cells in one.columns.items():
            columns.setdefault(name, {}).update(cells)
    return Queries(text, columns, read[0].name)


def _scale(qrels: Qrels | None) -> Any:
    """Propose the grades of a store: those of the judgments, from 0 on where they are whole."""
    if qrels is None or not len(qrels):
        return 3
    if qrels.scale is not None:
        labels = qrels.scale.labels
        pairs = dict(zip(qrels.scale.grades, labels, strict=True)) if labels else None
        return pairs or list(qrels.scale.grades)
    given = {float(grade) for grade in qrels.grades.tolist()}
    low, high = min(given), max(given)
    if all(grade.is_integer() for grade in given) and high - low <= 10:
        return list(range(int(min(low, 0)), int(max(high, 1)) + 1))
    return sorted(given)
