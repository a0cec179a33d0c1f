"""``langford doctor``: what this machine has, what works, what to install."""

from __future__ import annotations

from dataclasses import asdict

import click

from jobs.doctor import State, examine
from langford.cli.exit_codes import ExitCode
from langford.cli.options.common import json_option
from langford.cli.output import display
from langford.cli.output.display import show


@click.command(
    epilog="""\b
Examples:
  langford doctor
  langford doctor --json"""
)
@json_option
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Show what this machine has, test it, and list what to install.

    Compiles and runs a small count on the processor and on every GPU.  Exit code 1 when
    a part is installed but does not work.
    """
    findings = []
    for finding in examine():
        findings.append(finding)
        if not as_json:
            show(f"{finding.part:<10} {finding.state:<7} {finding.detail}")
    if as_json:
        display.print_json([asdict(finding) for finding in findings])
    if any(finding.state == State.BROKEN for finding in findings):
        context.exit(ExitCode.FAILED)
