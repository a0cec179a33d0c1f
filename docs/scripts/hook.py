"""What mkdocs calls while it builds the site: pages that are generated, and a look at what was built."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # the program and these scripts are those of this folder

from docs.scripts import commands, examples, fetched, ledger_dictionary, outside, python_api, sample_report  # noqa: E402

PAGES = {
    "index.md": outside.start,
    "python.md": python_api.page,
    "examples.md": examples.page,
    "ledger.md": ledger_dictionary.page,
    "datasette.json": ledger_dictionary.metadata,
    "report-langford-28.html": sample_report.page,
}
log = logging.getLogger("mkdocs.hooks.langford")


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages."""
    for name, page in PAGES.items():
        files.append(File.generated(config, name, content=page()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A link that leaves the site is text; the page of the command line ends with all commands."""
    if page.file.src_uri == "command-line.md":
        markdown = f"{markdown}\n{commands.page()}"
    return outside.of_the_site(markdown)


def on_post_build(config: Any) -> None:
    """Warn of everything that the site would fetch from elsewhere; with --strict that is an error."""
    for file in Path(config["site_dir"]).rglob("*"):
        if file.suffix in (".html", ".css"):
            for address in fetched.addresses(file.read_text()):
                log.warning("%s fetches %s: keep it in this repository", file, address)
