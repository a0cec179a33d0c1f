"""Bad input to every command: the exit code, one line that says what to change, no traceback, nothing changed."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from db import Export
from db.identity import Identity
from langford.cli.main import COMMANDS
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from langford.result import Evaluation
from tests.support.command_line import run_here, without_announcement
from tests.support.databases import new_ledger
from tests.support.forecasts import taking
from tests.support.joins import join_file

DONE, EMPTY = "eight", "empty"
HUGE = "9" * 5000

# In the arguments {busy} is a port that something listens on, {free} one that nothing listens on.
BAD_INPUT: list[tuple[str, str]] = [
    # count
    ("count", "name a problem, like 12, skolem 9, "),
    ("count 1000000000", "up to nine digits"),
    ("count 71", "no method can count"),
    ("count 7 8", "langford 7 is followed by one number too many: 8"),
    ("count skolm 8", "did you mean skolem?"),
    ("count A014552", "needs the index of its term"),
    ("count A059106 8 copies 3", "leave the other words out"),
    ("table A004077 8 --sum", "one number for each index"),
    ("table differences 1,2", "so there is no table"),
    ("count 9 copies 3 --method godfrey", "use miller"),
    ("count 7 --device cuda", "GPU"),
    ("count 7 --device gpu", "is not a device"),
    ("count differences 1,x", "commas between"),
    ("count 7 over 14", "leave over out"),
    ("count cyclic", "cyclic needs differences, like 1,2,4"),
    ("count 32", "core years"),
    ("count 8 --method polyphase --seed 0", "polyphase has no seed"),
    ("count 8 --method miller --seed 7", "or choose a method that has one"),
    ("count 9 copies 3 --seed 1", "no method with a seed can count"),
    # estimate
    ("estimate 65", "128 bits"),
    # list
    ("list 100 --limit 1", "128 places"),
    # families
    ("count extended-skolem 8", "from 1 to 17 (`langford table extended-skolem 8` counts all)"),
    ("run near-skolem-8-missing-3-polyphase-0 missing 3", "'polyphase' does not describe a problem"),
    ("tune miller rosa 5 defect 3", "leave defect out"),
    ("table rosa 4 --from 5", "choose a larger N, or a smaller --from"),
    ("table 4 missing 3", "langford takes defect: leave missing out"),
    ("table near-skolem 5 missing 9", "choose a larger N"),
    ("table 5 defect two", "did you mean defect?"),
    ("marginals 8 --colour 9", "it has 1, 2, 3, 4, 5, 6, 7, 8"),
    ("marginals 8 --colour 8 --out m.csv", "end the file name in .svg"),
    ("table extended-rosa 60", "choose a smaller N"),
    ("table skolem 40 copies 3", " core years): choose a smaller problem ("),
    ("table rosa 5 --json --format csv", "--json is a format too"),
    ("table rosa 5 -o table.pdf", "name the file *.csv, *.json or *.txt, or give --format, not table.pdf"),
    ("table 8 defect 4..3", "write 3..4"),
    ("table 8 defect 3..x", "like 2..5"),
    ("table rosa 8 -o link.svg --format csv", "link.svg exists and is not a"),
    # draw
    ("draw 5", "no arrangement to draw"),
    ("draw 7 --out picture.gif", ".svg"),
    ("draw 7 --out link.svg", "link.svg exists and is not a"),
    ("draw 3 --cubes 1,2,3,1,2,3", "not an arrangement"),
    ("draw --cubes 1,-2", "one label per place"),
    ("draw --cubes a,b", "separated by commas"),
    ("draw --cubes 1,1 --sample-seed 1", "leave --sample-seed out"),
    # run
    ("run nobody", "no campaign 'nobody'"),
    ("run nobody --ledger absent.db", "there is no ledger"),
    ("run https://farm:8765/eight --ledger absent.db", "is the address of a task server, but a ledger"),
    ("confirm 12", "no campaign of L(2,12)"),
    ("run langford 7 --name 12", "12 means the problem L(2,12)"),
    ("run eight --depth 4", "leave the options of a new one out"),
    ("run eight --device cuda", "GPU"),
    ("run ../eight", "no campaign '../eight'"),
    ("run langford 8 --depth 7", "even depths"),
    ("run langford 8 --depth 4 --task-time 3", "leave --depth out"),
    ("run langford 8 --task-time -1", "not negative"),
    ("run langford 8 --time-limit nan", "not negative"),
    ("run langford 8 --time-limit 999999999", "ten years"),
    ("run langford 8 --ledger no/such/folder.db", "create it first"),
    ("run langford 8 --ledger oracle://x/y", "is not a ledger"),
    ("run langford 8 --ledger host=x", "is neither a file nor a URL: write a database as postgresql://"),
    ("run langford 8 --ledger postgresql:/x/y", "is neither a file nor a URL"),
    ("run langford 8 --ledger POSTGRESQL://x:56x11/y", "port in 'postgresql://x:56x11/y' is not a number: '56x11'"),
    ("export eight --damaged --ledger absent.db", "absent.db is not the file of a ledger"),
    ("run langford 7 --name eight --depth 4", "give this one another name"),
    # create
    ("run 27", "or give --yes"),
    ("run 40", "--yes starts it regardless"),
    ("run 40 --ledger absent.db", "--yes starts it regardless"),
    ("table 40 --from 39", "--yes starts it regardless"),
    ("count 28", "or give --yes"),
    ("create langford 8 --replicate nan", "no finite number"),
    ("create langford 31 --method polyphase --depth 30", "--yes"),
    # result
    ("result nobody", "no campaign 'nobody'"),
    ("result eight --ledger absent.db", "there is no ledger"),
    ("result HTTP://farm:8765/eight", "`langford status` and `work` take the join file"),
    ("result eight --ledger https://farm:8765", "`langford status` and `work` take the join file"),
    ("result eight --ledger text", "ledger"),
    ("result eight --allowed-signers text", "belongs to --from"),
    ("result --from absent.gz", "no export"),
    ("result --from eight.gz --ledger langford.db", "not both"),
    ("result --from half.gz", "truncated"),
    # verify
    ("verify", "name a campaign"),
    ("verify nobody", "no campaign 'nobody'"),
    ("verify eight --sample 0", "at least 1"),
    ("verify eight 99", "is not one of"),
    ("verify eight 0 --sample 2", "not both"),
    ("verify eight --tasks 0", "No such option"),
    ("verify eight x", "separated by commas"),
    ("verify eight 0 --sample-seed 2", "not both"),
    ("verify eight --method godfrey", "langford count --method godfrey"),
    ("verify eight --device cuda", "GPU"),
    ("verify eight --sign text", "give --statement"),
    ("verify eight --allowed-signers text", "belongs to --check"),
    ("verify eight --statement /dev/stdout --sign key", "give the name of a file, or leave --sign out"),
    ("verify eight --statement pipe --sign key", "pipe is not a file"),
    ("verify eight --statement link", "link exists and is not a"),
    ("verify eight --statement text.gz", "text.gz.sig"),
    ("verify eight --check text", "leave the campaign"),
    ("verify --check text", "not a statement"),
    ("verify --check eight.gz", "is not text"),
    # confirm
    ("confirm nobody", "no campaign 'nobody'"),
    ("confirm eight --method polyphase", "which confirms nothing"),
    ("confirm eight --device cuda", "GPU"),
    ("confirm eight --ledger absent.db", "there is no ledger"),
    # retry, status, tasks
    ("retry nobody", "no campaign 'nobody'"),
    ("rename nobody nine", "no campaign 'nobody'"),
    ("rename eight empty", "has a campaign 'empty' already"),
    ("rename eight ../nine", "is not a valid campaign name"),
    ("delete nobody --yes", "no campaign 'nobody'"),
    ("delete eight", "give --yes"),
    ("delete eight --yes --out text", "text exists"),
    ("delete eight --yes --out no/such/eight.gz", "No such file"),
    ("release eight --worker absent", "no worker 'absent' holds tasks"),
    ("recheck nobody 1", "no campaign 'nobody'"),
    ("recheck eight", "choose the results"),
    ("recheck eight 99", "is not one of"),
    ("recheck eight --kernel absent", "no such result"),
    ("status nobody", "no campaign 'nobody'"),
    ("status http://farm:8765/l24", "is an address: give the file"),
    ("cancel nobody", "no campaign 'nobody'"),
    ("irregular tree 99", "128 bits"),
    ("status eight.join other", "is the file of one campaign: leave out other"),
    ("status --ledger absent.db", "there is no ledger"),
    ("status --ledger text", "ledger"),
    ("status --ledger sqlite:///langford.db?timeout=soon", "change the options after the ?"),
    ("status --ledger sqlite:///langford.db?mode=ro", "give the name of its file"),
    ("status --ledger sqlite:///file:langford.db?mode=memory&uri=true", "no option but timeout"),
    ("status --ledger sqlite://host/langford.db", "is not a ledger"),
    ("status --ledger folder", "folder is not a file: choose another one with --ledger"),
    ("status --ledger pipe", "pipe is not a file"),
    ("run langford 7 --ledger /dev/null", "/dev/null is not a file"),
    ("status --ledger postgresql://127.0.0.1:{free}/records", "cannot"),
    ("status --ledger postgresql://127.0.0.1:{free}/records?nonsense=1", 'invalid connection option "nonsense"'),
    ("tasks nobody", "no campaign 'nobody'"),
    # export, import
    ("export eight --out /dev/stdout --sign key", "/dev/stdout is not a file, so no signature can be beside it"),
    ("export eight --out pipe --sign key", "pipe is not a file"),
    ("export nobody", "no campaign 'nobody'"),
    ("export eight --out no/such/part.gz", "No such file"),
    ("export eight --out folder", "folder"),
    ("export eight --out text/part.gz", "Not a directory"),
    ("export eight --sign text --out half.gz", "give a private ssh key"),
    ("export eight --out key --sign key", "key exists and is not an export of this program: give another name"),
    ("export eight --out text.gz", "text.gz.sig"),
    ("import absent.gz", "no export"),
    ("import text", "not an export"),
    ("import half.gz", "truncated"),
    # query, report
    ("query SELECT/**/*FROM/**/task_overview --ledger absent.db", "there is no ledger"),
    ("run 8 --task-time 0", "more than 0 seconds: give a longer time"),
    ("query SELECT/**/*FROM/**/task_overview --seconds nan", "no finite number"),
    ("query SELECT/**/*FROM/**/task_overview --format csv --json", "leave it out"),
    ("query SELECT/**/*FROM/**/task_overview --out folder", "is a directory"),
    ("query SELECT/**/*FROM/**/task_overview --out langford.db", "langford.db exists and is not a"),
    ("query task_overview", "give one SELECT that changes nothing, like 'SELECT * FROM task_overview LIMIT 3'"),
    ("query VACUUM", "changes nothing"),
    ("query SELECT/**/worker/**/FROM/**/lost_time", "no such column: worker: the views and tables are"),
    ("query --json SELECT/**/1/**/a,2/**/a", "2 columns are called a"),
    ("query {huge}", "changes nothing"),
    ("query SELECT/**/1;DROP/**/TABLE/**/task", "changes nothing"),
    ("report", "one of them"),
    ("report nobody", "no campaign 'nobody'"),
    ("report eight --ledger absent.db", "there is no ledger"),
    ("report eight --from eight.gz", "one of them"),
    ("report --from absent.gz", "no export"),
    ("report --from eight.gz --ledger langford.db", "not both"),
    ("cite --from eight.gz --ledger langford.db", "not both"),
    ("report eight --out report.pdf", "in .html"),
    ("report eight --out link.html", "link.html exists and is not a"),
    ("report eight --figures text", "File exists"),
    # ledger
    ("ledger", "Usage"),
    ("ledger copy absent.db other.db", "there is no ledger"),
    ("ledger copy https://farm:8765 other.db", "is the address of a task server, but a ledger"),
    ("ledger copy langford.db no/such/other.db", "create it first"),
    ("ledger copy langford.db langford.db", "has campaigns"),
    ("ledger copy langford.db /dev/null", "/dev/null is not a file"),
    ("ledger upgrade --ledger absent.db", "there is no ledger"),
    ("ledger upgrade --ledger text", "ledger"),
    # token, serve
    ("token nobody", "no campaign 'nobody'"),
    ("token eight --days nan", "no finite number"),
    ("token eight --revoke 1 --list", "not both"),
    ("token eight --list --role admin", "--role is for a new token"),
    ("token eight --revoke 1 --out x", "--out is for a new token"),
    ("serve nobody", "no campaign 'nobody'"),
    ("serve eight --port {busy}", "cannot listen"),
    ("serve eight --host 192.0.2.1 --insecure --port {free}", "cannot listen"),
    ("serve eight --certificate folder", "is a directory"),
    ("serve eight --certificate text", "cannot use the certificate"),
    ("serve eight --key text", "give both"),
    ("serve eight --replicate nan", "no finite number"),
    ("serve eight --notify-command absent-program", "there is no program"),
    ("serve eight --notify-command '", "close its quotes"),
    # work
    ("work nonsense.join", "nonsense.join: No such file or directory; choose another file or folder\n"),
    ("work nonsense", "no campaign 'nonsense'"),
    ("work eight.join -l langford.db", "give a join file or --ledger, not both"),
    ("work ./folder", "is a folder"),
    ("work ./text", "is not a complete join file"),
    ("work farm:8765/eight", "is an address: give the file"),
    ("work eight.join --outbox text/outbox", "or name another folder in LANGFORD_OUTBOX"),
    ("work eight.join --lease nan", "no finite number"),
    ("work eight.join --device cuda", "GPU"),
    # slurm
    ("slurm keep eight --time 20", "write 20m for minutes"),
    ("slurm keep eight --once", "without --once runs a server too"),
    ("slurm keep skolem 9 --once", "without --once runs a server too"),
    ("slurm keep skolem 9 --once --join eight.join", "joins the campaign eight: leave out 'skolem 9'"),
    ("slurm keep --join text", "is not a complete join file"),
    ("slurm keep eight --host no.host.invalid", "give --host the name"),
    ("serve 7 --ledger no/such/folder.db", "create it first"),
    ("serve 6", "there is nothing to compute: no arrangement exists"),
    ("serve eight empty --join a.join", "is for one campaign"),
    ("serve eight --join text --port {free}", "is not a join file, and is not replaced"),
    ("token eight --join eight.join", "needs --out"),
    ("token eight --join text --out new", "is not a complete join file"),
    ("slurm keep --time 20:00 --join eight.join --notify-command true", "langford serve"),
    ("slurm keep --time 2m --join eight.join", "give --time 3:00 or more"),
    ("slurm reserve --time 20:00 --sbatch mem=2G --dry-run langford 8", "not an option of sbatch"),
    ("slurm keep --time 20:00 --join eight.join --sbatch=--wait", "leave it out"),
    ("slurm keep --time 20:00 --join eight.join --dry-run", "start it with `langford serve`"),
    # tune, mpi, doctor
    ("tune miller 8 --out text", "is a file"),
    ("tune godfrey 9 copies 3", "use miller"),
    ("mpi langford 8 --time-limit nan", "not negative"),
    ("cuont 8", "Did you mean 'count'?"),
    ("slurm kep", "Did you mean 'keep'?"),
    # addresses
    ("status one two", "there is no family 'one-two'"),
    ("status x.join --ledger l.db", "not both"),
]  # fmt: skip
WITH_INPUT = list(dict.fromkeys(arguments.split()[0] for arguments, _ in BAD_INPUT))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder: a ledger with a campaign that is done and one that is not, an export, and other files."""
    made = tmp_path_factory.mktemp("folder")
    key = PlanKey(Problem.langford(8), "polyphase", 4)
    plan = plan_of(key)
    with new_ledger("sqlite", made, "langford.db") as ledger:
        ledger.create_campaign(EMPTY, key, plan.work.tolist())
        results = tuple(Evaluation(plan.evaluate(index), 0.1, "{}") for index in plan.tasks)
        export = Export(DONE, key, len(plan.tasks), results)
        me = Identity.fresh()
        ledger.take(export, plan, me.worker_id, me.host, me.process)
        content = export.to_bytes()
    (made / "eight.gz").write_bytes(content)
    (made / "half.gz").write_bytes(content[:-9])
    join_file(made, "http://127.0.0.1:9/eight", "token", name="eight.join")  # nothing listens there
    (made / "text").write_text("a text\n")
    (made / "text").chmod(0o600)  # as a private key must be
    (made / "folder").mkdir()
    (made / "folder" / "kept").touch()
    (made / "text.gz.sig").mkdir()
    (made / "key").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    for ending in ("", ".html", ".svg"):
        (made / f"link{ending}").symlink_to("langford.db")
    os.mkfifo(made / "pipe")
    return made


