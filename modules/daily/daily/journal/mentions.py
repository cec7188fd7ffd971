"""What an entry is about, as Brain knows it: linked there, and noted in the entry's own frontmatter."""

from daily.journal.documents import id_of, mentions_of
from daily.journal.service import Journal
from parachute.core import NotFound, ParachuteError
from parachute.core.interfaces import BrainInterface, Mention
from parachute.core.services import Core

CONFIDENT = 0.8
_WORTH_PROPOSING = 0.4
_PROPOSALS = 3
_LONGEST = 100_000


async def link_mentions(core: Core, journal: Journal, brain: BrainInterface, entry_id: str) -> None:
    """Link an entry with what it mentions for certain, and propose what Brain does not know.

    Doing it again changes nothing. Errors: those of Brain.
    """
    try:
        found = await journal.get(entry_id)
    except NotFound:
        return  # deleted since
    entry = found.entry
    said = await brain.suggest(f"{entry.title}\n{entry.content}"[:_LONGEST])
    sure = {mention.para_id for mention in said if mention.para_id is not None and mention.confidence > CONFIDENT}
    for para_id in sorted(sure):
        await brain.link(id_of(entry.key), para_id)
    if not sure <= set(mentions_of(entry)):
        try:
            await journal.mention(entry_id, sure)
        except NotFound:
            return
    await _propose(core, said, found.date)


async def _propose(core: Core, said: list[Mention], date: str) -> None:
    """Propose new entities, each once ever: what the user rejected is not proposed again."""
    new = [mention for mention in said if mention.para_id is None and mention.confidence >= _WORTH_PROPOSING]
    for mention in new[:_PROPOSALS]:
        key = f"proposed/{mention.text.casefold()[:200]}"
        if await core.storage.get(key):
            continue
        payload = {"type": mention.type or "topic", "name": mention.text}
        try:
            await core.suggest("create", "brain", payload, reasoning=f"The journal mentions it on {date}.")
        except ParachuteError:
            return  # too many wait for the user already, or Brain has just gone; the entry itself is complete
        await core.storage.set(key, date)
