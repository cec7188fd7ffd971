"""The network of conversations: opening it for a sandbox, refusing what is not listed, and the owner's decisions."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.clock import now
from parachute.base.errors import InvalidInput, NotFound
from parachute.chat.network.models import Asked, Choice, DecidedHost, RefusedHost, entry_of
from parachute.chat.network.store import HostDecisions
from parachute.chat.repositories.service import Place, Repositories
from parachute.chat.sessions.models import Session
from parachute.chat.workspaces.models import Workspace
from parachute.config.settings.groups.network import NetworkSettings
from parachute.sandbox.egress.account import WentOut
from parachute.sandbox.egress.hosts import AllowedHosts
from parachute.sandbox.egress.models import NO_NETWORK, Network, Refused, Target
from parachute.sandbox.egress.presets import Presets, resolved
from parachute.sandbox.egress.route import Service
from parachute.sandbox.egress.service import Egress
from parachute.sandbox.layout import EGRESS_SOCKET
from parachute.security.audit.service import Audit

_MOST, _MOST_OF_SESSION = 100, 10
"""Hosts that may wait for a decision, of all and of one conversation; a further one is refused and not asked about."""


class NotAllowedYet(Refused):
    """A host that the owner is asked about."""

    key = "host_asked"
    reason = b"Not Allowed Yet, The Owner Was Asked"


class _Opened(Struct):
    """The network of one session, `within` hosts if they are given; decisions count that were made `since` its workspace began."""

    workspace: str
    since: str
    network: Network
    folder: Path
    services: Mapping[Target, Service]
    within: AllowedHosts | None


class Networks:
    """Opens a listener of the egress proxy for each sandboxed conversation.

    `changed` is called when the waiting hosts change, `went_out` with whose request is about to leave this computer.
    """

    def __init__(
        self,
        settings: NetworkSettings,
        egress: Egress,
        decisions: HostDecisions,
        repositories: Repositories,
        audit: Audit,
        changed: Callable[[], None],
        went_out: WentOut,
    ) -> None:
        self._default = Network(settings.mode, tuple(settings.hosts))
        self.presets: Presets = settings.presets
        self._egress = egress
        self._decisions = decisions
        self._repositories = repositories
        self._audit = audit
        self._changed = changed
        self._went_out = went_out
        self._opened: dict[str, _Opened] = {}
        self._once: dict[tuple[str, str], set[str]] = {}
        self._asked: dict[tuple[str, str], Asked] = {}
        self._refused: dict[str, dict[tuple[str, str], None]] = {}

    def of(self, session: Session, workspace: Workspace | None) -> Network:
        """Return the network of a session: that of its workspace, with the hosts of presets; error: InvalidInput for an unknown one.

        One from outside has none without a workspace: whoever writes there is not the owner.
        """
        if workspace is None and session.from_outside:
            return NO_NETWORK
        network = self._default
        if workspace is not None:
            network = replace(workspace.network, repositories=tuple(map(str, workspace.git)))
        return replace(network, hosts=resolved(network.hosts, self.presets))

    def check_within(self, session: Session, workspace: Workspace | None, wanted: Network) -> None:
        """Error: InvalidInput for a host that a session could not reach without asking for it."""
        network, (slug, since) = self.of(session, workspace), _slug(workspace)
        decided = self._decisions.of(slug, since) if network.mode != "off" else {}
        always, never = _chosen(decided)
        reached = AllowedHosts.parse([*network.hosts, *always], private=True, refused=never)
        for host in AllowedHosts.parse(resolved(wanted.hosts, self.presets), private=True).texts():
            if not reached.cover(host):
                raise InvalidInput(
                    f"network: this conversation may not reach {host}.",
                    "The permissions of a conversation only narrow; allow it first: `parachute network allow HOST`.",
                    key="wider",
                )

    async def open(
        self, session: Session, workspace: Workspace | None, folder: Path, within: Network | None = None
    ) -> Network:
        """Give a session its network, by a socket in the folder, and return what it is: no more than `within` has."""
        network, hosts = self.of(session, workspace), None
        if within is not None:
            hosts = AllowedHosts.parse(resolved(within.hosts, self.presets), private=True)
            network = _narrowed(network, within, hosts)
        if not network.is_open:
            await self.close(session.id)
            return network
        (slug, since), git = _slug(workspace), workspace.git if workspace else ()
        git = tuple(each for each in git if str(each) in network.repositories)
        source = session.title or "A new conversation"
        place = Place(session.id, _owner(session.id), source, slug, since, network.mode, git, hosts)
        services = self._repositories.open(place)
        self._opened[session.id] = opened = _Opened(slug, since, network, folder, services, hosts)
        await self._listen(session.id, source, opened)
        return network

    async def close(self, session: str) -> None:
        """Close the network of a session; what it was allowed once is forgotten."""
        self._refused.pop(session, None)
        if (opened := self._opened.pop(session, None)) is not None:
            self._once.pop((session, opened.workspace), None)
            await self._egress.close(_owner(session))
            self._repositories.close(session)

    async def close_all(self) -> None:
        """Close the networks of all sessions; the next turn of each opens its own again."""
        for session in list(self._opened):
            await self.close(session)

    def refusal_of_page(self, session: str, url: str) -> Refused | None:
        """Return why a session may not load a page, and ask the owner as the proxy would; None where that is for the proxy to say."""
        return self._egress.refusal_of_page(_owner(session), url)

    def waiting(self) -> Sequence[Asked]:
        """Return the hosts that wait for a decision, the oldest first."""
        return list(self._asked.values())

    def take_refused(self, session: str) -> Sequence[tuple[str, str]]:
        """Return (workspace, host) of those that a session was refused and the owner asked about, since this was asked last."""
        return list(self._refused.pop(session, ()))

    def refused(self, session: str, workspace: str, host: str, since: str) -> RefusedHost:
        """Return what has become of a host that a session was refused; `since` is before that."""
        found = RefusedHost(host, workspace or None, "refused")
        if (choice := self._decisions.of(workspace, since).get(host)) is not None:
            return replace(found, state=choice)
        if host in self._once.get((session, workspace), ()):
            return replace(found, state="once")
        return replace(found, state="waits") if (workspace, host) in self._asked else found

    def decisions(self) -> Sequence[DecidedHost]:
        """Return every decision that holds."""
        return self._decisions.all()

    async def allow_once(self, asked: Asked, who: str) -> None:
        """Let the session that asked reach a host until its sandbox ends, its next one if none is open; error: NotFound."""
        self._take(asked)
        self._once.setdefault((asked.session, asked.workspace), set()).add(asked.host)
        self._audit.decided(
            "network", who, f"allow once: {asked.host}", asked.host, asked.session, session=asked.session
        )
        if (opened := self._opened.get(asked.session)) is not None:
            await self._listen(asked.session, asked.source, opened)

    async def decide(self, workspace: str, host: str, choice: Choice, who: str) -> DecidedHost:
        """Decide about a host for a workspace, or with an empty name for all chats without; error: InvalidInput."""
        (host,) = AllowedHosts.parse([host], private=True).texts()
        decision = DecidedHost(workspace or None, host, choice, who, now())
        await self._decisions.put(decision)
        self._audit.decided("network", who, f"{choice}: {host}", host, workspace)
        if self._asked.pop((workspace, host), None) is not None:
            self._changed()
        await self._apply(workspace)
        return decision

    async def forget(self, workspace: str, host: str, who: str) -> None:
        """Take a decision back: the host is asked about again. Error: NotFound."""
        if not await self._decisions.remove(workspace, host):
            raise NotFound(
                f"There is no decision about {host[:80]}.",
                "`parachute network list` shows what was.",
                key="host_not_decided",
            )
        self._audit.decided("network", who, f"forget: {host}", host, workspace)
        await self._apply(workspace)

    async def _apply(self, workspace: str) -> None:
        for session, opened in list(self._opened.items()):
            if opened.workspace == workspace:
                await self._listen(session, "", opened)

    async def _listen(self, session: str, source: str, opened: _Opened) -> None:
        allowed, never = _chosen(self._decisions.of(opened.workspace, opened.since))
        once = self._once.get((session, opened.workspace), ())
        hosts: Sequence[str] = (*opened.network.hosts, *allowed, *sorted(once))
        if opened.network.mode == "off":
            hosts = ()
        elif opened.within is not None:
            hosts = AllowedHosts.parse(hosts, private=True).common(opened.within).texts()
        await self._egress.open(
            _owner(session),
            hosts,
            opened.folder / EGRESS_SOCKET,
            private=True,
            refused=never,
            unlisted=partial(self._refuse, session, source, opened),
            services=opened.services,
            went_out=self._went_out,
        )

    def _refuse(self, session: str, source: str, opened: _Opened, target: Target) -> Refused:
        host = entry_of(target)
        _, never = _chosen(self._decisions.of(opened.workspace, opened.since))
        if AllowedHosts.parse((), refused=never).refuses(target):
            return Refused(f"The owner has refused {host}.", "Do without it.")
        if opened.network.mode != "ask":
            return Refused(
                f"This conversation may not reach {host}: it is not on the list of allowed hosts.",
                "Do without it, or ask the owner to add it.",
            )
        try:
            AllowedHosts.parse([host])
        except InvalidInput:
            return Refused(
                f"{host} is not of the internet: this machine and the network at home are closed.", "Do without it."
            )
        key = opened.workspace, host
        if key not in self._asked:
            mine = sum(each.session == session for each in self._asked.values())
            if len(self._asked) >= _MOST or mine >= _MOST_OF_SESSION:
                return Refused(f"{host} is not allowed, and too many hosts wait for the owner.", "Ask the owner.")
            self._asked[key] = Asked(opened.workspace, host, session, source or opened.workspace, now())
            self._changed()
        noted = self._refused.setdefault(session, {})
        if len(noted) < _MOST_OF_SESSION:
            noted[key] = None
        return NotAllowedYet(
            f"{host} is not allowed yet. The owner has been asked (`parachute inbox`).",
            "Tell the owner what it is needed for, and try again once it is allowed.",
        )

    def _take(self, asked: Asked) -> None:
        if self._asked.get((asked.workspace, asked.host)) is not asked:  # decided, and perhaps asked for again since
            raise NotFound(f"{asked.host} is no longer waiting for a decision.", key="not_waiting")
        del self._asked[asked.workspace, asked.host]
        self._changed()


def _chosen(decided: Mapping[str, Choice]) -> tuple[list[str], list[str]]:
    """The hosts that were allowed for good, and those that were refused."""
    always = [host for host, choice in decided.items() if choice == "always"]
    return always, [host for host in decided if host not in always]


def _slug(workspace: Workspace | None) -> tuple[str, str]:
    return (workspace.slug, workspace.created_at) if workspace else ("", "")


def _narrowed(network: Network, within: Network, hosts: AllowedHosts) -> Network:
    """Return the intersection of two networks; git reaches the repositories of the hosts alone."""
    if within.mode == "off":
        return NO_NETWORK
    left = AllowedHosts.parse(network.hosts, private=True).common(hosts).texts()
    kept = tuple(each for each in network.repositories if hosts.cover(each.partition("/")[0]))
    return Network("off" if network.mode == "off" else "list", tuple(left), kept)


def _owner(session: str) -> str:
    return f"agent:{session}"
