"""Tools, events, interfaces and the life cycle."""

import datetime
from dataclasses import dataclass
from typing import Any, Literal, Optional, Protocol

import pytest

from parachute.base.integers import LARGEST
from parachute.core import Event, InvalidInput, Module, ModuleError, NotFound, event, mcp_tool
from parachute.core.interfaces import BroughtEntry, JournalEntry, Placed
from parachute.core.testing import run
from tests.support.errors import raises


@dataclass
class Range:
    first: datetime.date
    last: datetime.date | None = None


class Library(Module):
    name = "library"

    @mcp_tool("library_search")
    async def search(
        self,
        query: str,
        limit: int = 20,
        kind: Literal["book", "song"] = "book",
        when: Optional[Range] = None,  # noqa: UP045
    ) -> list[dict[str, Any]]:
        """Find things in the library.

        Only what was lent out is left out.

        Args:
            query: Words to look for.
            limit (int): How many at most.
        """
        return [{"query": query, "limit": limit, "kind": kind, "when": when}]

    @mcp_tool("library_count")
    def count(self) -> str:
        """Count."""
        return "three"

    @mcp_tool("library_fail")
    async def fail(self, known: bool) -> None:
        """Fail."""
        if known:
            raise NotFound("There is no such book.")
        raise ValueError("secret detail")

    @event("library.lent")
    async def lent(self, book: str, event: Event) -> None:
        await self.core.storage.set(event.id, book)

    @event("library.lent")
    @event("library.returned")
    async def anything(self, **data: Any) -> None:
        await self.core.storage.set("data", data)


async def test_a_tool_describes_itself() -> None:
    async with run(Library) as library:
        tool = library.application.describe()["mcp_tools"][0]
    assert tool["name"] == "library_search"
    assert tool["description"] == "Find things in the library.\n\nOnly what was lent out is left out."
    date = {"type": "string", "format": "date"}
    assert tool["input_schema"] == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words to look for."},
            "limit": {
                "type": "integer",
                "minimum": -LARGEST,
                "maximum": LARGEST,
                "description": "How many at most.",
                "default": 20,
            },
            "kind": {"enum": ["book", "song"], "default": "book"},
            "when": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"first": date, "last": {"anyOf": [date, {"type": "null"}]}},
                        "additionalProperties": False,
                        "required": ["first"],
                    },
                    {"type": "null"},
                ]
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    }


async def test_a_tool_takes_exactly_its_arguments() -> None:
    async with run(Library) as library:
        found = await library.tool("library_search", query="x", when={"first": "2024-01-15"})
        assert found == '[{"query":"x","limit":20,"kind":"book","when":{"first":"2024-01-15","last":null}}]'
        assert await library.tool("library_count") == "three"
        for arguments, said in (
            ({}, "query: this is required"),
            ({"query": 1}, "query: expected text"),
            ({"query": "x", "limit": LARGEST + 1}, "limit: expected a whole number"),
            ({"query": "x", "limit": -1e30}, "limit: expected a whole number"),
            ({"query": "x", "limt": 1}, "limt: unknown argument"),
            ({"query": "x", "kind": "film"}, "kind: expected one of book, song"),
        ):
            with pytest.raises(InvalidInput, match=said):
                await library.tool("library_search", **arguments)
        with pytest.raises(NotFound, match="no such book"):
            await library.tool("library_fail", known=True)
        with pytest.raises(ModuleError, match="failed with ValueError") as caught:
            await library.tool("library_fail", known=False)
        assert "secret" not in str(caught.value)
        with pytest.raises(NotFound):
            await library.tool("library_burn")


async def test_events_reach_all_of_their_handlers() -> None:
    async with run(Library) as library:
        assert await library.emit("library.lent", book="Momo", shelf=3) == 2
        assert await library.core.storage.get("test") == "Momo"
        assert await library.core.storage.get("data") == {"book": "Momo", "shelf": 3}
        # One handler fails, the other one is called all the same, and whoever delivers is told to try again.
        with raises("field_missing"):
            await library.emit("library.lent", shelf=4)
        assert await library.core.storage.get("data") == {"shelf": 4}
        assert await library.emit("library.burnt") == 0


async def test_what_a_module_publishes_bears_its_name() -> None:
    async with run(Library) as library:
        assert await library.core.publish("library.closed", {"day": datetime.date(2024, 1, 15)}) == "event-1"
        assert library.published == [("library.closed", {"day": "2024-01-15"})]
        with raises("other_name", names=r"library\.\*"):
            await library.core.publish("daily.entry.created")
        for name in ("library", "library.", "Library.closed", "library.closed\n"):
            with pytest.raises(InvalidInput):
                await library.core.publish(name)


