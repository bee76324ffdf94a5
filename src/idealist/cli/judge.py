"""`idealist judge`: the verbs of judging."""

from __future__ import annotations

from idealist.cli.lazy_group import LazyGroup

#: Every verb of judging: where it lives and what the overview says of it.
VERBS: dict[str, tuple[str, str]] = {
    "prompt": ("idealist.cli.judge_prompt", "Show what models are asked, or check a prompt."),
    "llm": ("idealist.cli.judge_llm", "Have a model judge documents."),
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
