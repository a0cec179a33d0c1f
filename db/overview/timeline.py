"""How many workers held leases, at some hundred times from the first worker of a campaign on."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Float, Integer, bindparam, func, literal, or_, select

from db.models import Attempt, Worker
from db.transitions import CAMPAIGN

MOST_POINTS, FEWEST_POINTS, MOST_LOOKS = 200, 20, 2_000_000
"""Points of a timeline; points times workers: with very many workers there are fewer points."""
LEAST_SECONDS = 1.0
"""Between two points."""
NEIGHBOURS = 8
"""Attempts of a worker that end next after a point: one of them ran there, if any did."""

_START: ColumnElement[float] = bindparam("start", type_=Float(53))
_WIDTH: ColumnElement[float] = bindparam("width", type_=Float(53))
_first = select(literal(0, Integer).label("step")).cte("steps", recursive=True)
_steps = _first.union_all(select(_first.c.step + 1).where(_first.c.step < bindparam("last", type_=Integer)))
_points = select(_steps.c.step, (_START + _WIDTH * _steps.c.step).label("at")).cte("points")
# By the worker alone: by the campaign SQLite would read all its attempts.
_OF_WORKER = Attempt.worker_id == Worker.id, Attempt.campaign_id + 0 == CAMPAIGN
_next = (
    select(Attempt.granted)
    .where(*_OF_WORKER, Attempt.ended > _points.c.at)
    .order_by(Attempt.ended)
    .limit(NEIGHBOURS)
    .correlate(Worker, _points)
    .subquery()
)
_RAN = select(_next.c.granted).where(_next.c.granted <= _points.c.at).correlate(_points).exists()
# Grouped: so it is made once, and not for each point.
_runs = (
    select(Attempt.worker_id, func.min(Attempt.granted).label("since"))
    .where(Attempt.ended.is_(None), Attempt.deadline > 0, Attempt.campaign_id + 0 == CAMPAIGN)
    .group_by(Attempt.worker_id)
    .subquery()
)
_IS_THERE = (Worker.started <= _points.c.at) & or_(Worker.ended.is_(None), Worker.ended >= _points.c.at)
_OCCUPIED = (
    select(_points.c.step, func.count())
    .select_from(_points.join(Worker, _IS_THERE).outerjoin(_runs, _runs.c.worker_id == Worker.id))
    .where(or_(_runs.c.since <= _points.c.at, _RAN))
    .group_by(_points.c.step)
)


def timeline(
    connection: Connection, campaign_id: int, start: float, end: float, workers: int
) -> list[tuple[float, int]]:
    """(time, workers that held leases of a campaign then) at equal distances between two times.

    ``workers``: how many the campaign has had.
    """
    most = max(FEWEST_POINTS, min(MOST_POINTS, MOST_LOOKS // max(1, workers)))
    points = min(most, int((end - start) / LEAST_SECONDS) + 1)
    width = (end - start) / points
    if width <= 0:
        return []
    parameters = {"campaign": campaign_id, "start": start + width / 2, "width": width, "last": points - 1}
    occupied = {row.step: row[1] for row in connection.execute(_OCCUPIED, parameters)}
    return [(start + width * (step + 0.5), occupied.get(step, 0)) for step in range(points)]
