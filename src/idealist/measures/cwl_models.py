"""Readers who stop by rank and gain: CWL, SDCG, INSQ, INST, SET, NPV and NERR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from idealist.measures.cwl import POSITIVE, Page, UserModel
from idealist.measures.stopping import GOING_ON
from idealist.notation import Kind, Value, choice, number, parameter
from idealist.ranking.padded_lists import Array

#: A depth beyond which a reader goes on for certain, to the last digit.
FARTHEST = 1e300
#: A beta below which the weights of SET no longer change relative to each other.
NEAREST = 1e-200


@dataclass(frozen=True, kw_only=True, repr=False)
class CWL(UserModel):
    """The reader behind P, RR, AP or RBP: what is gained, spent and looked at.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = Π_{i<r} C_i, with C = 1 up to rank k (P), 1 up to the
    first document with a gain (RR), p (RBP), and V_r = Σ_{i≥r} g_i / i over that of rank 1 (AP)

    With binary gains EU is P@k, RR, RBP and AP(denominator=R_list), each of the first `max_depth`
    documents; the other reports are what those measures do not tell. cwl_eval's TrAP has AP's usual
    denominator, R, and no reader. See `report` for what can be asked for.

    >>> reader = CWL(model="RR")
    >>> reader([0, 0, 1]), CWL(model="RR", report="ED")([0, 0, 1])
    (0.3333333333333333, 3.0)

    Reference: Moffat et al. 2017, doi:10.1145/3052768; Azzopardi et al. 2019 for cwl_eval,
    doi:10.1145/3331184.3331398
    """

    model: str = parameter("RBP", choice("P", "RR", "AP", "RBP"), "the measure whose reader it is")
    p: float = parameter(0.8, GOING_ON, "the probability to go on, in RBP")

    takes_cutoff: ClassVar[bool] = True

    def goes_on(self, page: Page) -> Array:
        """Go on to the cutoff, to the first gain, or by chance."""
        if self.model == "RR":
            return page.number(page.gain <= 0)
        if self.model == "P":
            return page.number(page.rank < (self.cutoff or self.max_depth))
        return page.xp.full_like(page.rank, float(self.p))

    def looks(self, page: Page) -> tuple[Array, Array]:
        """Look at each rank, in AP, in proportion to what can be found from there on."""
        if self.model != "AP":
            return super().looks(page)
        xp = page.xp
        left = xp.flip(page.so_far(xp.flip(page.gain / page.rank, axis=1)), axis=1)
        whole = left[:, :1]
        share = left / xp.where(whole > 0, whole, 1.0)
        looked = xp.where(whole > 0, share, page.number(page.rank == 1))
        return looked, xp.zeros_like(whole)


@dataclass(frozen=True, kw_only=True, repr=False)
class SDCG(UserModel):
    """Scaled DCG: DCG over that of k perfect documents, so that its discounts sum to 1.

    Formula: Σ_{r≤k} g_r / log2(r+1) / Σ_{r≤k} 1 / log2(r+1), or C_r = log2(r+1) / log2(r+2)

    cwl_eval prints it as NDCG-k; there is no ideal list. ir_measures' ``SDCG(max_rel=3)@5`` is
    ``SDCG(gain=scaled(0,3))@5``. See `report` for what else the reader tells.

    >>> round((SDCG @ 3)([1, 0, 1]), 4)
    0.7039

    Reference: Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418; Moffat et al. 2017 for the
    reader, doi:10.1145/3052768
    """

    takes_cutoff: ClassVar[bool] = True
    stops: ClassVar[bool] = True

    def goes_on(self, page: Page) -> Array:
        """Go on as discounts shrink."""
        return page.xp.log2(page.rank + 1.0) / page.xp.log2(page.rank + 2.0)


def _patience(page: Page, depth: Array) -> Array:
    """Go on more surely the greater a depth is: the continuation probability of INSQ."""
    depth = page.xp.clip(depth, None, FARTHEST)
    return ((depth - 1.0) / depth) ** 2


@dataclass(frozen=True, kw_only=True, repr=False)
class INSQ(UserModel):
    """INSQ: a reader who wants T documents goes on the more surely the deeper the rank.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = Π_{i<r} C_i, C_i = ((i + 2T - 1) / (i + 2T))²

    See `report` for what else the reader tells.

    >>> round(INSQ(T=1)([1, 0, 1]), 4)
    0.4853

    Reference: Moffat et al. 2012, doi:10.1145/2407085.2407092
    """

    T: float = parameter(1, number(0), "the gain that is wanted")

    def goes_on(self, page: Page) -> Array:
        """Go on the more surely the deeper the rank."""
        return _patience(page, page.rank + 2.0 * self.T)


@dataclass(frozen=True, kw_only=True, repr=False)
class INST(UserModel):
    """INST: like INSQ, but what was found already counts towards the T documents wanted.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = Π_{i<r} C_i, C_i = ((i + T + T_i - 1) / (i + T + T_i))²,
    T_i = T - Σ_{j≤i} g_j

    A T below 0.5 would make C larger than 1. See `report` for what else the reader tells.

    >>> round(INST(T=1)([1, 0, 1]), 4)
    0.7233

    Reference: Moffat et al. 2015, doi:10.1145/2838931.2838938; Moffat et al. 2017,
    doi:10.1145/3052768
    """

    T: float = parameter(1, number(0.5), "the gain that is wanted")

    def goes_on(self, page: Page) -> Array:
        """Go on the less surely the more was found."""
        left = min(float(self.T), FARTHEST) - page.so_far(page.gain)
        return _patience(page, page.rank + min(float(self.T), FARTHEST) + left)


def _check_beta(value: Any) -> Value:
    beta = POSITIVE.check(value)
    if float(beta) > 1:
        raise ValueError(value)
    return beta


@dataclass(frozen=True, kw_only=True, repr=False)
class SET(UserModel):
    """Search economics: a reader to whom each further document is worth less than the one before.

    Formula: EU = Σ_{r≤k} w_r g_r / Σ_{r≤k} w_r, w_r = (r+1)^β - r^β

    The economic model has the total gain k^β of k documents, so that rank r adds r^β - (r-1)^β.
    cwl_eval, which is followed here, starts at the second rank's weight. See `report` for what else
    the reader tells.

    >>> round((SET @ 3)([1, 0, 1]), 4)
    0.6822

    Reference: Azzopardi 2014, doi:10.1145/2600428.2609574
    """

    beta: float = parameter(
        0.5, Kind("a number above 0, at most 1", _check_beta), "how little returns diminish"
    )

    takes_cutoff: ClassVar[bool] = True
    stops: ClassVar[bool] = True

    def goes_on(self, page: Page) -> Array:
        """Go on as returns diminish."""
        return self._weight(page, page.rank + 1.0) / self._weight(page, page.rank)

    def _weight(self, page: Page, rank: Array) -> Array:
        """Compute (r+1)^β - r^β without subtracting numbers that are nearly equal."""
        beta = max(float(self.beta), NEAREST)
        return rank**beta * page.xp.expm1(beta * page.xp.log1p(1.0 / rank))


@dataclass(frozen=True, kw_only=True, repr=False)
class NPV(UserModel):
    """Net present value: each further document is discounted by a rate of interest.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = 1 / (1 + rate)^(r-1)

    This is RBP with p = 1 / (1 + rate), over the first `max_depth` ranks. See `report` for what
    else the reader tells.

    >>> round(NPV(rate=1)([1, 0, 1]), 4)
    0.625

    Reference: Azzopardi et al. 2019, doi:10.1145/3331184.3331398
    """

    rate: float = parameter(0.1, POSITIVE, "by how much what comes next is discounted")

    def goes_on(self, page: Page) -> Array:
        """Go on with the same probability everywhere."""
        return page.xp.full_like(page.rank, 1.0 / (1.0 + self.rate))


@dataclass(frozen=True, kw_only=True, repr=False)
class NERR8(UserModel):
    """Nearly ERR, equation 8: a reader stops at a document with the probability of its gain.

    Formula: EU = Σ_{r≤k} V_r g_r / Σ_{r≤k} V_r, V_r = Π_{i<r} (1 - g_i)

    See `report` for what else the reader tells.

    >>> (NERR8 @ 3)([0, 1, 1]), round(NERR8(gain="scaled(0,3)")([1, 2, 3]), 4)
    (0.5, 0.5294)

    Reference: Azzopardi et al. 2021, doi:10.1145/3471158.3472239
    """

    takes_cutoff: ClassVar[bool] = True
    stops: ClassVar[bool] = True

    def goes_on(self, page: Page) -> Array:
        """Go on unless the document was enough."""
        return 1.0 - page.gain


@dataclass(frozen=True, kw_only=True, repr=False)
class NERR9(UserModel):
    """Nearly ERR, equation 9: as NERR8, and the reader tires as reciprocal ranks shrink.

    Formula: EU = Σ_{r≤k} V_r g_r / Σ_{r≤k} V_r, V_r = (1/r) Π_{i<r} (1 - g_i)

    See `report` for what else the reader tells.

    >>> round(NERR9(gain="scaled(0,3)")([1, 2, 3]), 4)
    0.4474

    Reference: Azzopardi et al. 2021, doi:10.1145/3471158.3472239
    """

    takes_cutoff: ClassVar[bool] = True
    stops: ClassVar[bool] = True

    def goes_on(self, page: Page) -> Array:
        """Go on unless the document was enough, the more surely the deeper the rank."""
        return page.rank / (page.rank + 1.0) * (1.0 - page.gain)


@dataclass(frozen=True, kw_only=True, repr=False)
class NERR10(UserModel):
    """Nearly ERR, equation 10: as NERR8, with the patience of RBP in place of a cutoff.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = Π_{i<r} p (1 - g_i)

    See `report` for what else the reader tells.

    >>> round(NERR10(p=0.5, gain="scaled(0,3)")([1, 2, 3]), 4)
    0.44

    Reference: Azzopardi et al. 2021, doi:10.1145/3471158.3472239
    """

    p: float = parameter(0.9, GOING_ON, "the probability to go on from a document without gain")

    def goes_on(self, page: Page) -> Array:
        """Go on by chance, unless the document was enough."""
        return self.p * (1.0 - page.gain)


@dataclass(frozen=True, kw_only=True, repr=False)
class NERR11(UserModel):
    """Nearly ERR, equation 11: as NERR8, with the patience of INSQ in place of a cutoff.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = Π_{i<r} (1 - g_i) ((i + 2T - 1) / (i + 2T))²

    See `report` for what else the reader tells.

    >>> round(NERR11(T=1, gain="scaled(0,3)")([1, 2, 3]), 4)
    0.4338

    Reference: Azzopardi et al. 2021, doi:10.1145/3471158.3472239
    """

    T: float = parameter(1, number(0), "the gain that is wanted")

    def goes_on(self, page: Page) -> Array:
        """Go on the more surely the deeper the rank, unless the document was enough."""
        return _patience(page, page.rank + 2.0 * self.T) * (1.0 - page.gain)
