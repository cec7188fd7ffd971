"""A module that names the interfaces of others: it gets what its own consent says in words, and not what the provider may."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from parachute.base.errors import NotAllowed
from parachute.core.interfaces import KNOWN, methods_of
from parachute.modules.manifest.consents import consent
from parachute.modules.manifest.interface_rights import is_writing
from parachute.modules.manifest.loading import parse
from parachute.modules.manifest.models import InterfaceName, Manifest
from parachute.modules.registry.models import Trust
from parachute.modules.runtime.interfaces import Interfaces
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.origins import ModuleOrigins
from parachute.security.origin import Origin

ALL = ["BrainInterface", "JournalInterface", "ConversationInterface", "ContextInterface"]
EVERYTHING = {
    "read": ["Daily/**"],
    "write": ["Spy/**"],
    "mcp": ["daily-create"],
    "network": ["evil.example.org"],
    "conversations": "write",
    "journal": "write",
}


def manifest(**fields: Any) -> Manifest:
    named = {"name": "spy", "version": "1.0.0", "module": "module.py", "optional_requires": ALL, **fields}
    return parse(yaml.safe_dump(named).encode())


@dataclass
class Hosts:
    """The caller, and a provider of everything that answers whatever reaches it."""

    caller: ApprovedModule
    origins: ModuleOrigins = field(default_factory=ModuleOrigins)
    asked: list[str] = field(default_factory=list)

    def approved(self, name: str) -> ApprovedModule:
        assert name == "spy"
        return self.caller

    def running(self) -> list[Any]:
        own = manifest(name="provider", optional_requires=[])
        module = ApprovedModule("provider", "sha256:0", Trust.VERIFIED, own, Path())
        methods = {name: dict.fromkeys(methods_of(KNOWN[name]), ()) for name in ALL}
        provides = SimpleNamespace(provides=tuple(map(InterfaceName, ALL)))
        return [SimpleNamespace(module=module, manifest=provides, description=SimpleNamespace(interfaces=methods))]

    async def ask(self, name: str, what: str, document: dict[str, Any], seconds: float) -> Any:
        assert (name, what) == ("provider", "interface")
        self.asked.append(f"{document['interface']}.{document['method']}")
        return {"result": None}


def world(trust: Trust = Trust.TRUSTED, **fields: Any) -> tuple[Interfaces, Hosts]:
    hosts = Hosts(ApprovedModule("spy", "sha256:0", trust, manifest(**fields), Path()))
    return Interfaces(hosts), hosts  # type: ignore[arg-type]


async def reached(interfaces: Interfaces, hosts: Hosts) -> set[str]:
    """Call every method of every interface, and give those that the provider heard of."""
    for name in ALL:
        for method in methods_of(KNOWN[name]):
            try:
                await interfaces.call("spy", name, method, {})
            except NotAllowed as error:
                assert error.key in ("interface_not_named", "interface_not_permitted")  # noqa: PT017
    return set(hosts.asked)


async def test_an_untrusted_module_that_names_them_all_gets_nothing() -> None:
    hooks = [{"event": event} for event in ("daily.entry.created", "session.message", "spy.done")]
    fields = {"permissions": EVERYTHING, "hooks": hooks, "provides": ["SpyInterface"]}
    interfaces, hosts = world(Trust.UNTRUSTED, **fields)
    assert interfaces.provided("spy") == {}
    assert await reached(interfaces, hosts) == set()
    own = hosts.caller.manifest
    assert [hook.event for hook in own.hooks] == ["spy.done"]
    assert (own.provides, own.permissions.conversations, own.permissions.read) == ((), "none", ())
    said = consent(manifest(**fields), (), untrusted=True)
    assert (said.gives, said.mcp_used, said.network, said.write, said.conversations) == ((), (), (), (), "none")
    assert "permissions.conversations: write: an untrusted module gets none" in said.without_effect


async def test_a_trusted_one_gets_what_its_consent_says_in_words() -> None:
    reading = {f"{name}.{method}" for name in ALL for method in methods_of(KNOWN[name]) if not is_writing(name, method)}
    chats = {"ConversationInterface.get_sessions", "ConversationInterface.get_messages"}
    plain = (reading - chats - {"ContextInterface.context_for"}) | {"BrainInterface.link"}
    assert len(plain) == 11
    for permissions, allowed, words in (
        ({}, plain, "Read all of your journal"),
        ({"conversations": "read"}, plain | chats, "Read all of your conversations"),
        (
            {"conversations": "write", "journal": "write"},
            plain
            | chats
            | {"ConversationInterface.send_message", "JournalInterface.create", "JournalInterface.transcribed"},
            "Read all of your journal, and write entries into it",
        ),
    ):
        interfaces, hosts = world(permissions=permissions)
        assert await reached(interfaces, hosts) == allowed
        assert words in consent(manifest(permissions=permissions), ()).gives
    none = consent(manifest(), ())
    assert any(line.startswith("optional_requires: ConversationInterface") for line in none.without_effect)
    assert set(world()[0].provided("spy")) == {"BrainInterface", "JournalInterface"}


async def test_who_is_told_something_may_pass_it_on_with_its_origin_only() -> None:
    interfaces, hosts = world(permissions={"network": ["web.example.org"], "journal": "write"})
    provider = hosts.running()[0].module
    await interfaces.call("spy", "JournalInterface", "search", {})
    assert hosts.origins.of_words(provider) is Origin.OWN_FILE
    await interfaces.call("spy", "JournalInterface", "create", {})
    assert hosts.origins.of_words(provider) is Origin.WEB


@pytest.mark.parametrize("interface", ["SpyInterface", "JournalInterface"])
async def test_what_is_not_named_is_refused(interface: str) -> None:
    interfaces, hosts = world(optional_requires=["BrainInterface"])
    with pytest.raises(NotAllowed) as raised:
        await interfaces.call("spy", interface, "search", {})
    assert raised.value.key == "interface_not_named"
    assert hosts.asked == []
