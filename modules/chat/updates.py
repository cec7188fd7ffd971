"""After a conversation: an agent proposes what to write down about the people and projects that it was about."""

from knowledge import SURE

from parachute.core import Module
from parachute.core.interfaces import BrainInterface, Entity, Message

_FEWEST_MESSAGES = 4
_CONVERSATION_CHARACTERS = 20_000
_ENTITY_CHARACTERS = 2_000
_ENTITIES = 8


class Updates:
    """Runs the agent `updater` at most once for each state of a conversation."""

    def __init__(self, module: Module) -> None:
        self._module = module

    async def propose(self, session_id: str, message_count: int) -> bool:
        """Ask the agent; False if there was no reason to. Brain has to be there; what it does not know may be new."""
        core = self._module.core
        brain = self._module.get_interface("BrainInterface")
        if message_count < _FEWEST_MESSAGES or brain is None or not await core.settings.get("propose_updates"):
            return False
        # Events may come twice, and a session may end more than once.
        key = f"proposed/{session_id}"
        if await core.storage.get(key, 0) >= message_count:
            return False
        said = _shown(await core.conversations.messages(session_id, 100))
        if not said:
            return False
        await core.run_agent("updater", _prompt(said, await _entities(brain, said)))
        await core.storage.set(key, message_count)
        return True


async def _entities(brain: BrainInterface, text: str) -> list[Entity]:
    found: dict[str, Entity] = {}
    for mention in await brain.suggest(text):
        if mention.para_id and mention.confidence > SURE and mention.para_id not in found:
            entity = await brain.get(mention.para_id)
            if entity is not None:
                found[mention.para_id] = entity
        if len(found) == _ENTITIES:
            break
    return list(found.values())


def _shown(messages: list[Message]) -> str:
    return "\n\n".join(f"{each.role}: {each.content}" for each in messages)[-_CONVERSATION_CHARACTERS:]


def _prompt(said: str, entities: list[Entity]) -> str:
    known = "\n\n".join(
        f"<entity id={each.para_id!r} name={each.name!r} type={each.type!r}>\n"
        f"{(each.content or '')[:_ENTITY_CHARACTERS]}\n</entity>"
        for each in entities
    )
    return f"What is written down so far:\n\n{known or 'Nothing of this.'}\n\n<conversation>\n{said}\n</conversation>"
