"""Records that routes return: their JSON and their description follow from their fields."""

from fastapi import FastAPI
from fastapi.testclient import TestClient

from parachute.base.answers import Answer, Done


class Host(Answer, frozen=True):
    """A host."""

    name: str
    port: int | None = None


class Hosts(Answer, frozen=True, rename="camel"):
    """Hosts."""

    known_hosts: tuple[Host, ...]


def test_a_record_is_described_and_written_as_it_is() -> None:
    app = FastAPI()

    @app.get("/hosts")
    async def list_hosts() -> Hosts:
        return Hosts((Host("a"), Host("b", 2)))

    @app.delete("/hosts")
    async def forget() -> Done:
        return Done()

    client = TestClient(app)
    hosts = [{"name": "a", "port": None}, {"name": "b", "port": 2}]
    assert client.get("/hosts").json() == {"knownHosts": hosts}
    assert client.delete("/hosts").json() == {"success": True}
    found = app.openapi()["components"]["schemas"]
    assert found["Host"]["required"] == ["name", "port"]
    assert found["Hosts"]["description"] == "Hosts."
    assert found["Hosts"]["properties"]["knownHosts"]["items"] == {"$ref": "#/components/schemas/Host"}


class Bounds(Answer, frozen=True, omit_defaults=True):
    """Bounds that were chosen."""

    memory: int | None = None
    cpus: float | None = None


class Machine:
    """An object with the members of a record, one of them derived."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.secret = "s"

    @property
    def port(self) -> int:
        return len(self.name)


def test_a_record_may_leave_defaults_out() -> None:
    app = FastAPI()

    @app.get("/bounds")
    async def bounds() -> Bounds:
        return Bounds(cpus=2)

    assert TestClient(app).get("/bounds").json() == {"cpus": 2.0}
    assert "required" not in app.openapi()["components"]["schemas"]["Bounds"]


def test_a_record_shows_an_object() -> None:
    assert Host.showing(Machine("four")) == Host("four", 4)
