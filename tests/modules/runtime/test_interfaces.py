"""Modules that use each other."""

from typing import Any

import pytest

from tests.modules.runtime.module_computer import ModuleServer

pytestmark = pytest.mark.long

WEATHER = """
async def forecast(self, city: str, days: int = 1) -> dict[str, Any]:
    match city:
        case "Atlantis":
            raise NotFound(f"There is no {city}.", "Try a city that exists.")
        case "Locked":
            raise NotAllowed("Nobody may know.")
        case "Odd":
            raise RuntimeError("the password is hunter2")
    return {"city": city, "days": days, "process": os.getpid()}

async def echo(self, values: dict[str, Any]) -> dict[str, Any]:
    return values
"""
WEATHER_TOP = """
import os
from typing import Any, Protocol

class WeatherInterface(Protocol):
    async def forecast(self, city: str, days: int = 1) -> dict[str, Any]:
        "What the weather will be."
    async def echo(self, values: dict[str, Any]) -> dict[str, Any]:
        "The same again."
"""
TRAVEL = """
@route("GET", "/go/{city}")
async def go(self, city: str):
    weather = self.get_interface("WeatherInterface")
    if weather is None:
        return {"weather": None}
    try:
        return {"weather": await weather.forecast(city, days=3)}
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)}

@route("POST", "/echo")
async def echo(self, values: dict):
    return await self.get_interface("WeatherInterface").echo(values)

@route("GET", "/undeclared")
async def undeclared(self):
    return {"found": self.get_interface("BrainInterface") is not None}

@route("GET", "/absent")
async def absent(self):
    return {"absent": self.get_interface("JournalInterface") is None}
"""


@pytest.fixture(scope="module")
def pair(server: ModuleServer) -> ModuleServer:
    """A server with `weather`, and `travel`, which uses it."""
    server.install_quietly("weather", WEATHER, top=WEATHER_TOP, provides=["WeatherInterface"])
    server.install("travel", TRAVEL, optional_requires=["WeatherInterface", "JournalInterface"])
    ready(server, "travel", "/api/travel/go/Bern", "weather")
    return server


def ready(server: ModuleServer, user: str, path: str, key: str) -> Any:
    """Wait until core knows what the provider offers; a host asks core again when it starts."""

    def answered() -> bool:
        if server.value(path)[key] is not None:
            return True
        server.put_to_sleep(user)
        return False

    server.wait_until(answered, f"{path} gets an answer")
    return server.value(path)


def test_results_come_back(pair: ModuleServer) -> None:
    found = pair.value("/api/travel/go/Bern")["weather"]
    assert (found["city"], found["days"]) == ("Bern", 3)
    values = {"values": {"a": [1, 2.5, None, True, {"b": "ü\u2028"}]}}
    assert pair.post("/api/travel/echo", json=values).json() == values["values"]


@pytest.mark.parametrize(
    ("city", "kind", "text"),
    [
        ("Atlantis", "NotFound", "There is no Atlantis. Try a city that exists."),
        ("Locked", "NotAllowed", "Nobody may know."),
        ("Odd", "ModuleError", None),
    ],
)
def test_errors_keep_their_kind(pair: ModuleServer, city: str, kind: str, text: str | None) -> None:
    found = pair.value(f"/api/travel/go/{city}")
    assert found["error"] == kind
    assert "hunter2" not in found["text"]
    if text is not None:
        assert found["text"] == text


def test_an_interface_that_the_manifest_does_not_name_is_refused(pair: ModuleServer) -> None:
    assert pair.get("/api/travel/undeclared").status_code == 403
    assert pair.value("/api/travel/absent") == {"absent": True}


def test_a_provider_that_sleeps_is_woken(pair: ModuleServer) -> None:
    before = pair.value("/api/travel/go/Bern")["weather"]["process"]
    user = pair.host_process("travel")
    pair.put_to_sleep("weather")
    assert pair.host_process("weather") is None
    assert pair.value("/api/travel/go/Bern")["weather"]["process"]
    assert pair.host_process("weather") is not None
    assert pair.host_process("travel") == user
    assert before


def test_a_provider_that_goes_and_comes_back(pair: ModuleServer) -> None:
    assert pair.post("/api/modules/weather/disable").status_code == 200
    found = pair.value("/api/travel/go/Bern")
    # The user may have heard of it a moment ago.
    assert found.get("error") == "Unavailable" or found == {"weather": None}
    pair.put_to_sleep("travel")
    assert pair.value("/api/travel/go/Bern") == {"weather": None}
    assert pair.post("/api/modules/weather/enable").status_code == 200
    assert ready(pair, "travel", "/api/travel/go/Bern", "weather")["weather"]["city"] == "Bern"


PING = """
async def count(self, left: int) -> int:
    return 0 if left == 0 else 1 + await self.get_interface("{other}Interface").count(left - 1)

@route("GET", "/{{left}}")
async def start(self, left: int):
    found = self.get_interface("{other}Interface")
    return {{"counted": None if found is None else await found.count(left)}}
"""
PING_TOP = """
from typing import Protocol

class {own}Interface(Protocol):
    async def count(self, left: int) -> int:
        "How many calls it took."
"""


def test_two_modules_that_use_each_other(server: ModuleServer) -> None:
    for name, own, other in (("ping", "Ping", "Pong"), ("pong", "Pong", "Ping")):
        server.install_quietly(
            name,
            PING.format(other=other),
            top=PING_TOP.format(own=own),
            provides=[f"{own}Interface"],
            optional_requires=[f"{other}Interface"],
        )
    server.reload()
    ready(server, "pong", "/api/pong/0", "counted")
    ready(server, "ping", "/api/ping/0", "counted")
    assert server.value("/api/ping/10") == {"counted": 10}
    # Without an end, it ends with an error and not with this computer.
    assert server.get("/api/ping/1000000").status_code in (502, 503)
    assert server.value("/api/ping/10") == {"counted": 10}
