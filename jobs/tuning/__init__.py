"""The experiments behind ``langford tune``: which settings count fastest on this machine.

They repeat those of Loiseau's thesis (chapter 1.2.4 and 1.3) on whatever hardware there is.
"""

from jobs.tuning.experiment import Curve, Experiment, Stopwatch, Trial
from jobs.tuning.godfrey import godfrey_on_gpu
from jobs.tuning.processor import on_cores
from jobs.tuning.search import search_on_gpu

__all__ = ["Curve", "Experiment", "Stopwatch", "Trial", "godfrey_on_gpu", "on_cores", "search_on_gpu"]
