"""Hosts that conversations asked for, in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.chat.network.models import Asked, Choice
from parachute.chat.network.service import Networks
from parachute.events.inbox.models import ALWAYS, Answer, Item, Source, not_waiting

_ONCE, _NEVER = "once", "never"


class HostsSource(Source):
    """The inbox of hosts; one that nobody allows stays refused."""

    kinds: ClassVar[frozenset[str]] = frozenset({"host"})

    def __init__(self, networks: Networks) -> None:
        self._networks = networks

    async def items(self) -> Sequence[Item]:
        """Return every host that waits."""
        return [_item(asked) for asked in self._networks.waiting()]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Allow a host for the conversation that asked, allow it for all of its workspace, or refuse it for good."""
        for asked in self._networks.waiting():
            if _item(asked).hash != item.hash:
                continue
            if answer.word == _ONCE:
                await self._networks.allow_once(asked, answer.who)
            else:
                choice: Choice = "always" if answer.word == ALWAYS else "never"
                await self._networks.decide(asked.workspace, asked.host, choice, answer.who)
            return
        raise not_waiting()


def _item(asked: Asked) -> Item:
    place = f"the workspace {asked.workspace}" if asked.workspace else "all chats without a workspace"
    return Item(
        kind="host",
        key=f"{asked.workspace}/{asked.host}",
        title=f"Reach {asked.host}",
        source=asked.source,
        since=asked.since,
        details={
            "host": asked.host,
            "workspace": asked.workspace or None,
            "once": "this conversation, until its sandbox ends",
            "always": place,
            "never": f"refused in {place}, and not asked about again",
        },
        answers=(_ONCE, ALWAYS, _NEVER),
        is_owners=True,
        session=asked.session,
    )
