"""sbatch scripts against golden files, and a queue keeper that meets every answer of a scheduler."""

from __future__ import annotations

import errno
import os
import re
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from db import Campaign, CampaignRecord, Standing
from db.records import CampaignInfo
from jobs.reach.requests import ServerAway
from langford.cli.cluster.job_options import QueueOptions
from langford.errors import BadInput, NotInstalled
from slurm import Element, QueueKeeper, Resources, SlurmScheduler, array_script, job_name, reservation_script
from slurm.errors import QueueNotKept, SchedulerSilent, SubmissionRefused
from slurm.keeper import FRUITLESS_ROUNDS, PATIENT_ROUNDS, held
from slurm.options import without_effect
from tests.support.campaigns import KEY
from tests.support.consoles import KeptConsole

NAME = "langford-27-polyphase-16"
JOBS = f"{NAME}-1f2e3d4c"
GOLDEN = Path(__file__).parents[1] / "golden"
LOGS = Path("/home/ada/slurm-logs/langford-27-polyphase-16")
WORK = ["/opt/venv/bin/python", "-m", "langford", "work", "/home/ada/my farm.join"]


def test_the_script_of_an_array() -> None:
    resources = Resources(1200, "best-effort", "gpu:1", 4, ("--account=records", "--qos=low", "--exclude=n[1-3]"))
    command = [*WORK, "--time-limit", str(resources.working_seconds)]
    text = array_script(JOBS, 256, resources, LOGS, command, ["module load cuda"])
    assert text == (GOLDEN / "array.sbatch").read_text()


def test_the_script_of_a_reservation() -> None:
    mpi = [*WORK[:3], "mpi", "--static", "langford", "24"]
    text = reservation_script("records", 4, 16, Resources(2 * 3600 + 61), LOGS, ["srun", "--mpi=pmi2", *mpi])
    assert text == (GOLDEN / "reservation.sbatch").read_text()


def test_the_jobs_of_two_campaigns_of_one_name_have_two_names() -> None:
    names = {job_name("l24", str(uuid.uuid4())) for _ in range(100)}
    assert len(names) == 100
    assert all(re.fullmatch("l24-[0-9a-f]{8}", name) for name in names)
    assert job_name(NAME, "1f2e3d4c-5b6a-4798-8a7b-6c5d4e3f2a1b") == JOBS


@pytest.mark.parametrize(
    "build",
    [
        lambda: array_script("two words", 1, Resources(600), LOGS, WORK),
        lambda: array_script("name", 1, Resources(600, partition="a b"), LOGS, WORK),
        lambda: array_script("name", 1, Resources(600, extra=("mem=2G",)), LOGS, WORK),
        lambda: array_script("name", 1, Resources(600, extra=("--mem=2G\nrm -rf /",)), LOGS, WORK),
        lambda: array_script("name", 1, Resources(600), Path("/home/ada/my logs"), WORK),
        lambda: array_script("name", 1, Resources(600), LOGS, WORK, ["module load cuda\n#SBATCH --array=0-3"]),
        lambda: Resources(120).working_seconds,
    ],
)
def test_what_slurm_would_misread_is_refused(build: Callable[[], object]) -> None:
    with pytest.raises(BadInput):
        build()


@pytest.mark.parametrize(
    "option", ["-Mfar", "--mem=2G '-M' far", "--clusters=far", "--wait", "-W", "--test-only", "--uid=1"]
)
def test_an_option_that_hides_the_jobs_is_refused(option: str) -> None:
    with pytest.raises(BadInput, match=r"^-.* of sbatch would hide the jobs .*SLURM_CLUSTERS"):
        array_script("name", 1, Resources(600, extra=("--mem=2G", option)), LOGS, WORK)


