"""How a worker asks a server again: its pauses, and a batch of results that was refused as a whole."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from db import Credential, Delivery, Receipt
from db.states import EventKind
from jobs.reach.backoff import Backoff
from jobs.reach.remote import RemoteCampaign, RequestRefused
from tests.support.campaigns import TRUE, delivery
from tests.support.clock import MovableClock


def test_each_failure_doubles_the_pause_up_to_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = MovableClock()
    monkeypatch.setattr(random, "uniform", lambda least, most: most)
    asking = Backoff(1.0, 6.0, clock=clock)
    assert asking.due

    def pause() -> float:
        asking.failed()
        began = clock.monotonic()
        while not asking.due:
            clock.wait(0.5)
        return clock.monotonic() - began

    assert [pause() for _ in range(5)] == [1.0, 2.0, 4.0, 6.0, 6.0]
    asking.failed()
    asking.succeeded()
    assert asking.due
    assert pause() == 1.0


def test_of_a_batch_that_is_refused_each_result_has_its_own_receipt(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the results: the receipt of another one would throw a good one away."""
    campaign = RemoteCampaign("http://localhost:1/seven", "token")
    spoiling = {1, 4}

    def deliver(deliveries: Sequence[Delivery]) -> list[Receipt]:
        if spoiling & {each.attempt for each in deliveries}:
            raise RequestRefused("it cannot be read")
        return [Receipt(None, str(each.attempt)) for each in deliveries]

    monkeypatch.setattr(campaign, "deliver", deliver)
    receipts = campaign.deliver_each([delivery(Credential(number, "n"), TRUE[number]) for number in range(7)])
    refused = Receipt(EventKind.REFUSED, "it cannot be read")
    assert receipts == [refused if number in spoiling else Receipt(None, str(number)) for number in range(7)]
    campaign.close()
