"""What words on a command line mean, a problem or names of campaigns: every command gives the same answer."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner

import db
import langford
from langford.cli.cluster.job_options import QueueOptions
from langford.cli.main import cli
from langford.errors import BadInput
from langford.methods import METHODS, PlanKey, plan_of
from langford.problem import Problem
from tests.support.campaigns import delivery
from tests.support.command_line import run_here, without_announcement
from tests.support.enrolling import enrol

CAMPAIGNS = {
    "mine": "12",
    "skolem": "8",
    "other": "12",
    "langford-7-polyphase-6": "7",
}
"""The problems of campaigns, by their names."""
OF_NEW = re.compile(f"(.*)-({'|'.join(METHODS)})-.*")
WORDS = {
    # names
    "mine": "mine",
    "skolem": "skolem",  # also the first word of one
    "mine other": "mine other",
    "nobody": "*no campaign 'nobody' in langford.db: it has 4 campaigns, which `langford status` lists*",
    "langford-7-polyphase-2": "*no campaign *: did you mean langford-7-polyphase-6?*",
    "mine nobody": "*no campaign 'nobody' in langford.db*",
    # problems, of which there is no campaign, one of another name, one of its own
    "16": "new langford-16",
    "8": "skolem",
    "12": "*the ledger has 2 campaigns of L(2,12): mine, other. Name one*",
    "7": "langford-7-polyphase-6",
    "langford 7": "langford-7-polyphase-6",
    "skolem 9": "new skolem-9",
    "skolem-9": "new skolem-9",
    "A059106 9": "new skolem-9",
    "differences 1,3,5": "new differences-1.3.5-over-6",
    "langford-11": "new langford-11",
    # what is neither
    "skolm 9": "*did you mean skolem?*",
    "near-skolem 12 mising 5": "*did you mean missing?*",
    "hooked-skolem": "*hooked-skolem needs a number, like 12, after it*",
    "A059106": "*A059106 needs the index of its term*",
    "-- -8": "*n must be at least 1*",
    "4097": "*at most 4,096*",
    "": "*name a problem*",
}
"""The campaigns that words mean, or "new" and a problem, or the pattern of what they say."""
WITHOUT_LEDGER = {
    "nobody": "*there is no ledger*",
    "16": "new langford-16",
    "langford-11": "new langford-11",
    "skolm 9": "*did you mean skolem?*",
    "skolem": "*skolem needs a number, like 12, after it*",
}


def asked(names: Sequence[str]) -> NoReturn:
    raise BadInput(f"asked for {' '.join(names)}.")


def of(campaign: db.Campaign, *_: object) -> NoReturn:
    asked([campaign.name])


READING = {
    "status": ("langford.cli.campaigns.status:lines_of", lambda found, width: asked([found[0].campaign])),
    "result": ("langford.cli.results.exchange:answer_of", of),
    "cite": ("jobs.show.report.gathering:of_campaign", of),
    "report": ("jobs.show.report.gathering:of_campaign", of),
    "confirm": ("langford.cli.results.confirm:require_complete", of),
    "verify": ("langford.cli.results.verify:Verification", of),
}
"""The same of commands that create no campaign."""
COMMANDS: dict[str, tuple[str, Callable[..., object]]] = {
    "run --dry-run": (
        "langford.cli.campaigns.run:planned",
        lambda ledger, address, name, key, devices: asked([name or key.name]),
    ),
    "serve --port 0": ("langford.cli.farm.serve:Overviews", asked),
    "slurm keep --host localhost": ("langford.cli.cluster.farm:make_log_folder", lambda logs: asked([logs.name])),
    **dict.fromkeys(
        ["slurm keep --partition of-a-database", "slurm keep --once --partition of-a-database"],
        ("langford.cli.cluster.slurm:keeper_of", lambda name, *_: asked([name])),
    ),
}
"""Each command that takes a problem or names, and what is called with the campaigns that it has found."""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("ledger") / "langford.db"
    with db.Ledger(str(file), create=True) as created:
        for name, words in CAMPAIGNS.items():
            key = PlanKey(Problem.parse(words), "polyphase", 6)
            created.create_campaign(name, key, plan_of(key).work.tolist())
        enrol(created, "a", "host", "1")
        campaign = created.campaign("mine")
        [lease] = campaign.worker.lease("a", 1, 60.0)
        campaign.worker.deliver([delivery(lease, campaign.plan.evaluate(lease.index))])
    return file


def answer(command: str, words: str, folder: Path) -> str:
    """Which campaigns a command works on, or what it says instead."""
    called, stand_in = (COMMANDS | READING)[command]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QueueOptions, "is_shared", "of-a-database" in command)
        done = run_here([*command.split(), *shlex.split(words)], folder, values={called: stand_in})
    assert done.returncode == 2, done
    said, _, found = without_announcement(done.stderr).rstrip(".\n").partition("langford: asked for ")
    new = OF_NEW.fullmatch(found)
    return said + (f"new {new[1]}" if new and found not in CAMPAIGNS else found)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_words_for_the_same(ledger: Path, tmp_path: Path, command: str) -> None:
    for number, (words, meant) in enumerate(WORDS.items()):
        (folder := tmp_path / str(number)).mkdir()
        shutil.copy(ledger, folder)
        if words == "mine other" and not command.startswith("serve"):
            meant = "*this command works on one campaign: name one*"
        said = answer(command, words, folder)
        assert fnmatchcase(said, meant), (words, said)


@pytest.mark.parametrize("command", READING)
def test_commands_that_create_none_take_words_for_the_same(ledger: Path, tmp_path: Path, command: str) -> None:
    shutil.copy(ledger, tmp_path)
    for words, meant in WORDS.items():
        if words in {"", "-- -8"} or words.startswith("mine "):
            continue  # each command has a rule of its own for none, for several, and for options
        if meant.startswith("new "):
            meant = "*no campaign of * in langford.db: `langford run *` creates one*"
        said = answer(command, f"'{words}'" if command == "verify" else words, tmp_path)
        assert fnmatchcase(said, meant), (words, said)


@pytest.mark.parametrize("command", READING)
def test_the_usage_of_commands_that_take_a_problem_says_so(command: str) -> None:
    usage = CliRunner().invoke(cli, [command, "--help"]).output.partition("\n")[0]
    assert "PROBLEM" in usage
    assert "NAME" in usage


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_ledger_there_are_no_names(tmp_path: Path, command: str) -> None:
    for number, (words, meant) in enumerate(WITHOUT_LEDGER.items()):
        (folder := tmp_path / str(number)).mkdir()
        said = answer(command, words, folder)
        assert fnmatchcase(said, meant), (words, said)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("15 --method polyphase --depth 8 --name fifteen", "campaign fifteen (would be created): L(2,15)"),
        ("langford-11 --depth 8", "(would be created): L(2,11)"),
        ("8 --task-time 1", "campaign langford-8-polyphase-0 (would be created): L(2,8)"),
    ],
)
def test_options_of_a_new_campaign_are_for_a_problem(ledger: Path, tmp_path: Path, words: str, meant: str) -> None:
    shutil.copy(ledger, tmp_path)
    done = run_here(["run", *words.split(), "--dry-run"], tmp_path)
    assert meant in done.stdout, done


@pytest.mark.parametrize(
    "command",
    [
        "cancel {}",
        "rename {} new",
        "delete {} --yes",
        "release {}",
        "retry {}",
        "recheck {} --all",
        "token {} -o new",
    ],
)
def test_commands_that_change_a_campaign_choose_none_of_several(ledger: Path, tmp_path: Path, command: str) -> None:
    shutil.copy(ledger, tmp_path)
    with langford.Ledger(tmp_path / "langford.db") as opened:
        opened.campaign(12, depth=4)  # the one that `langford run 12` resumes
    several = run_here(command.format("12").split(), tmp_path)
    assert "3 campaigns of L(2,12): mine, other, langford-12-polyphase-4. Name one" in several.stderr
    none = run_here(command.format("16").split(), tmp_path)
    assert "no campaign of L(2,16)" in none.stderr
    done = run_here(command.format("8").split(), tmp_path)
    assert "skolem" in done.stdout + done.stderr, done


def test_python_takes_a_problem_for_the_same(ledger: Path, tmp_path: Path) -> None:
    shutil.copy(ledger, tmp_path)
    with langford.Ledger(tmp_path / "langford.db") as opened:
        assert opened.campaign(8).name == "skolem"
        assert opened.campaign(9, name="second").name == "second"
        with pytest.raises(BadInput, match="has 2 campaigns of"):
            opened.campaign(12)
        assert opened.campaign(12, depth=4).name == "langford-12-polyphase-4"
        assert opened.campaign(12).name == "langford-12-polyphase-4"