def test_other_options_stand_before_our_own() -> None:
    extra = (
        "--mem=2G",
        "-n 4",
        "--comment='-M and --wait'",
        "--wait-all-nodes=1",
        "--exclude n1",
        "-J other",
        "--array=9",
    )
    text = array_script("name", 1, Resources(600, extra=extra), LOGS, WORK)
    given, _, own = text.partition("#SBATCH --job-name=name\n")
    assert given == "\n".join(["#!/bin/bash", *(f"#SBATCH {option}" for option in extra), ""])
    assert "#SBATCH --array=0-0\n" in own
    with pytest.raises(BadInput, match="close the quote"):
        array_script("name", 1, Resources(600, extra=("--comment='open",)), LOGS, WORK)
    assert without_effect(extra, text) == ["-J", "--array=9"]
    alone = reservation_script("name", 2, 4, Resources(600, extra=("--requeue -N3 --exclusive=user",)), LOGS, WORK)
    assert without_effect(["--requeue -N3 --exclusive=user"], alone) == ["-N3", "--exclusive=user"]


@pytest.mark.parametrize("place", ["setup", "option", "command"])
def test_no_part_of_a_script_shows_a_password(place: str) -> None:
    secret = "postgresql://ada:secret@host/records"
    setup = [f"export LANGFORD_LEDGER={secret}"] if place == "setup" else []
    extra = (f"--export=LANGFORD_LEDGER={secret}",) if place == "option" else ()
    command = [*WORK, "--ledger", secret] if place == "command" else WORK
    with pytest.raises(BadInput) as raised:
        array_script("name", 1, Resources(600, extra=extra), LOGS, command, setup)
    assert "secret" not in str(raised.value)


class Cluster:
    """A scheduler whose answers the test sets."""

    def __init__(self, largest: int = 1001) -> None:
        self.sizes: list[int] = []
        self.present = 0
        self.cancelled = False
        self.largest = largest
        self.trouble: Exception | None = None

    def submit(self, script: str) -> str:
        if self.trouble:
            raise self.trouble
        self.sizes.append(int(script))
        self.present += int(script)
        return str(len(self.sizes))

    def elements(self, name: str) -> list[Element]:
        if isinstance(self.trouble, SchedulerSilent):
            raise self.trouble
        return [Element(f"1_{k}", "RUNNING") for k in range(self.present)]

    def largest_array(self) -> int:
        return self.largest

    def cancel_pending(self, name: str) -> None:
        self.cancelled = True


UUID = "11111111-0000-4000-8000-000000000000"


class Asked(Campaign):
    """A campaign whose standing the test sets."""

    def __init__(self, standing: Callable[[], Standing]) -> None:
        self.standing = standing

    def info(self) -> CampaignInfo:
        known = CampaignRecord(1, UUID, "name", KEY, 9, 1.0, 0.0, 0.0)
        return CampaignInfo.of(UUID, known, self.standing(), "kernels")


def script(name: str, elements: int) -> str:
    return str(elements)


def keeper_of(cluster: Cluster, tasks: dict[str, int], most: int = 256) -> QueueKeeper:
    return QueueKeeper(cluster, Asked(lambda: Standing(tasks, {})), script, most, seconds=0)


def test_workers_of_a_campaign_that_is_away_are_not_waited_for() -> None:
    def away() -> Standing:
        raise ServerAway("no answer")

    QueueKeeper(Cluster(), Asked(away), script, 5, seconds=0).wait_for_workers(60)


def test_the_name_of_the_jobs_is_asked_for_when_the_campaign_is_known() -> None:
    asked: list[str] = []

    class Named(Cluster):
        def elements(self, name: str) -> list[Element]:
            asked.append(name)
            return super().elements(name)

    def standing() -> Standing:
        asked.append("standing")
        return Standing({"ready": 1}, {})

    QueueKeeper(Named(), Asked(standing), script, 5).top_up()
    assert asked == ["standing", "name-11111111"]


def test_missing_elements_are_submitted() -> None:
    """It adopts what it finds."""
    cluster = Cluster()
    cluster.present = 200
    keeper = keeper_of(cluster, {"ready": 500, "leased": 12})
    assert keeper.top_up() == 56
    cluster.present -= 6
    assert keeper.top_up() == 6
    assert keeper.top_up() == 0
    assert cluster.sizes == [56, 6]


