"""What Loiseau's thesis says of its two campaigns, which these reports put beside their own numbers.

Section 1.3.5.  The times of L(2, 28) there contradict each other: 131,072 tasks of 1,321 s are 173 million seconds,
not 117 million; a report shows both as they stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from langford.problem import Problem

TITLE = "Julien Loiseau, doctoral thesis, Université de Reims Champagne-Ardenne, 2018, section 1.3.5"
ADDRESS = "https://www.theses.fr/2018REIMS006"


@dataclass(frozen=True)
class ThesisCampaign:
    """A campaign of the thesis, in its own words and numbers.

    Attributes:
        deviation: standard deviation of these times, as a share of the mean.
        aborted: tasks that other users' jobs ended; empty where nothing is said.
        aborted_mean: how long they had computed, in the mean.
        occupancy: machines that computed at once, each a processor with a GPU, in the mean.
        peak: how many there were.
    """

    tasks: str
    mean: str
    deviation: str
    effective: str
    elapsed: str
    occupancy: str
    aborted: str = ""
    aborted_mean: str = ""
    aborted_total: str = ""
    remark: str = ""


CAMPAIGNS: Mapping[str, ThesisCampaign] = {
    Problem.langford(27).name: ThesisCampaign(
        tasks="32,768",
        mean="911 s",
        deviation="20%",
        effective="about 30 million s (345.4 d)",
        elapsed="164,700 s (1.9 d)",
        occupancy="181.2 machines, 69.7% of the cluster",
        aborted="617 (1.9% of the tasks)",
        aborted_mean="766 s",
        aborted_total="472,873 s (1.6% of the effective time)",
    ),
    Problem.langford(28).name: ThesisCampaign(
        tasks="131,072",
        mean="1,321 s",
        deviation="12%",
        effective="about 117 million s (1,365 d)",
        elapsed="23 d",
        occupancy="about 99 machines, 38% of the cluster",
        remark="Its mean time times its tasks is 173 million s, more than the effective time that it gives; "
        "the thesis contains both.",
    ),
}
"""By name of the problem."""
