"""What other tools call our columns: the one table of such names."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NoReturn

from idealist.errors import Faults

#: Our name of each column and the names understood as it. Case, spaces, hyphens and underscores do
#: not matter. Names of an earlier line are preferred: one that says id comes before one that may be
#: a text or an address. Names of one line could each be meant, so that two of them are refused.
_TIERS = {
    "query": (
        "query_id qid topic_id question_id",
        "query topic",
        "query_text query_string search_query search_term search_terms search_phrase search_string "
        "search_keyword keyword keywords phrase search user_query user_input top_queries question "
        "term q",
    ),
    "document": (
        "docno",  # beside it, PyTerrier's docid is a number of its own
        "doc_id document_id corpus_id pid passage_id chunk_id product_id product_uid item_id sku "
        "asin article_id object_id node_id",
        "document doc",
        "item product passage chunk article page url uri link url_hash uri_hash page_url "
        "product_url document_url doc_url",
    ),
    "grade": (
        "grade relevance rel label rating judgment judgement gain stars star_rating esci_label "
        "relevance_grade relevance_label relevance_rating relevancy is_relevant relevant",
    ),
    "score": ("score sim similarity similarity_score relevance_score search_score",),
    "rank": ("rank position doc_position pos result_position result_rank search_rank",),
    "tokens": ("tokens token_count num_tokens n_tokens",),
    "judge": (
        "judge_id rater_id assessor_id annotator_id worker_id",
        "judge rater assessor annotator worker labeler labeller coder",
    ),
    "subtopic": ("subtopic",),
    "iteration": ("iteration iter",),
}
TIERS = {column: [tuple(tier.split()) for tier in tiers] for column, tiers in _TIERS.items()}
#: The same names in order of preference.
ALIASES = {column: tuple(chain(*tiers)) for column, tiers in TIERS.items()}
#: Those that nobody has to be told the meaning of.
PLAIN = frozenset([
    "queryid", "qid", "query", "topicid", "topic", "docno", "docid", "documentid", "corpusid",
    "pid", "document", "doc", "grade", "relevance", "rel", "label", "rating", "score", "rank",
    "tokens", "subtopic", "iteration", "iter", "querytext", "docposition", "chunkid",
])  # fmt: skip

#: Names of grades that may be what customers or search engines say.
WEAK_GRADES = frozenset(["rating", "score", "stars", "starrating"])

#: In a table of queries: names of the id, and of the text; ``query`` may be either.
QUERY_IDS = ("query_id", "qid", "topic_id", "_id", "id")
QUERY_TEXTS = ("text", "query_text")

#: In a log of queries: names of the text, that of a text before one that may be an id; and names of
#: how often it was asked.
LOGGED_TEXTS = ("query_text", "text", *chain(*TIERS["query"][1:]))
LOGGED_COUNTS = (
    "count", "searches", "search_count", "query_count", "num_searches", "frequency", "freq",
    "traffic", "volume", "search_volume", "requests", "impressions",
)  # fmt: skip

#: In a collection: names of the id, that of a part before that of the whole; of the title; and of
#: the text, where the last ones may be the id as well.
DOCUMENT_IDS = ("_id", "id", "docno", "pid", "passage_id", "chunk_id", *ALIASES["document"])
TITLES = (
    "title", "headline", "heading", "subject", "name", "doc_title", "document_title", "page_title",
    "product_title", "product_name",
)  # fmt: skip
DOCUMENT_TEXTS = (
    "text", "contents", "content", "body", "abstract", "description", "segment", "summary",
    "snippet", "page_content", "doc_text", "document_text", "passage_text", "chunk_text",
    "product_description", "passage", "chunk", "document", "doc",
)  # fmt: skip

#: Where in a document a chunk or a piece of evidence is: names of its start, of its end, and of its
#: text; and names of the document, which are preferred to those of the chunk.
STARTS = (
    "start", "start_index", "start_char", "char_start", "start_char_idx", "start_offset",
    "offset_start", "begin",
)  # fmt: skip
ENDS = (
    "end", "end_index", "end_char", "char_end", "end_char_idx", "end_offset", "offset_end", "stop",
)  # fmt: skip
QUOTES = (
    "quote", "text", "page_content", "content", "chunk_text", "passage_text", "contents", "body",
    "segment", "chunk", "passage",
)  # fmt: skip
WHOLES = (
    "document_id", "doc_id", "docid", "docno", "corpus_id", "document", "doc", "source",
    "file_path", "filename", "file_name", "file", "url", "path",
)  # fmt: skip

#: In a table of teams: names of the run, and of the team.
RUN_NAMES = ("run_id", "run_name", "run_tag", "run", "tag", "system", "name")
TEAM_NAMES = ("team", "team_name", "group", "participant", "organisation", "organization")

#: In records of one query each, such as logs of RAG: names that only a ranking has, names of lists
#: that are a ranking or the gold, names that only the gold has, and names of what was judged wrong.
RANKINGS = (
    "ranking", "retrieved", "retrieved_ids", "results", "hits", "retrieved_context_ids",
    "retrieved_doc_ids", "retrieved_document_ids", "retrieved_chunk_ids", "retrieved_node_ids",
    "retrieved_docs", "retrieved_documents", "retrieved_chunks", "retrieved_passages",
    "retrieved_nodes", "retrieved_contexts", "retrieval_context", "retrieval_results",
    "search_results", "source_nodes", "candidates", "ctxs", "matches", "ranked_docs",
    "ranked_list", "run", "data",
)  # fmt: skip
EITHER = (
    "ids", "docs", "documents", "doc_ids", "document_ids", "chunk_ids", "passage_ids", "node_ids",
    "contexts", "context", "chunks", "passages", "nodes", "sources",
)  # fmt: skip
GOLDS = (
    "gold", "ground_truth", "relevant", "expected", "gold_ids", "gold_docs", "gold_doc_ids",
    "gold_documents", "gold_chunks", "gold_chunk_ids", "gold_contexts", "gold_passages",
    "ground_truth_ids", "ground_truth_docs", "ground_truth_doc_ids", "ground_truth_documents",
    "ground_truth_contexts", "ground_truth_context_ids", "ground_truths", "relevant_ids",
    "relevant_docs", "relevant_doc_ids", "relevant_documents", "relevant_document_ids",
    "relevant_chunks", "relevant_chunk_ids", "relevant_contexts", "relevant_context_ids",
    "relevant_passages", "expected_ids", "expected_docs", "expected_doc_ids", "expected_documents",
    "expected_chunks", "expected_chunk_ids", "expected_contexts", "expected_context_ids",
    "expected_sources", "reference_context_ids", "reference_contexts", "reference_ids",
    "reference_docs", "reference_doc_ids", "positives", "pos", "positive_ids", "positive_doc_ids",
    "positive_passages", "positive_ctxs", "answers_docs", "qrels",
)  # fmt: skip
NEGATIVES = ("neg", "negatives", "negative_passages", "negative_ids", "negative_ctxs")
#: Names of a record's query that say id, the one that could be a number of the record, and names
#: of its text.
RECORD_IDS = ("query_id", "qid", "question_id", "topic_id")
RECORD_ID = ("id", "_id")
RECORD_TEXTS = (
    "query", "question", "user_input", "topic", "query_text", "search_query", "search_term",
    "input", "input.value", "prompt",
)  # fmt: skip
#: Lists beside the gold that grade its documents.
GRADES_BESIDE = (
    "grades", "grade", "labels", "relevances", "relevance", "ratings", "judgments",
    "relevance_grades", "relevance_labels",
)  # fmt: skip
#: Lists beside the ranking, and what each says about its documents.
BESIDE = {
    "score": "score", "similarity": "score", "relevance_score": "score", "distance": "distance",
    "scores": "score", "retrieved_scores": "score", "similarities": "score",
    "similarity_scores": "score", "relevance_scores": "score", "doc_scores": "score",
    "distances": "distance", "tokens": "tokens", "token_counts": "tokens",
}  # fmt: skip
#: What a list of records may be wrapped in.
WRAPPERS = (
    "results", "data", "samples", "queries", "records", "rows", "examples", "items", "test_cases",
    "cases", "dataset", "entries", "evaluations",
)  # fmt: skip
#: What lists by query may be wrapped in, as MTEB writes what a model retrieved.
SPLITS = ("default", "test", "dev", "validation", "train")
#: Parts of a record that hold its fields; what stands in the last ones is the gold.
PARTS = ("inputs", "input", "outputs", "output", "query", "vars", "attributes")
REFERENCES = ("reference_outputs", "reference", "expected_outputs", "expected")

#: In an item of a list: names of its id beside those of columns, names that may be an id, parts
#: that hold its fields, parts that describe it, and what the list is ranked by.
ITEM_IDS = ("id", "_id", "id_", "node_id", "passage_id", "file_id", "uuid")
MAYBE_IDS = ("document", "doc", "item", "url", "source", "filename", "file_name", "file_path",
             "path", "link")  # fmt: skip
ITEM_PARTS = ("node", "document", "doc", "chunk", "passage", "item", "entity")
METADATA = ("metadata", "meta", "payload", "attributes")
ITEM_SCORES = (
    "score", "sim", "similarity", "relevance_score", "similarity_score", "rerank_score", "_score",
)  # fmt: skip
DISTANCES = ("distance", "_distance", "dist")

#: What data frames call the row numbers they write.
ROW_NUMBERS = ("", "unnamed: 0", "__index_level_0__")
#: Columns that say nothing: Quepid's book-keeping, the same in each row, and row numbers.
SKIPPED = frozenset(
    ["team name", "case name", "case id", "snapshot name", "snapshot time", *ROW_NUMBERS]
)

#: A hint for judgments given as a run, or the reverse.
ORDER_HINT = "judgments come first, then runs"


#: Our names of the two lists of a record; what else a user may name are columns.
SIDES = ("ranking", "gold")

#: Names of theirs by ours, as a user gives them; of several names, the first that a table has.
Given = Mapping[str, str | Sequence[str]]


def ours(names: Iterable[Any], given: Given | None = None) -> dict[str, Any]:
    """Map our column names to the names found; what is `given` comes before what is usual.

    >>> ours(["query-id", "corpus-id", "score"])
    {'query': 'query-id', 'document': 'corpus-id', 'score': 'score'}
    >>> ours(["qid", "docid", "Artikel Nr"], {"document": "artikel_nr"})
    {'document': 'Artikel Nr', 'query': 'qid'}
    """
    if given:
        names = list(names)
    mine = as_told(names, given or {})
    some = tuple(name for name in _some(names) if name not in mine.values())
    known_ones = {column: _known(some, aliases) for column, aliases in ALIASES.items()}
    usual = {column: theirs[0] for column, theirs in known_ones.items() if theirs}
    return {**mine, **{column: name for column, name in usual.items() if column not in mine}}


def are_columns(names: Iterable[Any], given: Given | None = None) -> bool:
    """Whether the keys of a dict are columns and not queries, which may be words such as search.

    >>> are_columns(["query", "doc"]), are_columns(["search", "product"])
    (True, False)
    >>> are_columns(["search", "product", "rating"])
    True
    """
    found, mine = ours(names, given), as_told(names, given or {})
    plain = [key for key in ("query", "document") if key in mine or folded(found.get(key)) in PLAIN]
    named = {"query", "document"} <= found.keys()
    return named and (len(plain) == 2 or bool({"grade", "score", "rank"} & found.keys()))


def given_names(given: Given) -> list[tuple[str, str]]:
    """List ours and theirs, one by one.

    >>> given_names({"query": "search", "document": ["sku", "asin"]})
    [('query', 'search'), ('document', 'sku'), ('document', 'asin')]
    """
    several = (
        (ours, [found] if isinstance(found, str) else found) for ours, found in given.items()
    )
    return [(ours, theirs) for ours, found in several for theirs in found]


def as_told(names: Iterable[Any], given: Given) -> dict[str, Any]:
    """Map our names to those of theirs that a user gave, if they are found.

    >>> as_told(["Search", "sku"], {"query": "search", "document": "asin"})
    {'query': 'Search'}
    """
    mine: dict[str, Any] = {}
    for column, theirs in given_names(given):
        if len(alike := spelt(names, theirs)) == 1:
            mine.setdefault(column, alike[0])
    return mine


def spelt(names: Iterable[Any], theirs: str) -> list[Any]:
    """Find the names that a user may mean: the very name, or else it in another spelling.

    >>> spelt(["Product ID", "product_id"], "product_id"), spelt(["Product ID", "sku"], "PRODUCTID")
    (['product_id'], ['Product ID'])
    """
    names = list(names)
    return [theirs] if theirs in names else [n for n in names if folded(n) == folded(theirs)]


def known(names: Iterable[Any], aliases: tuple[str, ...]) -> tuple[Any, ...]:
    """Find the names that are aliases, in the order of the aliases; an exact match wins.

    >>> known(["Query ID", "score", "query"], ALIASES["query"])
    ('Query ID', 'query')
    """
    return _known(_some(names), aliases)


def _some(names: Iterable[Any]) -> tuple[Any, ...]:
    """Keep the names that may be aliases: where names are queries, there may be millions."""
    return tuple(name for name in names if folded(name) in KNOWN)


@lru_cache(1000)  # records mostly have the same names
def _known(names: tuple[Any, ...], aliases: tuple[str, ...]) -> tuple[Any, ...]:
    spelt_so: dict[str, Any] = {}
    for name in names:
        for key in (folded(name), str(name)):
            if key not in spelt_so or name == key:
                spelt_so[key] = name
    found = (spelt_so.get(alias, spelt_so.get(folded(alias))) for alias in aliases)
    return tuple(dict.fromkeys(name for name in found if name is not None))


def folded(name: Any) -> str:
    """Return a name without what does not matter about it: case, blanks, hyphens, underscores."""
    return "".join(str(name).lower().replace("_", "").replace("-", "").split())


def last(name: Any) -> str:
    """Fold the last part of a name with dots."""
    return folded(str(name).rpartition(".")[2])


@lru_cache(1000)
def matching(names: tuple[Any, ...], aliases: tuple[str, ...]) -> tuple[Any, ...]:
    """Find the names that are aliases, whole or by their last parts, in the order of the aliases.

    >>> matching(("score", "node.id_", "ID"), ("id", "score"))
    ('node.id_', 'ID', 'score')
    """
    wanted = {folded(alias): place for place, alias in reversed(list(enumerate(aliases)))}
    found = []
    for name in names:
        parts = folded(name).split(".")
        ends = (".".join(parts[start:]) for start in range(len(parts)))
        place = next((wanted[end] for end in ends if end in wanted), None)
        if place is not None:
            found.append((place, name))
    return tuple(name for _, name in sorted(found, key=lambda pair: pair[0]))


#: Every name that is understood, folded.
KNOWN = frozenset(
    folded(name)
    for names in (
        *ALIASES.values(),
        QUERY_IDS,
        QUERY_TEXTS,
        LOGGED_COUNTS,
        RUN_NAMES,
        TEAM_NAMES,
        ["weight"],
        DOCUMENT_IDS,
        TITLES,
        DOCUMENT_TEXTS,
    )
    for name in names
)


def _check_choice(names: list[Any], value: str, mine: Given, faults: Faults) -> None:
    """Refuse two columns that could each be meant: nobody can tell which one is."""
    some = _some(name for name in names if name not in mine.values())
    values = ("grade",) if value == "grade" else ("score", "rank", "tokens")
    for column in ("query", "document", *values):
        tiers = (_known(some, tier) for tier in TIERS[column])
        both = next(filter(None, tiers), ())
        if len(both) > 1 and column not in mine:
            refuse_choice(column, both, faults)


def refuse_choice(
    column: str, names: Sequence[Any], faults: Faults, line: int | None = None, place: str = ""
) -> NoReturn:
    """Refuse names that could each be meant; name the options that choose one."""
    message = f"{' and '.join(map(str, names))} could each be the {column}{place}"
    faults.fail("bad-column", message, f"choose one: {naming_option(column, names)}", line)


def naming_option(column: str, names: Iterable[Any]) -> str:
    """Write an option for each name that a column of ours may have; NAME stands for none.

    >>> naming_option("ranking", ["hits", "Top docs"]), naming_option("query", [])
    ("--columns ranking=hits or --columns 'ranking=Top docs'", '--columns query=NAME')
    """
    return " or ".join(columns_option({column: str(name)}) for name in list(names) or ["NAME"])


def columns_option(given: Given) -> str:
    """Write names as the option that gives them.

    >>> columns_option({"query": "Search term", "document": "sku"})
    "--columns 'query=Search term,document=sku'"
    """
    words = listed(f"{ours}={theirs}" for ours, theirs in given_names(given))
    return f"--columns {shlex.quote(words)}"


def listed(words: Iterable[str]) -> str:
    """Write words between commas, in quotes where they have commas themselves.

    >>> listed(["query", "a,b"])
    'query,"a,b"'
    """
    line = io.StringIO()
    csv.writer(line).writerow(words)
    return line.getvalue().removesuffix("\r\n")


def _check_kind(found: dict[str, Any], faults: Faults) -> None:
    """Refuse a run given as judgments; without ranks, it could be BEIR's judgments."""
    if "grade" not in found and {"score", "rank"} <= found.keys():
        message = f"{found['score']} and {found['rank']} are columns of a run; there is no grade"
        option = columns_option({"grade": found["score"]})
        faults.fail("bad-column", message, f"{ORDER_HINT}; if it is the grade: {option}")


