"""What an entry is about, as Brain knows it: linked there, and noted in the entry's own frontmatter."""

from daily.journal.documents import id_of, mentions_of
from daily.journal.service import Journal
from parachute.core import NotFound
from parachute.core.interfaces import BrainInterface

CONFIDENT = 0.8
_LONGEST = 100_000


async def link_mentions(journal: Journal, brain: BrainInterface, entry_id: str) -> None:
    """Link an entry with what it mentions for certain; doing it again changes nothing. Errors: those of Brain."""
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
