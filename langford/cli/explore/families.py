"""``langford families``: the words that name a problem."""

from __future__ import annotations

import click

from langford.cli.options.common import json_option
from langford.cli.output import display
from langford.problem.sequences import OEIS
from langford.problem.variants import COPIES, CYCLIC, DIFFERENCES, EMPTY, FOLD, HOLES, OVER, VARIANTS, Variant

INDEX = 5
"""The index of the example of a sequence."""
SIZES = f"[{COPIES} S] [{FOLD} F] [{HOLES} H]"
OF_SETS = {
    f"{DIFFERENCES} D,D,… [{OVER} P] [{EMPTY} P,P,…] {SIZES}": "any differences; places P,P,… stay empty",
    f"{CYCLIC} D,D,… [{OVER} P] [{EMPTY} P,P,…] [{HOLES} H]": "the same on a circle",
}


@click.command(
    epilog="""\b
Examples:
  langford families
  langford families --json"""
)
@json_option
def families(as_json: bool) -> None:
    """List the words that name a problem.

    `langford count near-skolem 12 missing 5`, `langford.count("near-skolem 12 missing 5")` in Python, and the name
    that the program prints, near-skolem-12-missing-5, are the same problem.
    """
    meanings = {_words(each): each.meaning for each in VARIANTS.values()} | OF_SETS
    examples = {f"{name} {INDEX}": each.words(INDEX) for name, each in OEIS.items()}
    titles = {f"{name} I": each.title for name, each in OEIS.items()}
    lines = [
        *_aligned(meanings),
        "",
        f"{COPIES} S: S cubes of each colour, by default 2; {FOLD} F: each difference F times; {HOLES} H: H more",
        "places stay empty, wherever they are.  N alone is langford N.",
        "By the number of a sequence in the OEIS and an index I:",
        *_aligned(titles),
    ]
    display.outcome("\n".join(lines), {"families": meanings, "sequences": examples}, as_json)


def _words(variant: Variant) -> str:
    named = [(each, f"{each.name} {letter}") for each, letter in zip(variant.parameters, "KL", strict=False)]
    parameters = (f" {words}" if each.default is None else f" [{words}]" for each, words in named)
    sizes = "" if variant.pairs_only else f" {SIZES}"
    return f"{variant.name} N{''.join(parameters)}{sizes}"


def _aligned(lines: dict[str, str]) -> list[str]:
    widest = max(map(len, lines))
    return [f"  {words:{widest}}  {meaning}" for words, meaning in lines.items()]
