"""What the verbs find in what is open, computed once for the same data and rules."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from idealist.auditing import Audit, audit
from idealist.comparing import COMPARED, Comparison, compare, naming
from idealist.conventions import DEFAULT
from idealist.data import Qrels
from idealist.diagnosing import Diagnosis, diagnose
from idealist.errors import IdealistError, UsageError, nearest
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluations import Evaluations
from idealist.evaluating.evaluator import DEFAULT_MEASURES, Evaluator
from idealist.judging.store import Store
from idealist.measures.instrument import typed_axes
from idealist.protocol import names_file
from idealist.ranking.ranked import Ranked
from idealist.web.found_files import FoundFile
from idealist.web.open_files import OpenFiles
from idealist.web.page_state import PageState

if TYPE_CHECKING:
    from idealist.reporting.report_result import Report

T = TypeVar("T")

#: What is said while a verb is at work.
STAGES = {"audit": "auditing", "report": "writing the report", "diagnose": "diagnosing"}


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


class Workspace(OpenFiles):
    """Everything that pages ask for."""

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
        return self._lately(key, lambda: self._measure(qrels, known, state))

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
        """Return all that numbers depend on, the judgments aside."""
        known = self.runs
        stamps = tuple((name, known[name].stamp) for name in runs if name in known)
        return stamps, self.query_stamp, state.measures, state.convention, state.settings

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

        documents = [*self._of("documents"), *self._of("store")]
        return self._verb("report", state, runs, lambda qrels, read: report(
            qrels, read, state.measures or None, baseline=next(iter(read)), texts=self.queries,
            docs=str(documents[0].path) if documents else None,
            slices=state.column or None, **self.rules(state),
        ))  # fmt: skip

    def _verb(
        self, verb: str, state: PageState, runs: Sequence[str],
        make: Callable[[Qrels, dict[str, Any]], T],
    ) -> T:  # fmt: skip
        """Let a verb look at runs, once for the same judgments, runs, rules and texts."""
        qrels, known = self.qrels(state), self.runs
        files = {name: self._run(name, known) for name in runs}

        def made() -> T:
            self.stage = STAGES[verb]
            read = self._read_or_named if verb == "audit" else self._read_run
            return make(qrels, {name: read(name, one) for name, one in files.items()})

        texts = tuple(map(self._text_stamp, self._of("documents", "store")))
        key = (verb, qrels.hash, self._run_key(state, runs), state.column, texts)
        return self._once(key, made)

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


def is_quick(pattern: str) -> bool:
    r"""Whether a pattern is searched quickly whatever the text: no groups, one repeat at most.

    Others can be made to take longer than anybody lives, and nothing else is answered meanwhile.

    >>> is_quick(r"_chunk-[0-9]+"), is_quick(r"#[a-f]{8}"), is_quick(r"(.*)*x"), is_quick(".*.*x")
    (True, True, False, False)
    """
    plain = re.sub(r"\\.|\[[^\]]*\]|\{\d{1,3}\}", "", pattern)
    return not re.search(r"[(){}|]", plain) and len(re.findall(r"[*+?]", plain)) <= 1
