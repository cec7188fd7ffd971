"""A module that is installed, and a conversation that uses its tool: all real but the model."""

import pytest

from parachute.supervisor.specifications.host import module_folder
from tests.chat.agent_processes.module_tools import BOOKS
from tests.chat.runs.answers import answered
from tests.modules.runtime.module_computer import ModuleServer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server
from tests.support.sse import ChatStream

pytestmark = pytest.mark.long

TOOLS = '''
@mcp_tool("books_search")
async def search(self, query: str):
    """Find books

    Args:
        query: Words
    """
    if query == "forbidden":
        raise NotAllowed("This book is not for lending.", "Choose another one.")
    return [f"{query} by Ende"]
'''


@pytest.fixture
def books(make_server: Make[Server]) -> ModuleServer:
    """A server with the module `books`, of whose tool core has heard."""
    server = make_server(ModuleServer)
    server.install("books", TOOLS, mcp_tools=[{"name": "books_search", "description": "Find books"}])
    described = module_folder("books", server.home.root) / "description.json"
    server.wait_until(described.is_file, "core knows the tools of the module")
    server.put_to_sleep("books")
    return server


def result_of(stream: ChatStream) -> tuple[bool, str]:
    """(whether it is an error, content) of the only tool result."""
    (result,) = stream.of_type("tool_result")
    return result["isError"], result["content"]


async def test_a_conversation_uses_the_tool_of_an_installed_module(books: ModuleServer, api: MessagesAPI) -> None:
    api.script(tool_use("mcp__parachute__books_search", {"query": "Momo"}), text("Found it."))
    async with books.client() as client:
        stream = await answered(client)
        assert result_of(stream) == (False, '["Momo by Ende"]')
        assert stream.text == "Found it."
        (shown,) = [tool for tool in api.conversation[0].body["tools"] if tool["name"].startswith("mcp__")]
        assert shown["description"] == "Find books"
        assert shown["input_schema"] == {**BOOKS, "additionalProperties": False}
        api.script(tool_use("mcp__parachute__books_search", {"query": "forbidden"}), text("A pity."))
        assert result_of(await answered(client)) == (True, "This book is not for lending. Choose another one.")
        api.script(tool_use("mcp__parachute__books_search", {"words": "Momo"}), text("A pity."))
        is_error, said = result_of(await answered(client))
        assert is_error
        assert "query" in said
        assert books.ask("DELETE", "/api/modules/books").status_code == 200
        api.script(text("Without it."))
        await answered(client)
    assert not [tool for tool in api.conversation[-1].body["tools"] if tool["name"].startswith("mcp__")]
