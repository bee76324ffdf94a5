"""`idealist judge`: the verbs of judging."""

from __future__ import annotations

from idealist.cli.lazy_group import LazyGroup

#: Every verb of judging: where it lives and what the overview says of it.
VERBS: dict[str, tuple[str, str]] = {
    "init": ("idealist.cli.judge_setup", "Make a store: scale, queries, texts of documents."),
    "add": ("idealist.cli.judge_setup", "Add queries or texts, or change scale and guidelines."),
    "pool": ("idealist.cli.judge_pool", "Choose which documents to judge."),
    "next": ("idealist.cli.judge_people", "Show the next pair to judge."),
    "grade": ("idealist.cli.judge_people", "Judge, pair after pair or a single one."),
    "adjudicate": ("idealist.cli.judge_people", "Decide where judges disagree."),
    "import": ("idealist.cli.judge_files", "Add judgments from a file."),
    "export": ("idealist.cli.judge_files", "Write everything, or judgments in any format."),
    "status": ("idealist.cli.judge_state", "Say how far judging is, and who did what."),
    "estimate": ("idealist.cli.judge_pool", "Estimate measures from a judged sample."),
    "prompt": ("idealist.cli.judge_model", "Show what models are asked, or check a prompt."),
    "llm": ("idealist.cli.judge_model", "Have a model judge documents."),
    "prefer": ("idealist.cli.judge_model", "Have a model compare documents, two by two."),
    "probe": ("idealist.cli.judge_model", "Find out what moves the grades of a model."),
    "agree": ("idealist.cli.judge_agree", "Say how far the judges of a store agree."),
    "doctor": ("idealist.cli.judge_state", "Check that a store is sound."),
}

command = LazyGroup(
    name="judge",
    verbs=VERBS,
    help="""Keep judgments in a store, and say what to judge next.

    \b
    Example:
      idealist judge init labels.db --scale 0..3 --queries queries.tsv --docs corpus.jsonl
      idealist judge pool labels.db bm25.run dense.run --by depth --depth 10
      idealist judge grade labels.db
      idealist eval labels.db bm25.run dense.run
    """,
)
