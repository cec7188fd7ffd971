"""Repositories that conversations asked for, in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.chat.repositories.models import Asked, Choice
from parachute.chat.repositories.service import Repositories
from parachute.events.inbox.models import ALWAYS, Answer, Item, Source, not_waiting

_ONCE, _NEVER = "once", "never"


class RepositoriesSource(Source):
    """The inbox of repositories; one that nobody allows stays refused."""

    kinds: ClassVar[frozenset[str]] = frozenset({"repository"})

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories

    async def items(self) -> Sequence[Item]:
        """Return every repository that waits."""
        return [_item(asked) for asked in self._repositories.waiting()]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Allow a repository for the conversation that asked or for all of its workspace, or refuse it for good."""
        for asked in self._repositories.waiting():
            if _item(asked).hash != item.hash:
                continue
            if answer.word == _ONCE:
                self._repositories.allow_once(asked, answer.who)
            else:
                choice: Choice = "always" if answer.word == ALWAYS else "never"
                await self._repositories.decide(asked.workspace, asked.repository, asked.access, choice, answer.who)
            return
        raise not_waiting()


def _item(asked: Asked) -> Item:
    place = f"the workspace {asked.workspace}" if asked.workspace else "all chats without a workspace"
    details = {
        "repository": str(asked.repository),
        "access": asked.access,
        "workspace": asked.workspace or None,
        "once": "this conversation, until its sandbox ends",
        "never": f"refused in {place}, and not asked about again",
    }
    if asked.workspace:
        details["always"] = place
    return Item(
        kind="repository",
        key=f"{asked.workspace}/{asked.access}/{asked.repository}",
        title=f"{'Push to' if asked.access == 'push' else 'Fetch from'} {asked.repository}",
        source=asked.source,
        since=asked.since,
        details=details,
        answers=(_ONCE, ALWAYS, _NEVER) if asked.workspace else (_ONCE, _NEVER),
        is_owners=True,
        session=asked.session,
    )
