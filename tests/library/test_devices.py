"""The kinds of devices: what differs between them is asked of their classes, nowhere of their names."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from langford.devices import CPU, HOST, KINDS, VERIFYING, BadDevice, Cuda, Device, cores, devices, kind_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "device", "written"),
    [("cpu", CPU, "cpu"), ("cuda", Cuda(0), "cuda:0"), ("cuda:12", Cuda(12), "cuda:12")],
)
def test_texts_and_devices(text: str, device: Device, written: str) -> None:
    assert Device.parse(text) == device
    assert str(device) == written
    assert Device.parse(written) == device
    assert pickle.loads(pickle.dumps(device)) == device


@pytest.mark.parametrize("text", ["", "host", "gpu", "cuda:", "cuda:-1", "cuda:12345", "cpu:0", "CPU", "cuda:1 "])
def test_other_texts_name_no_device(text: str) -> None:
    with pytest.raises(BadDevice, match="use cpu, cuda or cuda:1"):
        Device.parse(text)


def test_devices_of_a_kind() -> None:
    assert devices("cpu") == [CPU] * cores()
    assert devices("cpu", 3) == [CPU] * 3
    with pytest.raises(BadDevice, match="use cpu, cuda or cuda:1"):
        devices("host")
    assert list(VERIFYING) == [*KINDS, "host"]
    assert VERIFYING["host"].present(1) == [HOST]


def test_a_gpu_makes_a_worker_one_with_a_gpu() -> None:
    assert [kind_of(those) for those in ([], [CPU], [CPU, Cuda(1)], [Cuda(0)], [HOST])] == [
        "cpu", "cpu", "cuda", "cuda", "cpu",
    ]  # fmt: skip


def test_host_and_processor_are_two_devices_with_one_name() -> None:
    """A ledger keeps the processor as the device of what the host computed."""
    assert HOST != CPU
    assert (str(HOST), HOST.kind, HOST.model) == (str(CPU), CPU.kind, CPU.model)
    assert (CPU.described, HOST.described) == ("cpu", "host-compiled kernel")


def test_one_gpu_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langford.devices.device_count", lambda: 3)
    monkeypatch.setattr("langford.devices.device_name", lambda index: ["A", "B", "C"][index])
    assert devices("cuda") == [Cuda(0), Cuda(1), Cuda(2)]
    assert devices("cuda:1") == [Cuda(1)]
