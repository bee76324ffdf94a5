"""NERR: nearly expected reciprocal rank, four readers close to ERR's, by the paper's equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from idealist.lists import Array
from idealist.measures.cwl import Page, UserModel
from idealist.measures.stopping import GOING_ON
from idealist.notation import number, parameter


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
        depth = page.rank + 2.0 * self.T
        return ((depth - 1.0) / depth) ** 2 * (1.0 - page.gain)
