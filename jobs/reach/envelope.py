"""The file of a result in an outbox: it names the result's campaign, which is checked before the result is sent."""

from __future__ import annotations

import json
from typing import Any

from db import Delivery
from db.messages import BadMessage, Text, converted, decoded, document
from jobs.reach.wire import Address, Description
from langford.words import several


class Origin(Address, frozen=True, kw_only=True):
    """Where a result belongs, and the hash of the code that computed it."""

    kernels: Text


def sealed(info: Description, kernels: str, delivery: Delivery) -> bytes:
    """The content of a file with a delivery for a campaign; ``kernels``: hash of the code that computed it."""
    origin = Origin(**info.address, kernels=kernels)
    return json.dumps({**document(origin), **document(delivery)}).encode()


def opened(content: bytes, info: Description) -> Delivery:
    """Raises BadMessage, also when the delivery is not for this campaign."""
    try:
        fields = decoded(content, dict[str, Any])
    except BadMessage as error:
        raise BadMessage(f"it is not a result, or is cut short ({error})") from error
    fields.setdefault("seed", 0)  # earlier versions wrote neither
    fields.setdefault("began", None)
    names = Origin.__struct_fields__
    try:
        origin = converted({name: fields.pop(name) for name in names if name in fields}, Origin)
    except BadMessage as error:
        raise BadMessage(f"it does not say which campaign it belongs to ({error})") from error
    for name, expected in info.address.items():
        # The UUID identifies a campaign; its name may have been changed meanwhile.
        if getattr(origin, name) != expected and name != "name":
            raise BadMessage(f"its {name} is not that of the campaign {info.name} on the server")
    delivery = converted(fields, Delivery)
    if delivery.index >= info.tasks:
        raise BadMessage(f"the campaign has only {several(info.tasks, 'task')}")
    return delivery
