"""Intake of connectors: messages of others are stored where the owner let them in, and nowhere else."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.chat_ids import group_of
from parachute.base.clock import now
from parachute.base.errors import Conflict, InvalidInput, Unavailable
from parachute.connectors.chats.models import LinkedChat, shown_name, topic_of
from parachute.connectors.chats.store import ChatStore
from parachute.connectors.configuration.models import PLATFORMS, Configuration, Platform
from parachute.connectors.configuration.service import BotConfiguration
from parachute.connectors.platforms.models import Chat, Start, State, Update, Updates
from parachute.connectors.updates.store import UpdateStore

log = logging.getLogger(__name__)

_MOST_WAITING = 20_000
"""In all chats; more stay with the platform, whose connector tries again."""

_MOST_OF_CHAT = 5_000
"""In one chat: whoever floods it keeps no other chat from being heard."""

_LONGEST = 32_000
_TITLE = 60


class Intake(Struct):
    """Answers connectors. `knock` gets what strangers did, without their words, `press` a button in a chat that was let in.

    `wake` is called with a chat in which something waits, `let_in` with one that a list of the settings lets in, `remove` with
    names of shared files that nobody needs, `state_changed` with a state, `owner_seen` when the owner is in their own chat, and `revise`
    with a message that was changed or deleted. `move` gets a chat that has another id now.
    """

    configuration: BotConfiguration
    chats: ChatStore
    store: UpdateStore
    knock: Callable[[Platform, Update], Awaitable[None]]
    press: Callable[[Platform, Update], Awaitable[None]]
    wake: Callable[[Platform, str], None]
    let_in: Callable[[LinkedChat], Awaitable[None]]
    remove: Callable[[Platform, Sequence[str]], Awaitable[None]]
    state_changed: Callable[[Platform, State], Awaitable[None]]
    owner_seen: Callable[[], None]
    revise: Callable[[Platform, Update], Awaitable[None]]
    move: Callable[[Platform, Update], Awaitable[None]]

    async def start(self, platform: str) -> Start:
        """Return the configuration with which a connector begins; error: Conflict if it shall not run."""
        name = _platform(platform)
        configuration = await asyncio.to_thread(self.configuration.read)
        token = await asyncio.to_thread(self.configuration.tokens.of, name)
        if token is None:
            raise Conflict(
                f"The bot of {platform} has no token.",
                f"`parachute bots set-token {platform}` takes one.",
                key="no_token",
            )
        settings = configuration.of(name)
        user = str(getattr(settings, "user_id", ""))
        return Start(token, await self.store.position(platform), settings.address, user, configuration.language)

    async def changed(self, platform: str, state: State) -> None:
        """Hear how the connection to a platform is."""
        await self.state_changed(_platform(platform), state)

    async def updates(self, platform: str, updates: Updates) -> None:
        """Store updates, each once; returns when they are on the disk. Error: Unavailable when too many wait."""
        name = _platform(platform)
        if await self.store.count_waiting() > _MOST_WAITING:
            raise Unavailable("Too many messages wait for their answers.", "The connector tries again.", key="busy")
        try:
            configuration = await asyncio.to_thread(self.configuration.read)
        except InvalidInput as error:
            # It is mended by hand, and until then what comes stays with the platform.
            raise Unavailable(error.message, error.hint, key=error.key) from error
        known = await self.store.known(platform, [each.id for each in updates.updates]) if updates.updates else set()
        stored: list[tuple[Update, bool]] = []
        unused: list[str] = []
        woken: dict[str, None] = {}
        counts: dict[str, int] = {}
        for update in updates.updates:
            if update.id in known:
                continue
            known.add(update.id)
            chat = None if update.sender.is_bot else await self._chat(name, update, configuration)
            is_open = False
            if chat is not None:
                if chat.is_owner:
                    self.owner_seen()
                is_open = await self._is_open(name, update, stored)
                count = counts.setdefault(update.chat.id, await self.store.count_waiting(platform, update.chat.id))
                if is_open and count >= _MOST_OF_CHAT:
                    log.warning("More than %d messages wait in a chat of %s; the rest is not taken.", count, platform)
                    is_open = False
                counts[update.chat.id] = count + is_open
            elif update.kind == "moved":
                await self.move(name, update)
            elif not update.sender.is_bot and update.kind in ("message", "joined"):
                await self.knock(name, _of_group(_without_words(update)))
            if is_open:
                woken[update.chat.id] = None
                stored.append((replace(update, text=update.text[:_LONGEST]), True))
            else:
                unused += [file.path for file in update.files if file.path]
                stored.append((_without_words(update), False))
        await self.store.add(platform, stored, updates.position)
        if unused:
            with contextlib.suppress(OSError):
                await self.remove(name, unused)
        for each in woken:
            self.wake(name, each)

    async def _is_open(self, platform: Platform, update: Update, stored: list[tuple[Update, bool]]) -> bool:
        """Return whether an update of a chat that was let in waits for something; edits and deletions are made at once."""
        match update.kind:
            case "message":
                return bool(update.text.strip() or update.files)
            case "button":
                try:
                    await self.press(platform, update)
                except Exception:
                    # A press that cannot be carried out must not come again for ever.
                    log.exception("A button of %s could not be pressed.", platform)
            case "edited":
                for index, (before, is_open) in enumerate(stored):
                    if is_open and (before.chat.id, before.message) == (update.chat.id, update.message):
                        stored[index] = (replace(before, text=update.text[:_LONGEST]), True)
                await self.revise(platform, replace(update, text=update.text[:_LONGEST]))
            case "deleted":
                stored[:] = [
                    (_without_words(each), False)
                    if is_open and (each.chat.id, each.message) == (update.chat.id, update.message)
                    else (each, is_open)
                    for each, is_open in stored
                ]
                await self.revise(platform, update)
            case "moved":
                await self.move(platform, update)
            case "joined" | "left":
                pass
        return False

    async def _chat(self, platform: Platform, update: Update, configuration: Configuration) -> LinkedChat | None:
        """The chat of an update if it may talk to the bot: let in by the owner, or named by id in the settings."""
        chat, sender = update.chat, update.sender
        settings = configuration.of(platform)
        found = await self.chats.get(platform, chat.id)
        if group_of(chat.id) != chat.id:
            return await self._topic(platform, chat, found)
        if found is not None:
            # In a private chat nobody else is heard, whatever the platform says.
            is_right = found.kind == chat.kind and (chat.kind == "group" or found.sender == sender.id)
            return found if is_right else None
        # A room that is listed may be one with a single person.
        is_listed = chat.id in getattr(settings, "allowed_rooms", ())
        if not is_listed and not (chat.kind == "private" and sender.id in settings.allowed_users):
            return None
        name = shown_name(sender.name if chat.kind == "private" else chat.title)
        listed = LinkedChat(
            platform=platform,
            chat=chat.id,
            kind=chat.kind,
            sender=sender.id if chat.kind == "private" else "",
            title=name[:_TITLE],
            template=settings.template,
            approved_at=now(),
            approved_by="bots.yaml",
        )
        await self.chats.add(listed)
        await self.let_in(listed)
        return listed

    async def _topic(self, platform: Platform, place: Chat, found: LinkedChat | None) -> LinkedChat | None:
        """The topic of a group that is let in; it is heard for as long as that is."""
        group = await self.chats.get(platform, group_of(place.id))
        if group is None or group.kind != place.kind:
            return None
        if found is None:
            found = topic_of(group, place)
            await self.chats.add(found)
        return found


def _without_words(update: Update) -> Update:
    return replace(update, text="", files=(), button="", quote=None)


def _of_group(update: Update) -> Update:
    """The update as one of the whole group: of its topics none is let in alone."""
    return replace(update, chat=replace(update.chat, id=group_of(update.chat.id), topic=""))


def _platform(name: str) -> Platform:
    if name in PLATFORMS:
        return name
    raise Conflict(f"There are no bots of {name[:40]!r}.", key="unknown_platform")
