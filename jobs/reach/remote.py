"""Campaigns behind a task server: a method for each request."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeVar
from urllib.parse import quote

from db import Credential, Delivery, Lease, Receipt
from db.identity import Identity
from db.look.overview.records import Overview
from db.messages import BadMessage
from db.records import NO_SECONDS, NO_STEPS, CampaignInfo, Transport
from db.states import Ending, Outcome
from jobs.reach import wire
from jobs.reach.requests import CampaignReplaced, RequestRefused, Requests, ServerRefuses, understood
from jobs.reach.wire import A, Operation, Q
from langford.errors import BadInput

N = TypeVar("N", int, float)
MAX_REASON = 1_000
"""Characters of a reason or a note that are sent."""
SERVER = Transport("the server", True, look_seconds=0.5, overview_seconds=900.0, idle_seconds=(5.0, 60.0))


class RemoteServer(Requests):
    """A task server, and the campaign in its address."""

    def campaign(self) -> RemoteCampaign:
        """To which nothing is sent yet; raises BadInput where the address names none."""
        if not self.name:
            raise BadInput(f"{self.address!r} is not the address of a campaign: write http://HOST:PORT/CAMPAIGN")
        return RemoteCampaign(self, self.name)


class RemoteCampaign:
    """Requests to a server about one campaign: implements :class:`jobs.reach.campaign.Campaign`.

    Every method raises ServerAway, ServerRefuses or CampaignReplaced.

    Attributes:
        uuid: of the campaign; None before the first answer that contains it.
    """

    transport = SERVER

    def __init__(self, server: Requests, name: str) -> None:
        """Nothing is sent yet.

        Args:
            server: its connection.
            name: of the campaign.
        """
        self.name, self._requests = name, server
        self.uuid: str | None = None
        self._address = f"{server.address}/campaigns/{quote(name, safe='')}"

    def close(self) -> None:
        self._requests.close()

    def info(self) -> CampaignInfo:
        info = self._requests.get(CampaignInfo, self._address)
        with understood(self._address):
            assert info.key  # it can be read
        self.uuid = self.uuid or info.campaign
        if info.campaign != self.uuid:
            raise CampaignReplaced(
                f"the server now has a different campaign under this name: {self.name} is {info.campaign}, not "
                f"{self.uuid}: start this worker again to work for the new one"
            )
        return info

    def expire_the_dead(self) -> None:
        """Nothing: whether a worker of another machine lives is not known here."""

    def overview(self) -> Overview:
        return self._requests.get(Overview, self._address, "/status")

    def why(self, task: int | None = None) -> list[str]:
        try:
            return self._requests.get(list[str], self._address, "/why" if task is None else f"/why?task={task}")
        except RequestRefused as error:
            raise BadInput(f"the server has no answer: {error}") from error

    def enrol(
        self, identity: Identity, count: int, seconds: float, held: Collection[int], copies: int = 0
    ) -> tuple[float | None, list[Lease]]:
        lease = self._lease_request(identity.worker_id, count, seconds, held, copies)
        try:
            answer = self._post(wire.ENROL, wire.Newcomer(worker=identity, lease=lease))
        except RequestRefused as error:
            raise ServerRefuses(f"this worker cannot enrol: {error}") from error  # it would say the same again
        return answer.pace, answer.leases

    def leave(self, worker_id: str, ending: Ending) -> None:
        self._post(wire.LEAVE, wire.Departure(worker=worker_id, ending=ending))

    def lease(
        self, worker_id: str, count: int, seconds: float, held: Collection[int], copies: int = 0
    ) -> list[Lease]:
        """Lease tasks of the campaign that was seen first; raises NotEnrolled."""
        return self._post(wire.LEASE, self._lease_request(worker_id, count, seconds, held, copies)).leases

    def _lease_request(
        self, worker_id: str, count: int, seconds: float, held: Collection[int], copies: int
    ) -> wire.LeaseRequest:
        return wire.LeaseRequest(
            campaign=self.uuid or self.info().campaign,
            worker=worker_id,
            count=count,
            seconds=seconds,
            held=list(held),
            copies=copies,
        )

    def renew(
        self,
        credentials: Collection[Credential],
        seconds: float,
        steps: Mapping[int, int] = NO_STEPS,
        computed: Mapping[int, float] = NO_SECONDS,
    ) -> set[int]:
        running: set[int] = set()
        for attempts in _parts(credentials):
            made, known = _of(attempts, steps), _of(attempts, computed)
            request = wire.Renewal(attempts=attempts, seconds=seconds, steps=list(made), computed=known)
            running.update(self._post(wire.RENEW, request).running)
        return running

    def end(
        self,
        credentials: Collection[Credential],
        outcome: Outcome,
        note: str | None,
        computed: Mapping[int, float] = NO_SECONDS,
    ) -> set[int]:
        why, set_aside = _storable(note or "end"), set[int]()
        for attempts in _parts(credentials):
            request = wire.End(attempts=attempts, outcome=outcome, note=why, computed=_of(attempts, computed))
            set_aside.update(self._post(wire.END, request).set_aside)
        return set_aside

    def deliver(self, deliveries: Sequence[Delivery]) -> list[Receipt]:
        return self._of_each(deliveries, self._post(wire.DELIVER, self._results(deliveries)))

    def exchange(
        self,
        deliveries: Sequence[Delivery],
        worker_id: str,
        count: int,
        seconds: float,
        held: Collection[int],
        copies: int = 0,
    ) -> tuple[list[Receipt], list[Lease]]:
        """One request.  Raises RequestRefused and NotEnrolled."""
        lease = self._lease_request(worker_id, count, seconds, held, copies)
        answer = self._post(wire.EXCHANGE, wire.Exchange(results=self._results(deliveries), lease=lease))
        return self._of_each(deliveries, answer), answer.leases

    def _results(self, deliveries: Sequence[Delivery]) -> wire.Results:
        return wire.Results(deliveries=list(deliveries), now=self._requests.clock.wall())

    def _of_each(self, deliveries: Sequence[Delivery], answer: wire.Receipts) -> list[Receipt]:
        with understood(self._address):
            if len(answer.receipts) != len(deliveries):
                raise BadMessage(f"receipts: expected {len(deliveries)}, got {len(answer.receipts)}")
        return answer.receipts

    def _post(self, operation: Operation[Q, A], request: Q) -> A:
        return self._requests.post(operation.answer, self._address, operation.path, request)


def _of(attempts: Sequence[Credential], said: Mapping[int, N]) -> tuple[tuple[int, N], ...]:
    return tuple((shown.attempt, said[shown.attempt]) for shown in attempts if shown.attempt in said)


def _storable(text: str) -> str:
    """A reason that JSON and every database accept: errors may quote names of files with any bytes."""
    return re.sub("[\0\ud800-\udfff]", "?", text[:MAX_REASON])


def _parts(credentials: Collection[Credential]) -> Iterator[list[Credential]]:
    """Credentials in parts that fit into one request; one empty part when there are no credentials."""
    shown = [Credential(credential.attempt, credential.nonce) for credential in credentials]
    for start in range(0, max(1, len(shown)), wire.MAX_AT_ONCE):
        yield shown[start : start + wire.MAX_AT_ONCE]
