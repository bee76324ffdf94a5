"""Every threshold of the audit, with its source; "suggested" is our own judgment."""

from __future__ import annotations

#: How deep coverage is looked at: what people read, and what rerankers read. Suggested.
DEPTHS = (10, 100)
#: Below this share judged in the first 10, values are too low by more than noise. On 269 runs of
#: TREC-COVID the condensed nDCG@10 then lies 0.02 and more above. Suggested, from that.
JUDGED_ENOUGH = 0.9
#: Below this share, no claim which run is better should be made; the gap is 0.05 and more. The
#: same runs, suggested.
JUDGED_TOO_FEW = 0.7
#: How far nDCG@10 rose, by the least share judged in the first 10, on these 269 runs.
CALIBRATION = ((0.98, 0.005), (0.9, 0.017), (0.7, 0.055), (0.5, 0.14), (0.0, 0.18))
#: Runs whose Judged@10 differ by more are not treated alike. There, those outside of the pool have
#: a median 0.06 to 0.14 below those inside. Suggested.
UNEVEN = 0.05
#: The first ranks of the bands in which P(relevant | rank) is counted. Suggested.
BANDS = (1, 2, 4, 6, 11, 21, 51, 101, 201, 501)
#: As many documents of the run's average are mixed into each band. Suggested.
PRIOR = 5
#: Judged documents that a run must have for its own P(relevant | rank). Suggested.
LEAST_JUDGED = 30
#: Share of them that judges must have found not relevant: elsewhere only what is relevant was
#: written down, as in MS MARCO. Suggested.
LEAST_NONRELEVANT = 0.05
#: Times that grades are drawn for unjudged documents; fewer for more than 100 queries. Suggested.
DRAWS = 20
#: Pairs listed to be judged first, and queries read at most to find them. Suggested.
TO_JUDGE, TO_JUDGE_READ = 100, 1000
#: Share of unjudged documents that a pool may have: its ties may have been in another order.
#: Suggested.
POOL_HOLES = 0.01
#: The least depth of pools; TREC-COVID's first was 7. Suggested.
POOL_DEPTH = 5
#: Runs without which leaving one out says little. Suggested.
POOL_RUNS = 3
#: A run that loses more of a value without its own judgments was favoured by them. Suggested.
POOL_BIAS = 0.05
#: Share of all judgments that the runs must hold for the test to speak of the pool, and not of the
#: few runs that are here. Suggested.
POOL_HELD = 0.5
#: Share of queries whose lists may be shorter than the measures look. Suggested.
SHORT_LISTS = 0.1
#: A list of less than this share of the longest one of all runs was cut by the system. Suggested.
CUT_LIST = 0.5
#: Share of queries in which rank column and scores differ that makes it an error.
#: Suggested.
OTHER_ORDER = 0.5
#: Share of documents whose ranks must be turned round before it is said that scores are. Suggested.
TURNED = 0.9
#: Queries that must all have a document in their first 10 before it is doubted. Suggested.
EVERYWHERE = 10
#: Queries whose lists are read for that. Suggested.
EVERYWHERE_READ = 100
#: Different documents that these must have: a smaller collection is all at the top. Suggested.
EVERYWHERE_DOCUMENTS = 20
#: Grades that there may be: more are utilities, of which not every one is given. Suggested.
MOST_GRADES = 20
#: Share of queries with one relevant document from which on that is said. Suggested.
SINGLE_RELEVANT = 0.5
#: The median rank up to which a document of the query's own id is taken for the query itself.
#: Suggested.
SELF_RANK = 3
#: Share of queries that must retrieve the document of their own id before it is more than chance.
#: Suggested.
SELF_SHARE = 0.05
#: Queries that must, at least. Suggested.
SELF_LEAST = 2
#: Rows of a run up to which it is read again to price what is wrong with some. Suggested.
PRICED_ROWS = 1_000_000
#: Bytes of a file up to which it is kept in memory, to be read once. Suggested.
HELD_BYTES = 2**28
