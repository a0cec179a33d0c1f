"""A problem in words, as people write it and as its name has it: ``near-skolem 12 missing 5``.

The words are pairs of a name and a value: first a family and its order, or a set of differences, then what else the
problem depends on.  This module knows all names, and which one is nearest to a wrong one.  It makes no problem:
:meth:`langford.problem.Problem.parse` does, and ``langford table`` reads ranges in the place of values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from langford.errors import BadProblem
from langford.problem.sequences import NO_COLOUR, OEIS, Term
from langford.problem.variants import COPIES, EMPTY, FOLD, HOLES, OVER, SETS, SIZES, VARIANTS

EXAMPLES = "12, skolem 9, near-skolem 12 missing 5, differences 1,2,4,7 or A059106 12"

OTHER_NAMES = {"split-skolem": "rosa", "nickerson": "skolem"}
"""Names of families in the literature, and those that they have here."""
MAX_LENGTH = 100_000
"""Characters of a text that is read: more than those of the longest row."""
LONGEST_WORD = 30
"""Characters of a word that may be a known one, misspelt."""
VALUE = re.compile(r"-?\d", re.ASCII)
NUMBER = re.compile(r"-?\d{1,9}", re.ASCII)
LISTED = re.compile(r"\d{1,9}(?:[,.]\d{1,9})*", re.ASCII)
SPAN = re.compile(r"(\d{1,9})(?:\.\.(\d{1,9}))?", re.ASCII)
SEQUENCE = re.compile(r"a\d+\w*", re.ASCII)
"""Also what is nearly one."""
NOTATION = re.compile(r"([A-Za-z][A-Za-z0-9 -]*)\((?:(\d{1,9}),\s*)?(\d{1,9})\)(.*)", re.ASCII)
"""A title or a sequence, copies and order, and the rest."""
DASHES = re.compile(r"(?<=[^\s-])-(?=x?\d)|(?<=\d)-(?=[a-z])", re.ASCII)
"""Those of a name between a word and a value; those in a word, and signs of numbers, stay."""


def families() -> tuple[str, ...]:
    """What a problem may begin with: the named families, and SETS."""
    return (*VARIANTS, *SETS)


def further_words() -> tuple[str, ...]:
    """What may follow, each before its value."""
    parameters = dict.fromkeys(each.name for variant in VARIANTS.values() for each in variant.parameters)
    return (*SIZES, *parameters, OVER, EMPTY)


@dataclass(frozen=True)
class Words:
    family: str  # one of families()
    value: str  # its order; of SETS the differences
    more: Mapping[str, str]  # the values of further words, in their order


def read(text: str) -> Words:
    """The words of a text; raises BadProblem, which names the nearest right word for a wrong one.

    >>> read("near-skolem 12 missing 5") == read("Near Skolem 12, missing 5") == read("near-skolem-12-missing-5")
    True
    >>> read("8 copies 3").family, read("A059107 8") == read("8 x3")
    ('langford', True)
    """
    if len(text) > MAX_LENGTH:
        raise BadProblem(f"a problem takes at most {MAX_LENGTH:,} characters, not {len(text):,}")
    pairs = _pairs(_from_notation(text))
    if not pairs:
        raise BadProblem(f"name a problem, like {EXAMPLES}")
    (first, value), *rest = pairs
    if SEQUENCE.fullmatch(first):
        term = _term(first.upper(), value, rest)
        if not term.words:
            raise BadProblem(f"{term} is 1, for {NO_COLOUR}: there is nothing to compute")
        return read(term.words)
    if first and first not in families():
        if first in further_words():
            raise BadProblem(f"{first} follows a family and its number: write {EXAMPLES}")
        near = _family_meant(first)
        raise BadProblem(f"there is no family {first[:LONGEST_WORD]!r}{near} (`langford families` lists them)")
    family = first or "langford"
    if not value:
        after = "differences, like 1,2,4" if family in SETS else "a number, like 12"
        raise BadProblem(f"{family} needs {after}, after it")
    more: dict[str, str] = {}
    for word, given in rest:
        _require_word(word, given, f"{family} {value}")
        if word in more:
            raise BadProblem(f"{word} is given twice: {more[word][:LONGEST_WORD]} and {given[:LONGEST_WORD]}")
        if (word in (OVER, EMPTY)) != (family in SETS) and word not in SIZES:
            words = _taken(family)
            raise BadProblem(f"{family} takes {', '.join(words) or 'no parameter'}: leave {word} out")
        more[word] = given
    return Words(family, value, more)


def term_of(text: str) -> Term | None:
    """The term of a sequence that a text names; None: it names another problem, or none.  Raises BadProblem."""
    (first, value), *rest = _pairs(_from_notation(text[:MAX_LENGTH])) or [("", "")]
    return _term(first.upper(), value, rest) if SEQUENCE.fullmatch(first) else None


def number(what: str, text: str) -> int:
    """Raises BadProblem."""
    if not NUMBER.fullmatch(text):
        raise BadProblem(f"{what} must be a whole number of up to nine digits, not {text[:LONGEST_WORD]!r}")
    return int(text)


def listed(what: str, text: str) -> list[int]:
    """The numbers of "1,2,5", or as in names "1.2.5"; raises BadProblem."""
    if not LISTED.fullmatch(text):
        raise BadProblem(f"{what} must be numbers with commas between, like 1,2,5, not {text[:LONGEST_WORD]!r}")
    return [int(part) for part in re.split("[,.]", text)]


def span(what: str, text: str) -> range:
    """The whole numbers of "5", or of "2..5" with both ends; raises BadProblem."""
    found = SPAN.fullmatch(text)
    if found is None:
        raise BadProblem(
            f"{what} must be a number, or the first and the last one, like 2..5, not {text[:LONGEST_WORD]!r}"
        )
    first, last = int(found[1]), int(found[2] or found[1])
    if first > last:
        raise BadProblem(f"{what}: no number is {first} or more and at most {last}: write {last}..{first}")
    return range(first, last + 1)


def _pairs(text: str) -> list[tuple[str, str]]:
    """(word, value) of a text; the first word is empty where the text begins with its value."""
    without = re.sub(r",\s+(?=[a-z])", " ", text.lower())
    spaced = DASHES.sub(" ", re.sub(r"\s*,\s*", ",", without))
    pairs: list[tuple[str, str]] = []
    words: list[str] = []
    for token in spaced.split():
        if VALUE.match(token):
            pairs.append(("-".join(words), token))
            words = []
        elif re.fullmatch(r"x\d+", token, re.ASCII):
            pairs.append(("-".join([*words, COPIES]), token[1:]))
            words = []
        else:
            words.append(token)
    return [*pairs, *([("-".join(words), "")] if words else [])]


def _term(name: str, index: str, rest: list[tuple[str, str]]) -> Term:
    if name not in OEIS:
        near = get_close_matches(name, OEIS, n=1) if len(name) <= LONGEST_WORD else []
        meant = f": did you mean {near[0]}?" if near else "."
        known = "; ".join(f"{each.name}, {each.title}" for each in OEIS.values())
        raise BadProblem(f"{name[:LONGEST_WORD]} counts no family of this program{meant}  Known are {known}")
    if not index:
        raise BadProblem(f"{name} needs the index of its term, like {name} 12")
    if rest:
        raise BadProblem(f"{name} {index[:LONGEST_WORD]} is a complete problem: leave the other words out")
    place, first = number(f"the index of {name}", index), OEIS[name].first
    if place < first:
        raise BadProblem(f"this program has no term {place} of {name}: it begins at {first}")
    return Term(OEIS[name], place)


def _from_notation(text: str) -> str:
    """A problem as the program prints it, in words: "L(2,12)", "Skolem(3,9)", "A390360(2)"; other text as it is.

    >>> _from_notation("near-Skolem(2,12) without 5"), _from_notation("A390360(2)")
    ('near-skolem 12 missing 5', 'A390360 2')
    """
    found = NOTATION.fullmatch(text.strip())
    if found is None:
        return text
    title, copies, order, rest = found.groups()
    title = title.strip()
    if SEQUENCE.fullmatch(title.lower()) and not copies and not rest:
        return f"{title} {order}"
    variant = next((each for each in VARIANTS.values() if each.title.lower() == title.lower()), None)
    if variant is None:
        return text
    for each in variant.parameters:
        rest = re.sub(re.escape(each.words).replace(r"\{\}", r"(\d+)"), rf"{each.name} \1", rest, count=1)
    rest = re.sub(r", each difference (\d+) times", rf" {FOLD} \1", rest)
    rest = re.sub(r", (\d+) holes? anywhere", rf" {HOLES} \1", rest)
    sizes = "" if copies in (None, "2") else f" {COPIES} {copies}"
    return f"{variant.name} {order}{sizes}{rest}"


def _require_word(word: str, value: str, before: str) -> None:
    if not word:
        raise BadProblem(f"{before[:LONGEST_WORD]} is followed by one number too many: {value[:LONGEST_WORD]}")
    if word in families():
        raise BadProblem(f"a family comes first: write {word} {before[:LONGEST_WORD].removeprefix('langford ')}")
    if word not in further_words():
        raise BadProblem(
            f"{word[:LONGEST_WORD]!r} does not describe a problem{_nearest(word, further_words())} "
            "(`langford families` lists the words)"
        )
    if not value:
        raise BadProblem(f"{word} needs a value after it")


def _taken(family: str) -> tuple[str, ...]:
    return (OVER, EMPTY) if family in SETS else tuple(each.name for each in VARIANTS[family].parameters)


def _family_meant(word: str) -> str:
    """Other names of families, and those that begin with a word, before those that are spelt nearly so."""
    if word in OTHER_NAMES:
        return f": did you mean {OTHER_NAMES[word]}?"
    longer = [family for family in families() if family.startswith(f"{word}-")]
    return f": choose {' or '.join(longer)}" if longer else _nearest(word, families())


def _nearest(word: str, known: Iterable[str]) -> str:
    near = get_close_matches(word, known, n=1) if len(word) <= LONGEST_WORD else []
    return f": did you mean {near[0]}?" if near else f": choose one of {', '.join(known)}"
