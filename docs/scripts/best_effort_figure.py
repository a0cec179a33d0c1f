"""Best effort: workers of a job array that are preempted, and tasks that go back to the queue.

The times are of one example, not measured; the rules are those of the ledger: a worker that is told gives its
leases back at once, and those of one that is killed expire.
"""

from __future__ import annotations

from matplotlib import pyplot
from matplotlib.figure import Figure

LEASE = 2.0
"""Minutes from the last renewal until a lease expires."""
DONE, BACK, LOST, AGAIN, URGENT = "#8ab17d", "#e9c46a", "#c0504d", "#7ea6d8", "#999999"
BARS: tuple[tuple[int, float, float, str, str], ...] = (
    (3, 0, 3, DONE, "task 7"),
    (3, 3, 6, DONE, "task 4"),
    (3, 6, 9, DONE, "task 2"),
    (2, 0, 3.2, DONE, "task 6"),
    (2, 3.2, 4.6, BACK, "task 3"),
    (2, 4.6, 7.2, URGENT, "an urgent job"),
    (2, 7.2, 10.4, AGAIN, "task 3 again"),
    (1, 0, 2.6, LOST, "task 5"),
    (1, 2.6, 5.4, URGENT, "an urgent job"),
    (1, 5.4, 8.4, AGAIN, "task 5 again"),
)
"""(node, from, to, colour, label), in minutes."""
NOTES: tuple[tuple[float, float, str], ...] = (
    (4.6, 2, "SIGTERM: the worker gives\nits lease back at once"),
    (2.6, 1, "killed without a signal:\nits lease expires"),
)


def figure() -> Figure:
    """Nodes over time."""
    drawn, axis = pyplot.subplots(figsize=(8.6, 2.9), layout="constrained")
    for node, start, end, shade, label in BARS:
        axis.barh(node, end - start, 0.5, start, color=shade, edgecolor="white")
        axis.text((start + end) / 2, node, label, ha="center", va="center", fontsize=8)
    for at, node, words in NOTES:
        axis.annotate(
            words, (at, node - 0.25), (at + 0.1, node - 0.62), fontsize=7.5, va="center",
            arrowprops={"arrowstyle": "-", "color": "#555555"},
        )  # fmt: skip
    axis.plot([2.6, 2.6 + LEASE], [0.05, 0.05], color=LOST, linewidth=1, linestyle=":")
    axis.text(2.6 + LEASE + 0.1, 0.05, "task 5 is ready again", fontsize=7.5, va="center")
    axis.set(xlim=(0, 10.6), ylim=(-0.15, 3.5), xlabel="minutes", yticks=(1, 2, 3))
    axis.set_yticklabels(["node 3", "node 2", "node 1"])
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(left=False)
    return drawn
