"""What differs between signatures: axis by axis, and whether two numbers may be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from idealist.conventions.signature import Signature, meaning
from idealist.errors import UsageError
from idealist.rendering.document import Document, Items, Table
from idealist.rendering.result import Result


@dataclass(frozen=True, repr=False)
class SignatureDiff(Result):
    """By measure, the axes in which two signatures differ, with the value of either.

    >>> one, other = (Signature.parse(f"AP|{name}|qrels:2057cbf8e7|rules:1")
    ...               for name in ("trec_eval", "sklearn"))
    >>> SignatureDiff.of({"AP": one}, {"AP": other}).axes["AP"]["missing"]
    ('zero', 'skip')
    """

    axes: Mapping[str, Mapping[str, tuple[str, str]]]

    @classmethod
    def of(cls, a: Mapping[str, Signature], b: Mapping[str, Signature]) -> SignatureDiff:
        """Compare the signatures of equal measures, or the only ones of both."""
        return cls({label: one.diff(other) for label, one, other in _paired(a, b)})

    @property
    def comparable(self) -> tuple[str, ...]:
        """The measures whose signatures agree: only their numbers may be compared."""
        return tuple(label for label, axes in self.axes.items() if not axes)

    @property
    def summary(self) -> str:
        """In how many axes they differ."""
        count = sum(map(len, self.axes.values()))
        return f"the signatures differ in {count} axes" if count else "the signatures agree"

    def table(self) -> Table:
        """Tabulate the axes that differ, and what that means."""
        rows = [
            (label, axis, *pair, meaning(axis))
            for label, axes in self.axes.items()
            for axis, pair in axes.items()
        ]
        return Table.of(["measure", "axis", "A", "B", "what it means"], [], rows)

    def report(self) -> Document:
        """Show the axes that differ, and the measures that agree in all."""
        same = tuple(f"{label}: the signatures agree" for label in self.comparable)
        return Document((self.table(), Items(same)))

    def data(self) -> Mapping[str, Mapping[str, tuple[str, str]]]:
        """Return the axes that differ, by measure."""
        return self.axes


def measure_of(signature: Signature) -> str:
    """Name the measure of a signature, with its cutoff.

    >>> measure_of(Signature.parse("nDCG@10|trec_eval|qrels:2057cbf8e7|rules:1"))
    'nDCG@10'
    """
    fields = signature.fields
    return fields["measure"] + ("" if fields["cutoff"] == "none" else f"@{fields['cutoff']}")


def _paired(
    a: Mapping[str, Signature], b: Mapping[str, Signature]
) -> list[tuple[str, Signature, Signature]]:
    """Pair the signatures of equal measures, or the only ones of both."""
    if len(a) == len(b) == 1:
        return [(next(iter(a)), next(iter(a.values())), next(iter(b.values())))]
    common = [label for label in a if label in b]
    if not common:
        hint = f"A has {', '.join(a)}; B has {', '.join(b)}"
        raise UsageError("the two have no measure in common", hint)
    return [(label, a[label], b[label]) for label in common]
