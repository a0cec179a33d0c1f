"""Check a count by the congruences that the symmetries of a circle force: nothing is recomputed."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from db import Campaign
from jobs.verify.agreement import Agreement, agreement, recomputing
from langford.errors import BadInput, CheckFailed
from langford.methods import Count
from langford.problem.congruences import Congruence, mirror_congruence, unit_congruences


@dataclass(frozen=True)
class Congruent:
    """A count with the congruences that it satisfies, besides those that its merge checks."""

    count: Count
    congruences: tuple[Congruence, ...]
    agreement: Agreement

    @property
    def modulus(self) -> int:
        """The product of all moduli, the merge's included: so many wrong counts have one that passes."""
        mirror = mirror_congruence(self.count.problem)
        return prod(each.modulus for each in (*([mirror] if mirror else []), *self.congruences))

    @property
    def words(self) -> str:
        """The count, and a line for each check that it passed."""
        required = [f"count is {c.words}, as a unit of order {c.modulus} requires" for c in self.congruences]
        none = "no unit has a power of an odd prime as its order: nothing else to check"
        lines = [f"{self.count.problem} = {self.count:,}"]
        lines += [f"checked   {each}" for each in (*self.count.checks, *required)]
        lines += [] if required else [f"note      {none}"]
        lines.append(f"proves    little: of {self.modulus:,} wrong counts, one satisfies these congruences")
        return "\n".join([*lines, f"{self.agreement.verdict or 'note':9} {self.agreement.compared}"])

    def document(self) -> dict[str, object]:
        return {
            "count": str(self.count),
            "congruences": [{"modulus": each.modulus, "remainder": each.remainder} for each in self.congruences],
            "modulus": self.modulus,
            **self.agreement.document(),
        }


def congruent(campaign: Campaign, unconfirmed: bool) -> Congruent:
    """The checks of the count of a circle modulo powers of primes, and the comparison with what is known of it.

    Args:
        campaign: a complete one.
        unconfirmed: see :meth:`db.campaign.reader.ReaderCampaign.merged`.

    Raises BadInput for a row on a line, CheckFailed, and as :meth:`db.campaign.reader.ReaderCampaign.merged`.
    """
    problem, name = campaign.problem, campaign.name
    if not problem.circle:
        raise BadInput(
            f"{problem} is a row on a line, which has no symmetries but its mirror: use `langford confirm {name}`"
        )
    count = campaign.reader.merged(unconfirmed)
    congruences = tuple(unit_congruences(problem))
    for each in congruences:
        if not each.holds(count):
            raise CheckFailed(
                f"{problem} = {count:,} is {count % each.modulus} mod {each.modulus}, but its symmetries require "
                f"{each.remainder}: at least one task is wrong; find it with {recomputing(name)}"
            )
    known = agreement(problem, count)
    if known.agrees is False:
        raise CheckFailed(
            f"{problem} = {count:,} is WRONG: it differs {known.compared}; at least one task is wrong; "
            f"find it with {recomputing(name)}"
        )
    return Congruent(count, congruences, known)
