"""How many workers held tasks at some moments, see :mod:`db.look.figures.occupancy`; by looking at each of them.

An overview is asked for every few seconds: it reads no attempt of a million that is over.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, Float, Integer, and_, bindparam, func, literal, or_, select

from db.schema.dialects import among
from db.schema.models import Attempt, Worker

MAX_POINTS, MIN_POINTS, MAX_LOOKS = 100, 20, 250_000
"""Maximum and minimum number of points, and maximum of points × workers: many workers mean fewer points."""
MIN_SECONDS = 1.0
"""Minimum time between two points."""
NEIGHBOURS = 8
"""Number of a worker's next ending attempts after a point that are checked: if any ran there, one of these did."""
_START: ColumnElement[float] = bindparam("start", type_=Float(53))
_WIDTH: ColumnElement[float] = bindparam("width", type_=Float(53))
_first = select(literal(0, Integer).label("step")).cte("steps", recursive=True)
_steps = _first.union_all(select(_first.c.step + 1).where(_first.c.step < bindparam("last", type_=Integer)))
_points = select(_steps.c.step, (_START + _WIDTH * _steps.c.step).label("at")).cte("points")
_SINCE = (
    select(func.min(Attempt.granted))
    .where(Attempt.worker_id == Worker.id, Attempt.ended.is_(None))
    .correlate(Worker)
    .scalar_subquery()
)
# With a limit, so that they are looked up only once, and not for each point.
_workers = (
    select(Worker.id, Worker.started, Worker.ended, _SINCE.label("holds_since"))
    .where(among(Worker.id, "workers"))
    .order_by(Worker.started)
    .limit(bindparam("all", type_=Integer))
    .subquery()
)
# Not by the campaign: the index of the workers contains all these columns.
_next = (
    select(Attempt.granted)
    .where(Attempt.worker_id == _workers.c.id, Attempt.ended > _points.c.at)
    .order_by(Attempt.ended)
    .limit(NEIGHBOURS)
    .correlate(_workers, _points)
    .subquery()
)
_RAN = select(_next.c.granted).where(_next.c.granted <= _points.c.at).correlate(_points).exists()
_IS_THERE = and_(
    _workers.c.started <= _points.c.at, or_(_workers.c.ended.is_(None), _workers.c.ended >= _points.c.at)
)
_OCCUPIED = (
    select(_points.c.step, func.count())
    .select_from(_points.join(_workers, _IS_THERE))
    .where(or_(_workers.c.holds_since <= _points.c.at, _RAN))
    .group_by(_points.c.step)
)


def holding(connection: Connection, workers: Collection[str], start: float, end: float) -> list[tuple[float, int]]:
    """(time, number of these workers that held leases) at equal distances between two times."""
    most = max(MIN_POINTS, min(MAX_POINTS, MAX_LOOKS // max(1, len(workers))))
    points = min(most, int((end - start) / MIN_SECONDS) + 1)
    width = (end - start) / points
    if width <= 0:
        return []
    parameters = {
        "workers": workers,
        "all": len(workers),
        "start": start + width / 2,
        "width": width,
        "last": points - 1,
    }
    occupied = {row.step: row[1] for row in connection.execute(_OCCUPIED, parameters)}
    return [(start + width * (step + 0.5), occupied.get(step, 0)) for step in range(points)]
