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
