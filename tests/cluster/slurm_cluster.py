"""A real SLURM cluster of several nodes on this machine, in a folder of its own."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from slurm.keeper import SECONDS_BETWEEN_QUESTIONS, QueueKeeper

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")

CONFIGURATION = """\
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/munge.sock,cred_expire=6
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,bf_resolution=1,sched_interval=1,sched_min_interval=0,batch_sched_delay=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
KillWait=4
MinJobAge=600
MaxArraySize=4
MessageTimeout=10
SlurmdTimeout=6
SlurmctldTimeout=30
ReturnToService=2
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
NodeName=n[1-{nodes}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=1 State=UNKNOWN
PartitionName=best-effort Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE GraceTime=0 MaxTime=INFINITE State=UP
PartitionName=normal Nodes=ALL Default=YES PriorityTier=100 PreemptMode=OFF MaxTime=INFINITE State=UP
"""
SECONDS_TO_START = 120
"""Until every node is idle; some seconds suffice where nothing else runs."""
SILENCE = ("Unable to contact", "timed out")
"""In messages of commands that got no answer from a busy controller."""


class Cluster:
    """Nodes n1, n2, … of one processor each; arrays have at most four elements."""

    def __init__(self, folder: Path, nodes: int) -> None:
        self.folder, self.nodes = folder, nodes
        for name in ("munge", "state", "log", *(f"spool/n{k + 1}" for k in range(nodes))):
            (folder / name).mkdir(parents=True)
        port = _free_ports(nodes + 1)
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(folder=folder, nodes=nodes, port=port, first=port + 1, last=port + nodes)
        )
        (folder / "munge" / "munge.key").write_bytes(secrets.token_bytes(1024))
        (folder / "munge" / "munge.key").chmod(0o600)
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")

    def start(self) -> None:
        """Start the daemons, and wait until every node is idle."""
        folder, nodes = self.folder, self.nodes
        files = {"key-file": "key", "socket": "sock", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        self.call("munged", *(f"--{name}={folder}/munge/munge.{ending}" for name, ending in files.items()))
        self.call("slurmctld", "-c")
        for k in range(nodes):
            self.call("slurmd", "-N", f"n{k + 1}")
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        """Wait until every node is idle, but for those that were killed."""
        deadline = time.monotonic() + SECONDS_TO_START
        idle = "sinfo", "-h", "-N", "-p", "normal", "-t", "idle", "-o", "%N"
        while self.call(*idle).count("n") < self.nodes:
            assert time.monotonic() < deadline, (self.folder / "log" / "slurmctld.log").read_text()
            time.sleep(0.1)

    def empty(self) -> None:
        """End all jobs, and wait until the nodes are idle again."""
        self.call("scancel", "-u", "root")
        self.wait_until_idle()

    def call(self, *command: str, content: str | None = None) -> str:
        """The output of a command, which is called again where the controller is too busy to answer."""
        deadline = time.monotonic() + 60
        while True:
            done = subprocess.run(command, input=content, capture_output=True, text=True, timeout=60, check=False)
            if done.returncode == 0:
                return done.stdout
            assert any(sign in done.stderr for sign in SILENCE), (command, done.stderr)
            assert time.monotonic() < deadline, (command, done.stderr)
            time.sleep(1)

    def urgent(self, seconds: float) -> str:
        """A job of higher priority that takes one node."""
        script = f"#!/bin/bash\n#SBATCH --partition=normal --output=/dev/null\nexec sleep {seconds}\n"
        return self.call("sbatch", "--parsable", content=script).strip()

    def nodes_of(self, name: str) -> list[str]:
        """The nodes on which jobs of that name run."""
        return self.call("squeue", "-h", "-t", "RUNNING", "-n", name, "-o", "%N").split()

    def kill_node(self, name: str) -> None:
        """As when its power fails: the node's daemon and all that it runs are gone."""
        daemon = psutil.Process(int((self.folder / f"slurmd-{name}.pid").read_text()))
        jobs = [
            each
            for each in psutil.process_iter(["environ"])
            if (each.info["environ"] or {}).get("SLURMD_NODENAME") == name
        ]
        steps = []
        for each in jobs:
            with contextlib.suppress(psutil.NoSuchProcess):
                steps += [parent for parent in each.parents() if parent.name() == "slurmstepd"]
        for process in (daemon, *steps, *jobs):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.nodes -= 1

    def stop(self) -> None:
        """End all that runs."""
        subprocess.run(["scancel", "-u", "root"], capture_output=True, check=False)
        time.sleep(0.5)
        for process in psutil.process_iter(["environ"]):
            own = (process.info["environ"] or {}).get("SLURM_CONF") == os.environ["SLURM_CONF"]
            if own and process.pid != os.getpid():
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        # munged may have ended with the others, before or after it removed its file.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((self.folder / "munge" / "munge.pid").read_text()), signal.SIGTERM)
        del os.environ["SLURM_CONF"]


def ask_often(variables: Mapping[str, str] | None = None) -> None:
    """Have the keeper of a queue in this process, a command to be, ask every second; ``variables``: of its jobs."""
    os.environ.update(variables or {})
    seconds, *others = QueueKeeper.__init__.__defaults__ or ()
    QueueKeeper.__init__.__defaults__ = (1.0, *others)  # type: ignore[misc]
    assert seconds == SECONDS_BETWEEN_QUESTIONS


def _free_ports(count: int) -> int:
    """The first of so many neighbouring free ports."""
    for first in range(26000 + secrets.randbelow(2000), 32000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise AssertionError("no free ports")