class Journal(Module):
    name = "journal"
    provides = ["JournalInterface"]

    async def get_recent_entries(self, limit: int = 10) -> list[JournalEntry]:
        return [JournalEntry(str(number), "2024-01-15", "text") for number in range(limit)]

    async def search(self, query: str, date_from: str | None = None, limit: int = 20) -> list[JournalEntry]:
        raise NotFound("There is nothing.", "Write something.")

    async def get(self, entry_id: str) -> JournalEntry | None:
        return None

    async def entries_of(self, date: str) -> list[JournalEntry]:
        return [{"id": 1}]  # type: ignore[list-item]

    async def create(self, content: str, title: str = "", date: str | None = None) -> JournalEntry:
        raise RuntimeError("secret detail")

    async def transcribed(self, entry_id: str, text: str, language: str | None = None, replaced: str = "") -> bool:
        return False

    async def bring(self, entries: list[BroughtEntry], only_looking: bool = False) -> list[Placed]:
        return []

    async def take_back(self, versions: dict[str, str]) -> list[str]:
        return []


class Reader(Module):
    name = "reader"
    optional_requires = ["JournalInterface"]


async def test_an_interface_between_two_modules() -> None:
    async with run(Journal) as journal, run(Reader, interfaces={"JournalInterface": journal.module}) as reader:
        proxy = reader.module.get_interface("JournalInterface")
        entries = await proxy.get_recent_entries(limit=2)
        assert entries == await proxy.get_recent_entries(2) == await journal.module.get_recent_entries(2)
        assert await proxy.get("x") is None
        with pytest.raises(NotFound) as caught:
            await proxy.search("x")
        assert (caught.value.message, caught.value.hint) == ("There is nothing.", "Write something.")
        with pytest.raises(ModuleError) as failed:
            await proxy.create("x")
        assert "secret" not in str(failed.value)
        with raises("result_not_allowed", names=r"entries_of .* result\[0\]\."):
            await proxy.entries_of("2024-01-15")
        with raises("field_invalid"):
            await proxy.get_recent_entries("two")
        with pytest.raises(TypeError, match="lacks the argument"):
            await proxy.search()
        with pytest.raises(TypeError, match="unknown argument"):
            await proxy.get("a", b=1)
        with pytest.raises(AttributeError, match="burn"):
            await proxy.burn()
        assert await journal.interface("JournalInterface", "get_recent_entries", limit=1) == [
            {
                "id": "0",
                "date": "2024-01-15",
                "content": "text",
                "title": "",
                "time": None,
                "path": None,
                "audio_path": None,
            }
        ]
        for method in ("__init__", "on_stop", "run_agent", "core"):
            with pytest.raises(NotFound):
                await journal.interface("JournalInterface", method)


async def test_an_interface_that_nobody_provides_is_none() -> None:
    async with run(Reader) as reader:
        assert reader.module.get_interface("JournalInterface") is None
        with raises("interface_not_named", names="optional_requires"):
            reader.module.get_interface("BrainInterface")


class WeatherInterface(Protocol):
    async def forecast(self, city: str, days: int = 1) -> dict[str, Any]: ...


class Weather(Module):
    name = "weather"
    provides = ["WeatherInterface"]

    async def forecast(self, city: str, days: int = 1) -> dict[str, Any]:
        return {"city": city, "days": days}


async def test_an_interface_of_ones_own() -> None:
    protocols = {"WeatherInterface": WeatherInterface}
    async with run(Weather, protocols=protocols) as weather:
        assert weather.application.describe()["provides"] == [
            {"name": "WeatherInterface", "methods": {"forecast": ["city", "days"]}}
        ]
        async with run(Reader, interfaces={"WeatherInterface": weather.module}) as reader:
            proxy = reader.core.get_interface("WeatherInterface")
            assert proxy is not None
            assert await proxy.forecast("Rome", days=2) == {"city": "Rome", "days": 2}
    with raises("interface_unknown", names="class WeatherInterface"):
        async with run(Weather):
            pass


async def test_half_an_interface_is_refused() -> None:
    class Half(Module):
        name = "half"
        provides = ["WeatherInterface"]

    class Other(Module):
        name = "other"
        provides = ["WeatherInterface"]

        async def forecast(self, town: str) -> dict[str, Any]:
            return {}

    protocols = {"WeatherInterface": WeatherInterface}
    with raises("method_missing", names="forecast"):
        async with run(Half, protocols=protocols):
            pass
    with raises("method_differs", names=r"\(city, days\).*city, days, town"):
        async with run(Other, protocols=protocols):
            pass


async def test_the_life_cycle_is_called_in_order_and_may_be_plain() -> None:
    called: list[str] = []

    class Living(Module):
        name = "living"

        def __init__(self) -> None:
            called.append(f"init of {self.core.name}")

        def on_enable(self) -> None:
            called.append("enable")

        async def on_start(self) -> None:
            called.append("start")

        def on_stop(self) -> None:
            called.append("stop")

    async with run(Living):
        called.append("running")
    assert called == ["init of living", "enable", "start", "running", "stop"]


async def test_functions_beside_the_class_may_ask_for_the_module() -> None:
    async def greet(module: Library, name: str) -> str:
        return f"{module.name} greets {name}"

    def loud(name: str) -> str:
        return name.upper()

    async with run(Library, tools={"greet": greet, "loud": loud}) as library:
        assert await library.tool("greet", name="Ann") == "library greets Ann"
        assert await library.tool("loud", name="Ann") == "ANN"
        described = {tool["name"]: tool["input_schema"] for tool in library.application.describe()["mcp_tools"]}
        assert list(described["greet"]["properties"]) == ["name"]
