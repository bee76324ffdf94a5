"""User models that stop by rank and gain: CWL, SDCG, INSQ, INST, SET, NPV and NERR."""

from __future__ import annotations

from idealist.measures.cwl import POSITIVE, Page, UserModel
from idealist.measures.stopping import GOING_ON
from idealist.notation import ABOVE_0, choice, number, parameter
from idealist.ranking.padded_lists import Array

#: Depths beyond this are cut: the continuation probability is 1 to the last digit.
FARTHEST = 1e300
#: Below this beta the ratios of SET's weights have reached their limit.
NEAREST = 1e-200


class CWL(UserModel):
    """The user model behind P, RR, AP or RBP, with its expected gain, cost and depth.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = Π_{i<r} C_i, where C is 1 up to rank k (P), 1 up to the
    first document with a gain (RR) or p (RBP); for AP, V_r = Σ_{i≥r} g_i / i relative to rank 1

    With binary gains EU is P@k, RR, RBP or AP(denominator=R_list) of the first `max_depth`
    documents; the other reports add what those measures do not show. cwl_eval's TrAP is ordinary
    AP, divided by R, and has no user model. `report` selects what is computed.

    >>> reader = CWL(model="RR")
    >>> reader([0, 0, 1]), CWL(model="RR", report="ED")([0, 0, 1])
    (0.3333333333333333, 3.0)

    Reference: Moffat et al. 2017, doi:10.1145/3052768; Azzopardi et al. 2019 for cwl_eval,
    doi:10.1145/3331184.3331398
    """

    model: str = parameter(
        "RBP", choice("P", "RR", "AP", "RBP"), "the measure whose user model this is"
    )
    p: float = parameter(0.8, GOING_ON, "the probability of continuing, for RBP")

    takes_cutoff = True

    def goes_on(self, page: Page) -> Array:
        """Continue to the cutoff, to the first gain, or by chance."""
        if self.model == "RR":
            return page.number(page.gain <= 0)
        if self.model == "P":
            return page.number(page.rank < (self.cutoff or self.max_depth))
        return page.xp.full_like(page.rank, float(self.p))

    def looks(self, page: Page) -> tuple[Array, Array]:
        """View each rank; for AP, in proportion to the precision still to come."""
        if self.model != "AP":
            return super().looks(page)
        xp = page.xp
        left = xp.flip(page.so_far(xp.flip(page.gain / page.rank, axis=1)), axis=1)
        whole = left[:, :1]
        share = left / xp.where(whole > 0, whole, 1.0)
        looked = xp.where(whole > 0, share, page.number(page.rank == 1))
        return looked, xp.zeros_like(whole)


class SDCG(UserModel):
    """Scaled DCG: DCG divided by the DCG of k perfect documents, so that the weights sum to 1.

    Formula: Σ_{r≤k} g_r / log2(r+1) / Σ_{r≤k} 1 / log2(r+1), or C_r = log2(r+1) / log2(r+2)

    cwl_eval prints it as NDCG-k, though there is no ideal list. ir_measures' ``SDCG(max_rel=3)@5``
    is ``SDCG(gain=scaled(0,3))@5``. `report` selects what is computed.

    >>> round((SDCG @ 3)([1, 0, 1]), 4)
    0.7039

    Reference: Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418; Moffat et al. 2017 for the
    reader, doi:10.1145/3052768
    """

    takes_cutoff = True
    stops = True

    def goes_on(self, page: Page) -> Array:
        """Continue in proportion to the discounts."""
        return page.xp.log2(page.rank + 1.0) / page.xp.log2(page.rank + 2.0)


def _patience(page: Page, depth: Array) -> Array:
    """Compute INSQ's continuation probability, which grows with the depth."""
    depth = page.xp.clip(depth, None, FARTHEST)
    return ((depth - 1.0) / depth) ** 2


class INSQ(UserModel):
    """INSQ: a user who wants T relevant documents, and who continues more surely further down.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = Π_{i<r} C_i, C_i = ((i + 2T - 1) / (i + 2T))²

    `report` selects what is computed.

    >>> round(INSQ(T=1)([1, 0, 1]), 4)
    0.4853

    Reference: Moffat et al. 2012, doi:10.1145/2407085.2407092
    """

    T: float = parameter(1, number(0), "the total gain the user wants")

    def goes_on(self, page: Page) -> Array:
        """Continue more surely at deeper ranks."""
        return _patience(page, page.rank + 2.0 * self.T)


class INST(UserModel):
    """INST: like INSQ, but what the user has already found counts towards the T wanted.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = Π_{i<r} C_i, C_i = ((i + T + T_i - 1) / (i + T + T_i))²,
    T_i = T - Σ_{j≤i} g_j

    With T below 0.5, C would exceed 1. `report` selects what is computed.

    >>> round(INST(T=1)([1, 0, 1]), 4)
    0.7233

    Reference: Moffat et al. 2015, doi:10.1145/2838931.2838938; Moffat et al. 2017,
    doi:10.1145/3052768
    """

    T: float = parameter(1, number(0.5), "the total gain the user wants")

    def goes_on(self, page: Page) -> Array:
        """Continue less surely the more was found."""
        left = min(float(self.T), FARTHEST) - page.so_far(page.gain)
        return _patience(page, page.rank + min(float(self.T), FARTHEST) + left)


