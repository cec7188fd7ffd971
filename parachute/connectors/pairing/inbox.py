"""People and groups that want to talk to a bot, in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.chat.permissions.templates import TEMPLATES
from parachute.connectors.configuration.models import ResponseMode
from parachute.connectors.pairing.models import PairingRequest
from parachute.connectors.pairing.service import Approval, Pairing
from parachute.connectors.platforms.available import label
from parachute.events.inbox.models import APPROVE, REJECT, Answer, Item, Source


class PairingSource(Source):
    """The inbox of strangers; who is not let in stays out."""

    kinds: ClassVar[frozenset[str]] = frozenset({"pairing"})

    def __init__(self, pairing: Pairing) -> None:
        self._pairing = pairing

    async def items(self) -> Sequence[Item]:
        """Return every request that waits."""
        return [_item(each) for each in await self._pairing.waiting()]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Let somebody in with the permissions of a template, or with those that the settings say; error: NotFound."""
        if answer.word == REJECT:
            await self._pairing.deny(item.key, answer.who)
            return
        template = answer.word.removeprefix(f"{APPROVE} ") if answer.word != APPROVE else None
        mode: ResponseMode | None = "mention_only" if item.details["chat_type"] == "group" else None
        await self._pairing.approve(item.key, Approval(answer.who, template=template, response_mode=mode))


def _item(request: PairingRequest) -> Item:
    return Item(
        kind="pairing",
        key=request.id,
        title=f"{request.label} wants to talk to your bot",
        source=label(request.platform),
        since=request.since,
        details=request.shown().model_dump(),
        answers=(APPROVE, REJECT, *(f"{APPROVE} {each.name}" for each in TEMPLATES)),
        is_owners=True,
        session=request.session,
    )
