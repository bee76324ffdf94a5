"""What textbooks and papers write: the default with another gain, or another discount."""

from __future__ import annotations

from idealist.conventions.base import Axes, Convention
from idealist.measures import Measure


def _burges(measure: Measure) -> Axes:
    return {"gain": "exp2"} if measure.name in ("CG", "DCG", "nDCG") else {}


def _jarvelin_kekalainen(measure: Measure) -> Axes:
    return {"discount": "jk(2)"}


BURGES = Convention(
    "burges", "Burges et al. 2005, doi:10.1145/1102351.1102363", "2005", "derived", _burges
)
JARVELIN_KEKALAINEN = Convention(
    "jarvelin-kekalainen", "Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418", "2002",
    "derived", _jarvelin_kekalainen,
)  # fmt: skip