class SET(UserModel):
    """Search economic theory: every further document is worth less than the one before.

    Formula: EU = Σ_{r≤k} w_r g_r / Σ_{r≤k} w_r, w_r = (r+1)^β - r^β

    The economic model has a total gain of k^β for k documents, so rank r should add r^β - (r-1)^β.
    Like cwl_eval, this implementation starts with the weight of the second rank. `report` selects
    what is computed.

    >>> round((SET @ 3)([1, 0, 1]), 4)
    0.6822

    Reference: Azzopardi 2014, doi:10.1145/2600428.2609574
    """

    beta: float = parameter(
        0.5,
        number(ABOVE_0, 1, "a number above 0, at most 1"),
        "how slowly returns diminish; 1 is not at all",
    )

    takes_cutoff = True
    stops = True

    def goes_on(self, page: Page) -> Array:
        """Continue as returns diminish."""
        return self._weight(page, page.rank + 1.0) / self._weight(page, page.rank)

    def _weight(self, page: Page, rank: Array) -> Array:
        """Compute (r+1)^β - r^β without subtracting numbers that are nearly equal."""
        beta = max(float(self.beta), NEAREST)
        return rank**beta * page.xp.expm1(beta * page.xp.log1p(1.0 / rank))


class NPV(UserModel):
    """Net present value: every further document is discounted by an interest rate.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = 1 / (1 + rate)^(r-1)

    This is RBP with p = 1 / (1 + rate) over the first `max_depth` ranks. `report` selects what is
    computed.

    >>> round(NPV(rate=1)([1, 0, 1]), 4)
    0.625

    Reference: Azzopardi et al. 2019, doi:10.1145/3331184.3331398
    """

    rate: float = parameter(
        0.1, POSITIVE, "the interest rate by which the next document is discounted"
    )

    def goes_on(self, page: Page) -> Array:
        """Continue with the same probability everywhere."""
        return page.xp.full_like(page.rank, 1.0 / (1.0 + self.rate))


class NERR8(UserModel):
    """Nearly ERR, equation 8: a user stops at a document with a probability equal to its gain.

    Formula: EU = Σ_{r≤k} V_r g_r / Σ_{r≤k} V_r, V_r = Π_{i<r} (1 - g_i)

    `report` selects what is computed.

    >>> (NERR8 @ 3)([0, 1, 1]), round(NERR8(gain="scaled(0,3)")([1, 2, 3]), 4)
    (0.5, 0.5294)

    Reference: Azzopardi et al. 2021, doi:10.1145/3471158.3472239
    """

    takes_cutoff = True
    stops = True

    def goes_on(self, page: Page) -> Array:
        """Continue unless the document satisfied the user."""
        return 1.0 - page.gain


class NERR9(NERR8):
    """Nearly ERR, equation 9: like NERR8, with attention that decays as 1/rank.

    Formula: EU = Σ_{r≤k} V_r g_r / Σ_{r≤k} V_r, V_r = (1/r) Π_{i<r} (1 - g_i)

    `report` selects what is computed.

    >>> round(NERR9(gain="scaled(0,3)")([1, 2, 3]), 4)
    0.4474

    Reference: Azzopardi et al. 2021, doi:10.1145/3471158.3472239
    """

    def goes_on(self, page: Page) -> Array:
        """Continue unless satisfied, with the continuation probability of 1/rank."""
        return page.rank / (page.rank + 1.0) * (1.0 - page.gain)


class NERR10(UserModel):
    """Nearly ERR, equation 10: like NERR8, with the patience of RBP instead of a cutoff.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = Π_{i<r} p (1 - g_i)

    `report` selects what is computed.

    >>> round(NERR10(p=0.5, gain="scaled(0,3)")([1, 2, 3]), 4)
    0.44

    Reference: Azzopardi et al. 2021, doi:10.1145/3471158.3472239
    """

    p: float = parameter(0.9, GOING_ON, "the probability of continuing if nothing was gained")

    def goes_on(self, page: Page) -> Array:
        """Continue by chance, unless the document satisfied the user."""
        return self.p * (1.0 - page.gain)


class NERR11(INSQ):
    """Nearly ERR, equation 11: like NERR8, with the patience of INSQ instead of a cutoff.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = Π_{i<r} (1 - g_i) ((i + 2T - 1) / (i + 2T))²

    `report` selects what is computed.

    >>> round(NERR11(T=1, gain="scaled(0,3)")([1, 2, 3]), 4)
    0.4338

    Reference: Azzopardi et al. 2021, doi:10.1145/3471158.3472239
    """

    def goes_on(self, page: Page) -> Array:
        """Continue more surely at deeper ranks, unless the document satisfied the user."""
        return super().goes_on(page) * (1.0 - page.gain)
