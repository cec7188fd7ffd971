"""Limits of spending that are nearly reached, in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.events.inbox.models import Answer, Item, Source, not_waiting
from parachute.llm.gateway.limits import SpendingLimits
from parachute.llm.gateway.models import Payer
from parachute.llm.gateway.spending import Spending

_NEARLY = 0.8
"""The part of a limit from which on the owner is told."""


class SpendingSource(Source):
    """The inbox of such limits; each goes when its day or month ends, or when it is raised."""

    kinds: ClassVar[frozenset[str]] = frozenset({"spending"})

    def __init__(self, spending: Spending, limits: SpendingLimits) -> None:
        self._spending = spending
        self._limits = limits

    async def items(self) -> Sequence[Item]:
        """Return every limit of which four fifths are used, that of the whole computer first."""
        found = await self._of_everybody()
        for limit in self._limits.all():
            used = await self._spending.used_of(limit)
            shares = (
                ("dollars", used.dollars, limit.dollars, "${:,.2f}"),
                ("tokens", used.subscription_tokens, limit.tokens, "{:,.0f} tokens"),
            )
            for unit, spent, most, shown in shares:
                if most is not None and spent >= _NEARLY * most:
                    said = f"{shown.format(spent)} of {shown.format(most)}"
                    found.append(
                        Item(
                            kind="spending",
                            key=f"{limit.subject} {limit.per} {unit}",
                            title=f"{limit.subject} has used {said} of this {limit.per}",
                            source=limit.subject,
                            details=_details(limit.subject, limit.per, shown, spent, most),
                            command=f"parachute usage limit {limit.subject} --{unit} …",
                        )
                    )
        return found

    async def _of_everybody(self) -> list[Item]:
        found = []
        dollars, tokens = await self._spending.today(), await self._spending.tokens_today()
        for payer, setting, spent, shown in (
            (Payer.KEY, "daily_spending_limit", dollars, "${:,.2f}"),
            (Payer.SUBSCRIPTION, "daily_token_limit", float(tokens), "{:,.0f} tokens"),
        ):
            most = self._spending.limit(payer)
            if most is not None and spent > 0 and spent >= _NEARLY * most:
                said = f"{shown.format(spent)} of {shown.format(most)}"
                found.append(
                    Item(
                        kind="spending",
                        key=setting,
                        title=f"All of this computer together has used {said} of this day",
                        source="computer",
                        details=_details("computer", "day", shown, spent, most),
                        command=f"parachute config set {setting} …",
                    )
                )
        return found

    async def answer(self, item: Item, answer: Answer) -> None:
        """Refuse: a limit is raised with its own command."""
        raise not_waiting()


def _details(subject: str, per: str, shown: str, spent: float, most: float) -> dict[str, object]:
    used, limit = shown.format(spent), shown.format(most)
    return {"subject": subject, "per": per, "used": used, "limit": limit, "is_reached": spent >= most}