@pytest.mark.parametrize(
    ("running", "reason", "what"),
    [(0, "PartitionConfig", "ask for what the nodes"), (3, "JobHeldUser", "release them")],
)
def test_elements_that_can_never_start_are_named_and_replaced(running: int, reason: str, what: str) -> None:
    """They are not, where no other one runs: replacements would not start either."""
    console = KeptConsole()

    class Held(Cluster):
        def elements(self, name: str) -> list[Element]:
            held = [Element(f"9_{number}", "PENDING", reason) for number in range(5)]
            busy = [Element(f"8_{number}", "PENDING", "Resources") for number in range(running)]
            return [*super().elements(name), *held, *busy]

    cluster = Held()
    asked = Asked(lambda: Standing({"ready": 9}, {}))
    keeper = QueueKeeper(cluster, asked, script, 5 + running, seconds=0, console=console)
    assert [keeper.top_up() for _ in range(PATIENT_ROUNDS - 1)] == [0] * (PATIENT_ROUNDS - 1)
    assert keeper.top_up() == (5 if running else 0)
    assert keeper.top_up() == 0
    [said] = [words for words in console.said if reason in words]
    assert said.startswith(f"5 elements wait for {reason}, which may not end by itself: {what}")


def test_never_more_workers_than_tasks_nor_than_an_array_holds() -> None:
    cluster = Cluster(largest=4)
    assert keeper_of(cluster, {"ready": 9, "leased": 1, "done": 90}).top_up() == 10
    assert cluster.sizes == [4, 4, 2]


def test_a_campaign_that_is_done_empties_the_queue() -> None:
    cluster = Cluster()
    assert keeper_of(cluster, {"done": 90, "set-aside": 1}).run() is None
    assert cluster.cancelled
    assert not cluster.sizes


def test_results_to_evaluate_again_are_work_to_do() -> None:
    cluster, standing, console = Cluster(), [Standing({"done": 90}, {}, 7, 2)], KeptConsole()
    keeper = QueueKeeper(cluster, Asked(lambda: standing[0]), script, 5, seconds=0, console=console)
    assert keeper.top_up() == 5
    assert "7 to evaluate again" in console.said[0]
    for rechecks in range(6, 0, -1):  # each is progress
        cluster.present, standing[0] = 0, Standing({"done": 90}, {}, rechecks, 0)
        assert keeper.top_up() == min(5, rechecks)

    def wait_for_ever() -> None:
        while True:
            cluster.present = 0
            keeper.top_up()

    with pytest.raises(QueueNotKept, match="1 result waits for workers with another token"):
        wait_for_ever()
    standing[0] = Standing({"done": 90}, {})
    assert keeper.top_up() is None


def test_workers_that_end_at_once_are_not_replaced_for_ever() -> None:
    cluster = Cluster()
    keeper = keeper_of(cluster, {"ready": 3})

    def replace_for_ever() -> None:
        while True:
            keeper.top_up()
            cluster.present = 0

    with pytest.raises(QueueNotKept, match="read their logs"):
        replace_for_ever()
    assert len(cluster.sizes) < 10


def test_the_same_trouble_after_a_success_is_said_again() -> None:
    standings = [ServerAway("no answer"), None, ServerAway("no answer")]

    def standing() -> Standing:
        trouble = standings.pop(0)
        if trouble is not None:
            raise trouble
        return Standing({"ready": 2}, {})

    def stop() -> str | None:
        return None if standings else "SIGTERM"

    cluster, console = Cluster(), KeptConsole(stop)
    cluster.present = 2
    assert QueueKeeper(cluster, Asked(standing), script, 5, 0.01, console).run() == "SIGTERM"
    again, back = "no answer; asking again", "the queue or the ledger is back"
    assert [line.partition(" (")[0] for line in console.said] == [again, back, again]
    assert not cluster.sizes  # while nobody knows how many are wanted, nothing is submitted


