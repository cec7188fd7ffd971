"""Records name the para-ids of what they are about."""

from types import SimpleNamespace
from typing import Any

from parachute.base.services import ServiceRegistry
from parachute.events.bus.service import Events
from parachute.modules.manifest.models import InterfaceName
from parachute.modules.runtime.interfaces import Interfaces
from parachute.security.audit.middleware import AuditMiddleware
from parachute.security.audit.records import para_ids
from parachute.security.audit.service import Audit
from parachute.security.keys.models import FULL_ACCESS, Caller

from .conftest import Recorded

ENTRY, KEVIN = "para:daily:a1b2c3d4e5f6", "para:brain:aaaaaaaaaaaa"


def test_they_are_found_at_any_depth_and_what_is_endless_is_bounded() -> None:
    assert para_ids({"entry": ENTRY, "to": [{"of": (KEVIN, ENTRY)}, 5, None]}) == [ENTRY, KEVIN]
    assert para_ids(f"/api/daily/entries/{ENTRY}/tags") == [ENTRY]
    endless: list[Any] = []
    endless.append(endless)
    assert para_ids(endless) == []
    assert len(para_ids([f"para:brain:{number}" for number in range(1000)])) == 20


class Hosts:
    """Hosts of which one provides Brain and answers what a call wants."""

    def __init__(self) -> None:
        manifest = SimpleNamespace(optional_requires=(InterfaceName("BrainInterface"),))
        provides = SimpleNamespace(provides=(InterfaceName("BrainInterface"),), optional_requires=())
        self.origins = SimpleNamespace(has_read=self._has_read, of_words=lambda _: None)
        self._caller = SimpleNamespace(name="daily", manifest=manifest)
        module = SimpleNamespace(name="brain", manifest=provides)
        self._host = SimpleNamespace(module=module, manifest=provides)

    async def _has_read(self, *_: Any) -> None:
        pass

    def approved(self, name: str) -> Any:
        return self._caller

    def running(self) -> list[Any]:
        return [self._host]

    async def ask(self, *_: Any) -> dict[str, Any]:
        return {"result": True}


async def test_calls_of_interfaces_events_and_requests_have_them(recorded: Recorded) -> None:
    audit: Audit = recorded.open()
    heard: list[list[str]] = []
    audit.listen(lambda record: heard.append(record["para_ids_involved"]))
    hosts: Any = Hosts()
    await Interfaces(hosts, audit).call("daily", "BrainInterface", "link", {"entry": ENTRY, "entity": KEVIN})
    await Events(audit).publish("brain.mention.detected", {"entity": KEVIN, "entry": ENTRY}, "brain")

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})

    async def nothing(*_: Any) -> Any:
        pass

    services = ServiceRegistry()
    services.add(audit)
    caller = Caller("cli", "command line", FULL_ACCESS)
    scope: Any = {"type": "http", "method": "POST", "path": f"/api/daily/entries/{ENTRY}", "headers": []}
    await AuditMiddleware(application, services)({**scope, "state": {"caller": caller}}, nothing, nothing)
    assert heard == [[ENTRY, KEVIN], [KEVIN, ENTRY], [ENTRY]]