@pytest.fixture(scope="module")
def ports() -> Iterator[dict[str, str]]:
    """A port that something listens on, and one that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as busy:
        with socket.create_server(("127.0.0.1", 0)) as closing:
            free = closing.getsockname()[1]
        yield {"busy": str(busy.getsockname()[1]), "free": str(free), "huge": HUGE}


def program(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it in the folder; what a core would take is not measured: ``test_how_long`` does."""
    quick = taking(lambda problem, method: 2.0 ** (3 * problem.n - 64))
    variables = {"XDG_STATE_HOME": str(folder / "folder")}
    return run_here(arguments, folder, variables, quick)


def digests(folder: Path) -> dict[str, str]:
    """What a folder holds."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "folder"
        for file in sorted(folder.rglob("*"))
        if not file.name.endswith(("-wal", "-shm"))
    }


@pytest.fixture(scope="module")
def untouched(folder: Path) -> dict[str, str]:
    """What the working folder holds at first."""
    return digests(folder)


@pytest.mark.parametrize("command", WITH_INPUT)
def test_bad_input_changes_nothing_and_says_what_to_change(
    folder: Path, untouched: dict[str, str], ports: dict[str, str], command: str
) -> None:
    for arguments, says in BAD_INPUT:
        if arguments.split()[0] != command:
            continue
        done = program([word.format(**ports) for word in arguments.split()], folder)
        errors = without_announcement(done.stderr)
        assert (done.returncode, done.stdout) == (2, ""), (arguments, errors)
        assert says in errors, arguments
        assert "Traceback" not in errors, arguments
        if says != "Usage":
            assert len(errors.splitlines()) == 1, (arguments, errors)
            assert errors.startswith("langford: "), arguments
    assert digests(folder) == untouched


def test_the_table_covers_every_command() -> None:
    assert {*WITH_INPUT} == set(COMMANDS) - {"doctor", "families"} | {"cuont"}


def test_what_is_not_done_yet_exits_3(folder: Path, untouched: dict[str, str]) -> None:
    for arguments in (["result", EMPTY], ["verify", EMPTY], ["verify", EMPTY, "0"], ["confirm", EMPTY]):
        done = program(arguments, folder)
        assert (done.returncode, len(done.stderr.splitlines())) == (3, 1), done
    assert digests(folder) == untouched