@pytest.mark.parametrize("trouble", [SchedulerSilent("squeue: down"), SubmissionRefused("sbatch: too many jobs")])
def test_trouble_passes(trouble: Exception) -> None:
    """However many rounds it lasts: no worker has ended meanwhile."""
    cluster = Cluster()
    cluster.trouble = trouble
    tasks = {"ready": 2}
    rounds = iter(range(100))

    def stop() -> str | None:
        if next(rounds) == 3 * FRUITLESS_ROUNDS:
            cluster.trouble = None
        if cluster.present == 2:
            tasks.clear()
        return None

    console = KeptConsole(stop)
    keeper = QueueKeeper(cluster, Asked(lambda: Standing(tasks, {})), script, 5, seconds=0.01, console=console)
    assert keeper.run() is None
    assert cluster.sizes == [2]
    assert sum(str(trouble) in line for line in console.said) == 1  # not once per round


def test_a_lock_is_no_pipe(tmp_path: Path) -> None:
    """A keeper would wait for its other end."""
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(QueueNotKept, match="remove it"), held(tmp_path / "lock"):
        pass


def test_a_lock_on_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other keeper is to blame."""

    def flock(*arguments: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    with (
        pytest.raises(QueueNotKept, match=r"cannot be locked \(No locks available\): .*--logs"),
        held(tmp_path / "lock"),
    ):
        pass


def test_one_keeper_per_queue(tmp_path: Path) -> None:
    with (
        held(tmp_path / "lock"),
        pytest.raises(QueueNotKept, match="another keeper holds"),
        held(tmp_path / "lock"),
    ):
        pass
    with held(tmp_path / "lock"):
        pass


Command = Callable[[str, str], None]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Make a command with the text of a shell script; there are no others."""

    def made(name: str, text: str) -> None:
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)

    monkeypatch.setenv("PATH", str(tmp_path))
    return made


def test_commands_answer_with_their_exit_codes(command: Command) -> None:
    with pytest.raises(NotInstalled, match="squeue is not installed here"):
        SlurmScheduler().elements("name")
    command("squeue", "echo '7_[0-3]|PENDING|PartitionDown'; echo '8_1|COMPLETING|None'; echo noise")
    waits = Element("7_[0-3]", "PENDING", "PartitionDown")
    assert SlurmScheduler().elements("name") == [waits, Element("8_1", "COMPLETING", "None")]
    command(
        "squeue", "printf 'squeue: error: no answer\\nsqueue: Unable to contact slurm controller\\n' >&2; exit 1"
    )
    with pytest.raises(SchedulerSilent, match=r"^squeue: error: no answer; Unable to contact slurm controller$"):
        SlurmScheduler().elements("name")
    command("sbatch", "echo '12;far'")
    assert SlurmScheduler().submit("#!/bin/bash\n") == "12"
    command("sbatch", "echo 'sbatch: 3 hours are charged'; echo 13; echo 'have a nice day'")
    assert SlurmScheduler().submit("#!/bin/bash\n") == "13"
    command("sbatch", "echo 'error: no' >&2; echo 'Invalid partition' >&2; exit 1")
    with pytest.raises(SubmissionRefused, match=r"refused the job: error: no Invalid partition$"):
        SlurmScheduler().submit("#!/bin/bash\n")
    command("sbatch", "echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1")
    with pytest.raises(SchedulerSilent):
        SlurmScheduler().submit("#!/bin/bash\n")
    command("scontrol", "echo 'MaxArraySize            = 64'")
    assert SlurmScheduler().largest_array() == 64


def test_a_machine_that_knows_no_cluster_is_not_asked_again(command: Command) -> None:
    """But a keeper whose cluster has answered outlives a network that fails."""
    unknown = "echo 'squeue: fatal: Could not establish a configuration source' >&2; exit 1"
    command("squeue", unknown)
    scheduler = SlurmScheduler()
    with pytest.raises(NotInstalled, match=r"SLURM is not set up here\. Run this where jobs are submitted"):
        scheduler.elements("name")
    command("squeue", "")
    assert scheduler.elements("name") == []
    command("squeue", unknown)
    with pytest.raises(SchedulerSilent):
        scheduler.elements("name")


