"""Published counts, for tests and for ``langford verify``; no counting code reads this.

Sources: OEIS A014552 (Langford), A059106 (Skolem), A004076 (hooked Skolem), A059107 and
A059108 (triples), A284757 (quadruples).  Counts of rows with a mirror are up to reversal.
"""

from __future__ import annotations

from langford.problem import Problem

PUBLISHED: dict[tuple[str, int], dict[int, int]] = {
    ("langford", 2): {
        3: 1,
        4: 1,
        7: 26,
        8: 150,
        11: 17792,
        12: 108144,
        15: 39809640,
        16: 326721800,
        19: 256814891280,
        20: 2636337861200,
        23: 3799455942515488,
        24: 46845158056515936,
        27: 111683611098764903232,
        28: 1607383260609382393152,
    },
    ("skolem", 2): {
        1: 1,
        4: 3,
        5: 5,
        8: 252,
        9: 1328,
        12: 227968,
        13: 1520280,
        16: 700078384,
        17: 6124491248,
        20: 5717789399488,
        21: 61782464083584,
        24: 102388058845620672,
        25: 1317281759888482688,
        28: 3532373626038214732032,
        29: 52717585747603598276736,
    },
    ("hooked-skolem", 2): {
        2: 1,
        3: 2,
        6: 38,
        7: 124,
        10: 12808,
        11: 72648,
        14: 21878816,
        15: 168870048,
        18: 113071735648,
        19: 1105816948032,
        22: 1395701792232832,
    },
    ("langford", 3): {
        9: 3,
        10: 5,
        17: 13440,
        18: 54947,
        19: 249280,
    },
    ("skolem", 3): {
        9: 9,
        10: 20,
        11: 33,
        18: 200343,
        19: 869006,
        20: 4247790,
    },
    ("skolem", 4): {1: 1, 24: 10, 25: 55},
}
"""By variant and copies, where all parameters have their defaults, and n."""


def published(problem: Problem) -> int | None:
    """The published count, or None when there is none; 0 where the problem has an obstruction."""
    if problem.obstruction:
        return 0
    if problem.chosen:
        return None
    return PUBLISHED.get((problem.variant, problem.copies), {}).get(problem.order)
