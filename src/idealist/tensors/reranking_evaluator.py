"""An evaluator for sentence-transformers: our measures while a reranker or embedder is trained."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

try:
    from sentence_transformers.base.evaluation.evaluator import BaseEvaluator
except ImportError:  # before sentence-transformers 6
    from sentence_transformers.evaluation import SentenceEvaluator as BaseEvaluator

from idealist.errors import Faults
from idealist.evaluating.evaluation import Evaluation
from idealist.tensors.meter import Meter


class Sample(NamedTuple):
    """A query, its candidates with their grades, and the grades of answers not among them."""

    query: str
    documents: list[str]
    labels: list[float]
    others: list[float]


class RerankingEvaluator(BaseEvaluator):  # type: ignore[misc]  # the package has no types here
    """Ranks each sample's documents with the model, and measures the lists.

    A sample is {"query", "documents", "labels"} with a grade for each document; or, as
    sentence-transformers has it, {"query", "positive", "negative"} or {"query", "positive",
    "documents"}, where positives outside `documents` count as not retrieved. The model is a
    CrossEncoder, or a SentenceTransformer, whose own similarity ranks then. `rules` are those of
    `Meter`. After a call `evaluation` holds the values of each query, intervals and doubts.
    """

    def __init__(
        self,
        samples: Iterable[Mapping[str, Any]],
        measures: Any = ("nDCG@10", "RR@10", "AP"),
        *,
        name: str = "",
        batch_size: int = 64,
        show_progress_bar: bool = False,
        write_csv: bool = True,
        **rules: Any,
    ) -> None:
        super().__init__()
        self.samples = [_sample(i, one) for i, one in enumerate(samples)]
        if not any(one.documents for one in self.samples):
            Faults("samples").fail("empty", "no sample has documents", "give at least one")
        self.meter = Meter(measures, name=name or "run", **rules)
        self.name, self.write_csv = name, write_csv
        self.options = {"batch_size": batch_size, "show_progress_bar": show_progress_bar}
        self.primary_metric = next(iter(self.meter.rules.measures))
        first = self.meter.rules.measures[self.primary_metric]
        self.greater_is_better = first.direction > 0
        self.evaluation: Evaluation | None = None

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Measure the model; return {measure: value}, with the name in front if there is one."""
        scores = np.asarray(self._scores(model), np.float64)
        meter = self.meter.fresh()
        meter.update(
            scores,
            np.array([grade for one in self.samples for grade in one.labels]),
            group=[len(one.documents) for one in self.samples],
            judged=[one.others for one in self.samples],
        )
        self.evaluation = meter.evaluation()
        found = meter.compute()
        if output_path is not None and self.write_csv:
            self._write(Path(output_path), {"epoch": epoch, "steps": steps, **found})
        named: dict[str, float] = self.prefix_name_to_metrics(found, self.name)
        self.store_metrics_in_model_card_data(model, named, epoch, steps)
        return named

    def _scores(self, model: Any) -> Any:
        pairs = [(one.query, document) for one in self.samples for document in one.documents]
        if hasattr(model, "predict"):
            return np.asarray(model.predict(pairs, **self.options)).reshape(-1)
        queries, documents = (list(dict.fromkeys(side)) for side in zip(*pairs, strict=True))
        places = [{text: i for i, text in enumerate(side)} for side in (queries, documents)]
        vectors = [model.encode(side, convert_to_tensor=True, **self.options)
                   for side in (queries, documents)]  # fmt: skip
        rows, columns = ([place[pair[i]] for pair in pairs] for i, place in enumerate(places))
        found = model.similarity_pairwise(vectors[0][rows], vectors[1][columns])
        return np.asarray(found.float().cpu())

    def _write(self, folder: Path, row: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", f"_{self.name}" if self.name else "")
        path = folder / f"idealist{name}_results.csv"
        is_new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(row))
            if is_new:
                writer.writeheader()
            writer.writerow(row)


def _sample(i: int, given: Mapping[str, Any]) -> Sample:
    """Read one sample in any of its forms."""
    known = given.keys() if isinstance(given, Mapping) else set()
    keys = known & {"documents", "labels", "positive", "negative"}
    positive, negative, documents = (
        _texts(given[key]) if key in known else [] for key in ("positive", "negative", "documents")
    )
    positive = list(dict.fromkeys(positive))
    others: list[float] = []
    labels = _grades(given["labels"]) if "labels" in known else []
    if "query" in known and keys == {"documents", "labels"} and len(labels) == len(documents):
        pass
    elif "query" in known and keys == {"positive", "negative"}:
        documents = positive + [text for text in negative if text not in positive]
        labels = [1.0] * len(positive) + [0.0] * (len(documents) - len(positive))
    elif "query" in known and keys == {"positive", "documents"}:
        labels = [float(document in positive) for document in documents]
        others = [1.0] * len(set(positive) - set(documents))
    else:
        hint = (
            "give query and documents with as many labels, or positive with negative or documents"
        )
        what = ", ".join(sorted(map(str, known))) or f"{given!r:.40}"
        Faults("samples").fail("bad-shape", f"sample {i} has {what}", hint)
    return Sample(str(given["query"]), documents, labels, others)


def _texts(given: Any) -> list[str]:
    """Read one text or several."""
    return [given] if isinstance(given, str) else list(map(str, given))


def _grades(given: Any) -> list[float]:
    try:
        return [float(grade) for grade in given]
    except (TypeError, ValueError):
        return []
