"""What trec_eval prints: its lines and its help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from idealist._version import __version__
from idealist.dropin.arguments import USAGE, Options
from idealist.dropin.entries import ENTRIES, NICKNAMES, Column, marked

#: Placeholder for the query in a line's format; no id contains it.
_QUERY = "\x00"


def query_lines(
    columns: Sequence[Column], queries: Sequence[str], cells: Sequence[Sequence[object]], z: bool
) -> Iterator[str]:
    """Yield the lines of each query; `cells` holds one column of values per column."""
    form = "".join(_line(one, z) for one in columns)
    for query, *values in zip(queries, *cells, strict=True):
        yield form.replace(_QUERY, query.replace("%", "%%")) % tuple(values)


def _line(column: Column, z: bool) -> str:
    label = column.label.replace("%", "%%")
    if column.length or column.entry.name == "relstring":
        return f"{label:<22}\t{_QUERY}\t'%s'\n"
    value = "%d" if column.entry.is_count and not z else "%6.4f"
    return f"{'Z' if z else ''}{label:<22}\t{_QUERY}\t{value}\n"


def summary_line(label: str, value: str | int | float, z: bool = False) -> str:
    """Write a line over all queries."""
    shown = f"{value:6.4f}" if isinstance(value, float) else str(value)
    return f"{'Z' if z else ''}{label:<22}\tall\t{shown}\n"


_OPTIONS = """\
  -q          also print the values of each query
  -n          do not print the values over all queries
  -m NAME     compute this measure, or the measures of a nickname; parameters follow a dot:
              -m P.5,10 -m ndcg.1=3,2=9 -m iprec_at_recall.0,.5,1
  -c          count judged queries missing from the run as 0
  -l LEVEL    lowest relevant grade (1); the gains of grades do not depend on it
  -J          remove unjudged documents from the run
  -M DEPTH    use only the first DEPTH documents of each query
  -N SIZE     number of documents in the collection, for utility
  -R KIND     format of the judgments: qrels, qrels_jg (judges in column 2), prefs (query,
              group, subgroup, document, level) or qrels_prefs (qrels read as preferences)
  -T KIND     format of the run: trec_results
  -D N.QUERY  evaluate only this query
  -Z FILE     print z-scores; FILE holds query, measure, mean and standard deviation
  -h          print this help, and explain the measures given with -m
  -v          print the version
  --as VER    follow the rules of this version: 10.0 or 9.0.8

Files may be compressed; - is standard input. Exit codes: 1 wrong usage, 2 a file that cannot
be read or a wrong parameter, 4 a measure that cannot be computed, 7 no query both judged and in
the run.

Examples:
  idealist trec-eval qrels.txt bm25.run
  idealist trec-eval -q -c -m ndcg_cut.10,20 -m map qrels.txt bm25.run
  idealist trec-eval --as 9.0.8 -m official qrels.txt bm25.run"""


def help_text(options: Options) -> str:
    """Explain the options and the requested measures."""
    parts = [USAGE, "Evaluate a run like trec_eval, to the byte.", _OPTIONS]
    if not options.measures:
        listed = (f"  {name:<10}  {names}" for name, names in NICKNAMES.items())
        names = " ".join(entry.name for entry in ENTRIES if entry.since <= options.version)
        parts += ["Nicknames:\n" + "\n".join(listed), f"Measures:\n  {names}"]
    else:
        names_of = marked(options.measures, options.version)
        parts += [_explained(entry.name, entry.ours) for entry in ENTRIES if entry.name in names_of]
    return "\n\n".join(parts)


def _explained(name: str, ours: str) -> str:
    words = {
        "runid": "The name of the run: the last column of its last line.",
        "num_q": "The number of queries that count.",
        "relstring": "The grades of the first ten documents, or as many as relstring.N says: a "
        "digit each,\n> for more than 9, - for a document that was not pooled, . for one that was "
        "pooled but not judged.",
    }
    if name in words:
        return f"{name}\n\n{words[name]}"
    # and NumPy, which no other help needs
    from idealist.conventions.describe import describe, explained

    return f"{name}\n\n{explained(describe(ours))}"


def version_text(options: Options) -> str:
    """Name our version and the version of trec_eval we follow."""
    return f"idealist {__version__}, as trec_eval {'10.0' if options.version >= 10 else '9.0.8'}"