def renamed(
    names: Iterable[Any], value: str, faults: Faults, given: Given | None = None
) -> dict[Any, str]:
    """Map the names found to ours, or to themselves if we have none; `value` is the main column.

    BEIR's judgments call the grade score. A column ``query`` beside ``qid`` is the text. Quepid's
    runs may have ratings and no score: as grades, these would make judgments of them. Where a user
    names the ranks and no scores, the ranks count.

    >>> renamed(["qid", "pid", "score", "utility"], "grade", Faults())
    {'qid': 'query', 'pid': 'document', 'score': 'grade', 'utility': 'utility'}
    """
    names = list(names)
    given = given or {}
    found = ours(names, given)
    if value == "grade":
        _check_kind(found, faults)
        if "grade" not in found and "score" in found:
            found["grade"] = found.pop("score")
    elif "grade" not in given and _known((found.get("grade"),), ("rating",)):
        found["rating"] = found.pop("grade")
    if value == "score" and "rank" in as_told(names, given) and "score" not in given:
        found.pop("score", None)  # the column that a user named ranks
    _check_choice(names, value, as_told(names, given), faults)
    own = {theirs: name for name, theirs in found.items()}
    for name in names:
        try:
            name.encode()
        except (AttributeError, ValueError):  # no text, or a lone surrogate in it
            message = f"{name!a} cannot be the name of a column"
            faults.fail("bad-column", message, "use text for the names of columns")
    others = {name: _free(name, names) if name in ALIASES else str(name) for name in names}
    return {
        name: own.get(name, others[name]) for name in names if name.strip().lower() not in SKIPPED
    }


def _free(name: str, names: list[Any]) -> str:
    """Rename a column that is not what its name says, such as a query's text."""
    while (name := f"{name}_text") in names:
        pass
    return name
