"""What travels between a server and its workers as JSON, and back."""

from __future__ import annotations

from typing import Any

from db import Credential, Delivery, Lease, Receipt
from db.files.messages import converted, document
from jobs.reach import wire
from jobs.reach.parts import CampaignInfo, CredentialFields, DeliveryFields, LeaseFields, ReceiptFields


def credential_document(credential: Credential) -> dict[str, Any]:
    return document(CredentialFields.of_credential(credential))


def delivery_document(delivery: Delivery) -> dict[str, Any]:
    return document(DeliveryFields.of_delivery(delivery))


def delivery_of(fields: Any) -> Delivery:
    return converted(fields, DeliveryFields).delivery()


def lease_of(fields: Any) -> Lease:
    return converted(fields, LeaseFields).lease


def receipt_of(fields: Any) -> Receipt:
    return converted(fields, ReceiptFields).receipt


def info_document(info: CampaignInfo) -> dict[str, Any]:
    return document(wire.Description.of_info(info))


def info_of(fields: Any) -> CampaignInfo:
    return converted(fields, wire.Description).info