def test_commands_that_do_not_start_or_answer_in_other_encodings(command: Command, tmp_path: Path) -> None:
    latin = r"printf '\351t\351\n' | /usr/bin/tee /dev/stderr"
    command("sbatch", f"{latin}; echo 14")
    assert SlurmScheduler().submit("#!/bin/bash\n") == "14"
    command("squeue", f"{latin}; echo '7_1|RUNNING|None'")
    assert SlurmScheduler().elements("name") == [Element("7_1", "RUNNING", "None")]
    command("squeue", f"{latin}; exit 1")
    with pytest.raises(SchedulerSilent):
        SlurmScheduler().elements("name")
    (tmp_path / "squeue").write_bytes(b"\x7fELF")
    with pytest.raises(NotInstalled, match=r"squeue does not run \(Exec format error\)"):
        SlurmScheduler().elements("name")


def test_a_command_that_cannot_be_started_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """A keeper lives for weeks: it asks again when there is memory for a process."""

    def run(*arguments: object, **options: object) -> None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr("subprocess.run", run)
    with pytest.raises(SchedulerSilent, match="squeue cannot be started now"):
        SlurmScheduler().elements("name")


# An account and a memory that the script does not name; where the cluster is.
HARMLESS = {"SBATCH_ACCOUNT", "SBATCH_MEM_PER_NODE", "SLURM_CLUSTERS", "SLURM_CONF", "SQUEUE_ALL"}
# In the place of options of the script, by names of all kinds; of the job in which the keeper runs.
HARMFUL = {"SBATCH_JOB_NAME", "SBATCH_ARRAY_INX", "SBATCH_TIMELIMIT", "SBATCH_NO_REQUEUE", "SBATCH_PARTITION"}
HARMFUL |= {"SBATCH_WAIT", "SBATCH_ERROR", "SLURM_CPU_BIND"}
FILTERS = {"SQUEUE_FORMAT", "SCANCEL_NAME"}


def test_the_environment_changes_no_name_and_no_choice_of_jobs(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in HARMLESS | HARMFUL | FILTERS:
        monkeypatch.setenv(name, "1")
    seen = tmp_path / "seen"
    monkeypatch.setenv("SEEN", str(seen))
    write = "export -p >$SEEN"

    def variables() -> set[str]:
        return set(re.findall(r"^export (\w+)", seen.read_text(), re.MULTILINE))

    command("sbatch", f"{write}; echo 1")
    script = array_script(JOBS, 5, Resources(600, "best-effort"), LOGS, WORK)
    assert SlurmScheduler().submit(script) == "1"
    assert variables() >= HARMLESS
    assert not variables() & HARMFUL
    SlurmScheduler().submit(array_script(JOBS, 5, Resources(600, extra=("--mem=4G",)), LOGS, WORK))
    assert "SBATCH_PARTITION" in variables()
    assert "SBATCH_MEM_PER_NODE" not in variables()
    for name in ("squeue", "scontrol", "scancel"):
        command(name, f'{write}; [ -z "$(/bin/cat)" ]')
    for call in (
        lambda: SlurmScheduler().elements(JOBS),
        lambda: SlurmScheduler().cancel_pending(JOBS),
        SlurmScheduler().largest_array,
    ):
        call()
        assert variables() >= HARMLESS
        assert not variables() & FILTERS


def test_the_jobs_are_those_of_this_user_on_the_cluster_that_takes_them(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, "nobody")
    monkeypatch.setenv("SBATCH_CLUSTERS", "far")
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    for name in ("squeue", "scancel"):
        command(name, 'echo "$* on $SLURM_CLUSTERS" >>$SEEN')
    SlurmScheduler().elements(JOBS)
    SlurmScheduler().cancel_pending(JOBS)
    asked, cancelled = (tmp_path / "seen").read_text().splitlines()
    assert f"-u {os.geteuid()} -n {JOBS} " in asked
    assert f"--user={os.geteuid()} --name={JOBS}" in cancelled
    assert asked.endswith("on far")
    assert cancelled.endswith("on far")


@pytest.mark.parametrize(
    ("address", "is_shared"),
    [("langford.db", False), ("sqlite:///l.db", False), ("postgresql://h/l", True), ("postgres://h/l", True)],
)
def test_workers_elsewhere_open_a_database_but_no_file(address: str, is_shared: bool) -> None:
    assert QueueOptions(1, address, None, "cpu").is_shared is is_shared
