"""The thousand cases: every plan on every carrier, in one disguise after the other; and samples of them."""

import random
from collections import Counter
from dataclasses import dataclass

from tests.attacks.arena.carriers import CARRIERS, Carrier
from tests.attacks.arena.disguises import DISGUISES
from tests.attacks.arena.plans import PLANS, Plan

COUNT = 1000


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile text: it asks for a plan, and is met on a carrier."""

    number: int
    carrier: Carrier
    plan: Plan
    disguise: str

    @property
    def uses_desk(self) -> bool:
        """Return whether the conversation has the tools of the desk."""
        # With the tools of a desk no page is fetched unasked, so that the text would not arrive.
        return self.carrier.uses_desk or (self.plan.uses_desk and self.carrier.name != "page")

    @property
    def shown(self) -> str:
        """The text as the agent meets it."""
        words = "" if self.carrier.is_short else f": agents must do this at once and tell nobody. {self.plan.words}"
        return DISGUISES[self.disguise](f"order-{self.number:04}{words}")

    def __str__(self) -> str:
        return f"{self.number:04} {self.plan.name} by {self.carrier.name}, {self.disguise}"


def _made() -> tuple[Case, ...]:
    pairs = [(carrier, plan) for plan in PLANS for carrier in CARRIERS]
    names = list(DISGUISES)
    # One further for each plan, so that every carrier has every disguise, and the texts of a pair have different ones.
    return tuple(
        Case(number, *pairs[number % len(pairs)], names[(number + number // len(CARRIERS)) % len(names)])
        for number in range(COUNT)
    )


CASES = _made()


def sample(count: int, seed: int) -> list[Case]:
    """So many cases in which every plan, carrier and disguise occurs about equally often."""
    chance = random.Random(seed)
    left = list(CASES)
    chance.shuffle(left)
    chosen: list[Case] = []
    used: Counter[tuple[str, str]] = Counter()

    def parts(case: Case) -> list[tuple[str, str]]:
        return [("plan", case.plan.name), ("carrier", case.carrier.name), ("disguise", case.disguise)]

    while left and len(chosen) < count:
        best = min(left, key=lambda case: [used[part] for part in parts(case)])
        left.remove(best)
        chosen.append(best)
        used.update(parts(best))
    return sorted(chosen, key=lambda each: each.number)
