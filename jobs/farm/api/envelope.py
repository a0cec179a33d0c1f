"""A result on its way says where it belongs; that is compared with the campaign before anything else."""

from __future__ import annotations

import json

from db import Delivery
from jobs.farm.api import wire
from jobs.farm.api.wire import BadMessage, CampaignInfo
from langford.errors import LangfordError


class Misdirected(LangfordError):
    """A result belongs to another campaign."""


def sealed(info: CampaignInfo, kernels: str, delivery: Delivery) -> bytes:
    """The content of a file with a delivery for a campaign.

    ``kernels``: hash of the code that computed it, see :func:`langford.provenance.kernel_hash`.
    """
    document = {**wire.address_document(info), "kernels": kernels, **wire.delivery_document(delivery)}
    return json.dumps(document).encode()


def opened(content: bytes, info: CampaignInfo) -> Delivery:
    """The delivery in the content of a file; raises BadMessage, or Misdirected unless it is for this campaign."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"it is not a result, or is cut short ({error})") from error
    address = wire.address_document(info)
    if isinstance(document, dict):
        document.setdefault("seed", 0)  # earlier versions knew no seeds
        document.setdefault("began", None)  # nor this
    if not isinstance(document, dict) or not {*address, "kernels"} <= set(document):
        raise BadMessage("it does not say which campaign it belongs to")
    for name, expected in address.items():
        # Its UUID tells a campaign from others; its name may have been changed meanwhile.
        if document.pop(name) != expected and name != "name":
            raise Misdirected(f"its {name} is not that of the campaign {info.name} on the server")
    wire.text(document.pop("kernels"))
    delivery = wire.delivery_of(document)
    if delivery.evaluation.result.index >= info.tasks:
        raise BadMessage(f"the campaign has only {info.tasks} tasks")
    return delivery
