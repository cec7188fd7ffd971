"""The wing `connectors`: bots, their processes, the chats that were let in, and who waits."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from msgspec import Struct

from parachute.connectors.bots.intake import Intake
from parachute.connectors.bots.service import Bots
from parachute.connectors.chats.codes import OwnerCodes
from parachute.connectors.chats.models import LinkedChat
from parachute.connectors.chats.sessions import ChatSessions
from parachute.connectors.configuration.models import Platform
from parachute.connectors.configuration.service import BotConfiguration
from parachute.connectors.conversations.commands import Commands
from parachute.connectors.conversations.service import Conversations
from parachute.connectors.conversations.voice_notes import VoiceNotes
from parachute.connectors.deliveries.inbox import DeliveriesSource
from parachute.connectors.notices.service import Notices
from parachute.connectors.notices.store import NoticeStore
from parachute.connectors.pairing.inbox import PairingSource
from parachute.connectors.pairing.service import Pairing
from parachute.connectors.pairing.store import PairingStore
from parachute.connectors.platforms.models import State, Update
from parachute.connectors.platforms.shared_files import remove_files
from parachute.connectors.push.consent import Consent
from parachute.connectors.push.identity import Identity
from parachute.connectors.push.inbox import PushServicesSource
from parachute.connectors.push.news import RunNews
from parachute.connectors.push.sending import Sender
from parachute.connectors.push.service import Push
from parachute.connectors.push.store import Subscriptions
from parachute.connectors.push.telling import Telling
from parachute.connectors.runtime.service import Connectors
from parachute.llm.gateway.limits import SpendingLimit, SpendingLimits, guest_subject
from parachute.sandbox.egress.certificates import Certificates
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.server.composition.automation import AutomationServices
from parachute.server.composition.chat import ChatServices
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.llm import ModelServices
from parachute.server.composition.messengers import MessengerServices
from parachute.server.composition.networks import NetworkServices
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
    push: Push


async def build_connectors(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    llm: ModelServices,
    sandbox: SandboxServices,
    sessions: SessionServices,
    messengers: MessengerServices,
    chat: ChatServices,
    automation: AutomationServices,
    networks: NetworkServices,
    browsers: BrowserSessions,
    lifecycle: Lifecycle,
) -> ConnectorServices:
    """Start the bots that are switched on; without any nothing runs."""
    home, clock, codes = installation.home, installation.clock, OwnerCodes(installation.clock)
    configuration, chats, deliveries = messengers.configuration, messengers.chats, messengers.deliveries
    let_in = partial(_limit, configuration, llm.gateway.limits)
    pairing = Pairing(
        PairingStore(storage.messengers, clock),
        configuration,
        sessions.sessions,
        deliveries,
        storage.audit,
        let_in,
        messengers.changed,
        clock,
    )
    store = NoticeStore(storage.messengers)
    notices = Notices(store, chats, sessions.sessions, configuration, deliveries, events.inbox, clock)
    conversations = _build_conversations(
        installation, storage, events, sandbox, sessions, messengers, chat, automation, notices, codes
    )
    intake = _build_intake(messengers, pairing, notices, conversations, let_in, llm.gateway.limits)
    port, vault = installation.settings.port, storage.vault.root
    connectors = Connectors(home, sandbox.egress, vault, port, messengers.opened, intake, clock)
    bots = Bots(
        configuration,
        connectors,
        chats,
        messengers.updates,
        deliveries,
        conversations,
        notices,
        sessions.sessions,
        storage.audit,
        codes,
        messengers.changed,
        clock,
    )
    push = _build_push(installation, events, sandbox, sessions, messengers, chat, networks, browsers, store)
    events.inbox.add(PairingSource(pairing), DeliveriesSource(deliveries), PushServicesSource(push))
    await lifecycle.start(pairing)
    await lifecycle.start(bots)
    await lifecycle.start(notices)
    await lifecycle.start(push)
    return ConnectorServices(
        bots=bots, pairing=pairing, connectors=connectors, conversations=conversations, notices=notices, push=push
    )


def _build_push(
    installation: Installation,
    events: EventServices,
    sandbox: SandboxServices,
    sessions: SessionServices,
    messengers: MessengerServices,
    chat: ChatServices,
    networks: NetworkServices,
    browsers: BrowserSessions,
    store: NoticeStore,
) -> Push:
    """Build what tells devices."""
    home, clock = installation.home, installation.clock

    def changed() -> None:
        events.inbox.changed()
        events.feed.changed("keys")

    identity, subscriptions = Identity(home.root, clock), Subscriptions(home.root)
    consent, news = Consent(networks.networks), RunNews(chat.runs, sessions.sessions, clock)
    telling = Telling(
        home,
        subscriptions,
        browsers,
        consent,
        Sender(identity, Certificates()),
        sandbox.egress,
        messengers.configuration,
        store,
        events.inbox,
        news,
        clock,
    )
    return Push(identity, subscriptions, browsers, consent, telling, changed)


def _build_conversations(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    sandbox: SandboxServices,
    sessions: SessionServices,
    messengers: MessengerServices,
    chat: ChatServices,
    automation: AutomationServices,
    notices: Notices,
    codes: OwnerCodes,
) -> Conversations:
    """Build what answers in chats."""
    chats, clock = messengers.chats, installation.clock

    async def owner_changed() -> None:
        await notices.look()
        messengers.changed()

    own = ChatSessions(chats, sessions.sessions, chat.permissions, events.hooks, messengers.configuration)
    commands = Commands(chats, own, sessions.sessions, chat.permissions, codes, chat.runs.stop, owner_changed)
    return Conversations(
        messengers.updates,
        chats,
        own,
        sessions.sessions,
        chat.runs,
        sandbox.sandboxes,
        messengers.opened,
        messengers.deliveries,
        messengers.configuration,
        commands,
        events.switch,
        VoiceNotes(automation.transcriptions, storage.vault, clock),
        chat.interrupted,
        clock,
    )


def _build_intake(
    messengers: MessengerServices,
    pairing: Pairing,
    notices: Notices,
    conversations: Conversations,
    let_in: Callable[[LinkedChat], Awaitable[None]],
    limits: SpendingLimits,
) -> Intake:
    """Build what hears connectors."""
    opened = messengers.opened

    async def state_changed(platform: Platform, state: State) -> None:
        if state.kind == "connected":
            messengers.deliveries.wake(platform)
        messengers.changed()

    async def move(platform: Platform, update: Update) -> None:
        await pairing.move(platform, update)
        before, after = update.chat.id, update.moved_to
        if await messengers.chats.get(platform, before):
            # First of all: nothing is said there without it.
            await limits.copy(guest_subject(platform, before), guest_subject(platform, after))
        if await messengers.chats.move(platform, before, after):
            conversations.wake(platform, before)
            messengers.changed()

    return Intake(
        messengers.configuration,
        messengers.chats,
        messengers.updates,
        knock=pairing.knock,
        press=notices.press,
        wake=conversations.wake,
        let_in=let_in,
        remove=lambda platform, names: remove_files(opened.files(platform), names),
        state_changed=state_changed,
        owner_seen=notices.owner_seen,
        revise=conversations.revise,
        move=move,
    )


async def _limit(configuration: BotConfiguration, limits: SpendingLimits, linked: LinkedChat) -> None:
    """Give a new chat its limit of spending, unless the owner has set one before."""
    usual = (await asyncio.to_thread(configuration.read)).of(linked.platform)
    has_limit = limits.get(linked.subject) is not None
    if not has_limit and not (usual.daily_dollars is None and usual.daily_tokens is None):
        await limits.put(SpendingLimit(linked.subject, "day", usual.daily_dollars, usual.daily_tokens))
