"""A disk that fills under a real server: it says so before, and continues by itself once there is room."""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path

from db.states import Role
from tests.support.campaigns import NAME, TASKS, new_campaign
from tests.support.command_line import ENVIRONMENT
from tests.support.databases import new_ledger
from tests.support.disks import fill, mounted
from tests.support.farm import start
from tests.support.servers import Server


def test_a_disk_that_fills(tmp_path: Path) -> None:
    told = tmp_path / "told"
    keeping = f"""'{sys.executable}' -c 'import sys; open("{told}", "a").write(sys.stdin.read() + chr(10))'"""
    with mounted(tmp_path / "disk", "size=4m") as disk, new_ledger("sqlite", disk, "langford.db") as ledger:
        campaign = new_campaign(ledger)
        reader = {"Authorization": f"Bearer {campaign.operator.new_token(Role.READER)}"}
        options = ["--ledger", str(disk / "langford.db"), "--notify-command", keeping]
        with Server(tmp_path, NAME, *options) as server:

            def kinds() -> list[str]:
                return [json.loads(line)["kind"] for line in told.read_text().splitlines() if line]

            def warned() -> list[str]:
                status = urllib.request.Request(f"{server.url}/campaigns/{NAME}/status", headers=reader)
                with urllib.request.urlopen(status) as answer:
                    return [warning["kind"] for warning in json.load(answer)["warnings"]]

            server.wait_until(lambda: "work, but loses no committed result\n" in server.log)
            server.wait_until(lambda: told.exists() and kinds() == ["disk_nearly_full"])
            assert "disk_nearly_full" in warned()
            filler, errors = fill(disk), tmp_path / "errors"
            with errors.open("w") as stream:
                words = ["work", str(disk / f"{NAME}.join"), "--workers", "1", "--outbox", "outbox"]
                worker = start(words, tmp_path, dict(ENVIRONMENT), stderr=stream)
            server.wait_until(lambda: "then the server continues by itself" in errors.read_text())
            server.wait_until(lambda: kinds() == ["disk_nearly_full", "disk_full"])
            server.wait_until(lambda: "disk_full" in warned())
            assert "no space left for the ledger" in server.log
            filler.unlink()
            assert worker.wait(100) == 0, errors.read_text()
            server.wait_until(lambda: "disk_full" not in warned())
        assert campaign.reader.standing().tasks_done == TASKS
        assert "command" not in errors.read_text()
