"""Every threshold of the repair of ids; "suggested" is our own judgment."""

from __future__ import annotations

#: Rows of a run, and queries at least, looked at to guess how ids were changed. Suggested.
SAMPLED_ROWS, SAMPLED_QUERIES = 10_000, 20
#: Ids on which it is seen whether a transformation changes any. Suggested.
TRIED_IDS = 300
#: Share of the judged pairs that meet after a repair which it must bring about, where ids easily
#: become equal by chance. Suggested.
REPAIRED_SHARE = 0.05
#: Probability that so many pairs meet by chance, above which a repair is not proposed. Suggested.
REPAIRED_CHANCE = 1e-4
#: Share of one side's ids that did not meet which, if repaired, cannot be chance. Suggested.
REPAIRED_MOST = 0.5
#: Share of what a repair makes meet that must meet once one side's ids are changed; else those of
#: both sides are. Suggested.
REPAIRED_BY_ONE_SIDE = 0.9
#: Repaired pairs for each two documents that would become one. Suggested.
REPAIRED_ODDS = 4
#: Documents that queries made to meet must have in common, for each that others have. Suggested.
CONFIRMED_ODDS = 2
#: Pairs that a repair must make meet, where some meet already and where none does; more of them
#: where ids easily become equal by chance. Suggested.
REPAIRED_LEAST, REPAIRED_EASILY = (3, 1), (3, 2)
#: Share of the queries that do not meet which a repair must make meet, to need no confirmation by
#: their documents. Suggested.
REPAIRED_QUERIES = 0.8
#: Ids that a repair changes must be judged this much as often as those that it does not, and these
#: as often as those; the latter where so many are expected. Suggested.
REPAIRED_RATE, REPAIRED_EXPECTED = 0.2, 10

#: With more ids than these, those that nobody judged are left out of mappings. Suggested.
MAPPED_IDS = 500_000
#: Pairs of ids that must show the same prefix or suffix before it is tried. Suggested.
AFFIX_VOTES = 2
#: Share of texts that differ in a number only which must be the same, to be constant. Suggested.
AFFIX_CONSTANT = 0.9
#: Shares of one side's ids that begin or end alike before that is tried. Suggested.
AFFIX_SHARES = (0.9, 0.5, 0.2)
#: Up to so many pairs of ids, each is looked for within the other. Suggested.
FEW_PAIRS = 2500
#: Letters of a prefix or suffix that are looked at. Suggested.
LONGEST_AFFIX = 64
