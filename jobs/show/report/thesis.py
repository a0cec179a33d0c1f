"""What Loiseau's thesis says of its two campaigns, which these reports put beside their own numbers.

Section 1.3.5.  The times of L(2, 28) there contradict each other: 131,072 tasks of 1,321 s are 173 million seconds,
not 117 million; a report shows both as they are.
"""

from __future__ import annotations

from collections.abc import Mapping

from langford.problem import Problem

TITLE = "Julien Loiseau, doctoral thesis, Université de Reims Champagne-Ardenne, 2018, section 1.3.5"
ADDRESS = "https://www.theses.fr/2018REIMS006"
CAMPAIGNS: Mapping[str, Mapping[str, str]] = {
    Problem.langford(27).name: {
        "tasks": "32,768",
        "mean time of a task": "911 s",
        "its standard deviation": "20%",
        "effective time": "about 30 million s (345.4 d)",
        "elapsed time": "164,700 s (1.9 d)",
        "mean occupancy": "181.2 machines, 69.7% of the cluster",
        "aborted attempts": "617 (1.9% of the tasks)",
        "mean time of one, at most": "766 s",
        "time of all, at most": "472,873 s (1.6% of the effective time)",
    },
    Problem.langford(28).name: {
        "tasks": "131,072",
        "mean time of a task": "1,321 s",
        "its standard deviation": "12%",
        "effective time": "about 117 million s (1,365 d)",
        "elapsed time": "23 d",
        "mean occupancy": "about 99 machines, 38% of the cluster",
    },
}
"""Rows of a report that the thesis has too, by name of the problem; a machine is a processor with a GPU."""
REMARKS = {
    Problem.langford(28).name: "Its mean time times its tasks is 173 million s, more than the effective time it"
    " gives; the thesis contains both.",
}
