"""Objects of other libraries as plain data, by their shape and without importing any of them.

LangChain's Document, LlamaIndex's NodeWithScore, Haystack's Document, samples of ragas and test
cases of DeepEval are all objects whose attributes are what their JSON would hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from idealist.formats.column_names import folded

#: What pydantic's models have; they iterate over their fields, which no list of documents does.
MODELS = ("model_fields", "__fields__")


def opened(value: Any) -> Any:
    """Return an object's attributes by name, an array's cells; plain data stays as it is.

    >>> class Document:
    ...     def __init__(self):
    ...         self.id, self.score = "d1", 0.5
    >>> opened(Document()), opened("d1"), opened([1])
    ({'id': 'd1', 'score': 0.5}, 'd1', [1])
    """
    if isinstance(value, (str, Mapping, list, int, float)) or value is None:
        return value
    if hasattr(value, "_asdict"):
        return value._asdict()
    if hasattr(value, "tolist") and not hasattr(value, "to_dict"):  # an array, and no series
        return value.tolist()
    is_model = any(hasattr(type(value), name) for name in MODELS)
    if isinstance(value, (type, Iterable)) and not is_model:
        return value
    found = getattr(value, "__dict__", {})
    fields = {name: field for name, field in found.items() if not name.startswith("_")}
    return fields or value


def names_in(objects: Iterable[Mapping[Any, Any]]) -> tuple[Any, ...]:
    """Collect the names of all objects; most of them have the same.

    >>> names_in([{"id": 1}, {"id": 2, "score": 3}])
    ('id', 'score')
    """
    return tuple(dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, objects)))))


def flat(
    data: Mapping[Any, Any], parts: frozenset[str], keep: Any = lambda part: False
) -> Mapping[Any, Any]:
    """Name the fields of some parts from outside, with a dot; a part that is kept stays whole.

    >>> flat({"node": {"id_": "n1"}, "score": 2}, frozenset({"node"}))
    {'node.id_': 'n1', 'score': 2}
    """
    if not any(_is_part(name, value, parts) for name, value in data.items()):
        return data
    return dict(_fields(data, parts, keep))


def _is_part(name: Any, value: Any, parts: frozenset[str]) -> bool:
    plain = isinstance(value, (str, int, float, list)) or value is None
    return not plain and folded(name) in parts


def _fields(data: Mapping[Any, Any], parts: frozenset[str], keep: Any) -> Iterator[tuple[Any, Any]]:
    for name, value in data.items():
        inner = opened(value) if _is_part(name, value, parts) else None
        if isinstance(inner, Mapping) and not keep(inner):
            for own, field in _fields(inner, parts, keep):
                yield f"{name}.{own}", field
        else:
            yield name, value
