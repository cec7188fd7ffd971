"""The wing `connectors`: bots, their processes, the chats that were let in, and who waits."""

import asyncio

from msgspec import Struct

from parachute.connectors.bots.intake import Intake
from parachute.connectors.bots.service import Bots
from parachute.connectors.chats.codes import OwnerCodes
from parachute.connectors.chats.models import LinkedChat
from parachute.connectors.chats.sessions import ChatSessions
from parachute.connectors.chats.store import ChatStore
from parachute.connectors.configuration.models import Platform
from parachute.connectors.configuration.service import BotConfiguration
from parachute.connectors.conversations.commands import Commands
from parachute.connectors.conversations.service import Conversations
from parachute.connectors.conversations.voice_notes import VoiceNotes
from parachute.connectors.deliveries.inbox import DeliveriesSource
from parachute.connectors.deliveries.service import Deliveries
from parachute.connectors.deliveries.store import DeliveryStore
from parachute.connectors.notices.service import Notices
from parachute.connectors.notices.store import NoticeStore
from parachute.connectors.pairing.inbox import PairingSource
from parachute.connectors.pairing.service import Pairing
from parachute.connectors.pairing.store import PairingStore
from parachute.connectors.platforms.models import Update
from parachute.connectors.platforms.shared_files import remove_files
from parachute.connectors.runtime.service import Connectors
from parachute.connectors.sending.service import FileSending
from parachute.connectors.updates.store import UpdateStore
from parachute.llm.gateway.limits import SpendingLimit
from parachute.server.composition.automation import AutomationServices
from parachute.server.composition.chat import ChatServices
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.llm import ModelServices
from parachute.server.composition.sandbox import SandboxServices
from parachute.server.composition.sessions import SessionServices
from parachute.server.composition.storage import Installation, Storage


class ConnectorServices(Struct, frozen=True, kw_only=True):
    """Services of bots for other parts of the server."""

    bots: Bots
    pairing: Pairing
    connectors: Connectors
    conversations: Conversations
    notices: Notices


async def build_connectors(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    llm: ModelServices,
    sandbox: SandboxServices,
    sessions: SessionServices,
    chat: ChatServices,
    automation: AutomationServices,
    lifecycle: Lifecycle,
) -> ConnectorServices:
    """Start the bots that are switched on; without any nothing runs."""
    home, settings, database = installation.home, installation.settings, storage.messengers
    clock = installation.clock
    configuration = BotConfiguration(home.root)
    chats, updates = ChatStore(database), UpdateStore(database)
    connectors: Connectors
    pairing: Pairing
    conversations: Conversations
    notices: Notices
    bots: Bots

    async def let_in(linked: LinkedChat) -> None:
        """Give a new chat its limit of spending, unless the owner has set one before."""
        usual = (await asyncio.to_thread(configuration.read)).of(linked.platform)
        has_limit = llm.gateway.limits.get(linked.subject) is not None
        if not has_limit and not (usual.daily_dollars is None and usual.daily_tokens is None):
            await llm.gateway.limits.put(SpendingLimit(linked.subject, "day", usual.daily_dollars, usual.daily_tokens))

    async def moved(platform: Platform, update: Update) -> None:
        await pairing.move(platform, update)
        await bots.move(platform, update)

    intake = Intake(
        configuration,
        chats,
        updates,
        knock=lambda platform, update: pairing.knock(platform, update),
        press=lambda platform, update: notices.press(platform, update),
        wake=lambda platform, chat: conversations.wake(platform, chat),
        let_in=let_in,
        remove=lambda platform, names: remove_files(connectors.files(platform), names),
        state_changed=lambda platform, state: bots.state_changed(platform, state),
        owner_seen=lambda: notices.owner_seen(),
        revise=lambda platform, update: conversations.revise(platform, update),
        move=moved,
    )
    connectors = Connectors(home, sandbox.egress, storage.vault.root, settings.port, intake, clock)

    def changed() -> None:
        events.inbox.changed()
        events.feed.changed("bots")

    deliveries = Deliveries(DeliveryStore(database, clock), connectors, events.switch, changed, clock)

    chat_sessions = ChatSessions(chats, sessions.sessions, chat.permissions, events.hooks)
    pairing = Pairing(
        PairingStore(database, clock),
        configuration,
        sessions.sessions,
        deliveries,
        storage.audit,
        let_in,
        changed,
        clock,
    )
    codes = OwnerCodes(clock)
    notices = Notices(NoticeStore(database), chats, sessions.sessions, configuration, deliveries, events.inbox, clock)

    async def owner_changed() -> None:
        await notices.look()
        changed()

    commands = Commands(chats, chat_sessions, sessions.sessions, chat.permissions, codes, chat.runs.stop, owner_changed)
    conversations = Conversations(
        updates,
        chats,
        chat_sessions,
        sessions.sessions,
        chat.runs,
        sandbox.sandboxes,
        connectors,
        deliveries,
        configuration,
        commands,
        events.switch,
        VoiceNotes(automation.transcriptions, storage.vault, clock),
        chat.interrupted,
        clock,
    )
    bots = Bots(
        configuration,
        connectors,
        chats,
        updates,
        deliveries,
        conversations,
        notices,
        sessions.sessions,
        storage.audit,
        codes,
        changed,
        clock,
    )
    chat.preparation.reading = FileSending(
        chats, updates, connectors, deliveries, sandbox.sandboxes.opened, storage.audit
    )
    events.inbox.add(PairingSource(pairing), DeliveriesSource(deliveries))
    await lifecycle.start(pairing)
    await lifecycle.start(bots)
    await lifecycle.start(notices)
    return ConnectorServices(
        bots=bots, pairing=pairing, connectors=connectors, conversations=conversations, notices=notices
    )
