"""Resources and prompts of MCP: what is listed, page by page, how it is read, and what stays out."""

import base64

import pytest

from tests.modules.mcp_endpoint.granted import Granted
from tests.support.mcp_client import OwnersBrowser
from tests.support.server import Server

pytestmark = pytest.mark.process

SHELF, CELLAR = "Shelf", "Cellar"
ON_SHELF, IN_CELLAR = 130, 260


@pytest.fixture(scope="module")
def shelf(server: Server) -> Server:
    """A vault with two folders of files, of which names of one stand before those of the other."""
    for folder, count in ((SHELF, ON_SHELF), (CELLAR, IN_CELLAR)):
        (server.vault / folder).mkdir()
        for number in range(count):
            (server.vault / folder / f"note {number:03}.md").write_text(f"{folder} {number}")
    return server


@pytest.fixture
def granted(owner: OwnersBrowser, shelf: Server) -> Granted:
    """A client that may read everything."""
    return Granted(owner)


def pages(granted: Granted) -> list[list[str]]:
    """The addresses of all pages."""
    found: list[list[str]] = []
    cursor = None
    while not found or cursor:
        page = granted.send("resources/list", **({"cursor": cursor} if cursor else {}))
        found.append([each["uri"] for each in page["resources"]])
        cursor = page.get("nextCursor")
    return found


def test_pages_hold_what_may_be_seen_and_no_trace_of_the_rest(granted: Granted) -> None:
    assert granted.give(folders=[SHELF]) == 200
    found = pages(granted)
    assert [len(each) for each in found] == [100, ON_SHELF - 100]
    whole = [address for page in found for address in page]
    assert len(set(whole)) == ON_SHELF
    assert all(each.startswith(f"parachute://files/{SHELF}/") for each in whole)
    assert granted.give(folders=[CELLAR, SHELF]) == 200
    assert sum(map(len, pages(granted))) == ON_SHELF + IN_CELLAR
    assert granted.give(folders=[CELLAR], kinds=["entry"]) == 200
    assert granted.send("resources/list") == {"resources": []}


@pytest.mark.parametrize("cursor", ["100", "", "gAAAA", 7])
def test_a_cursor_that_was_not_given_is_refused(granted: Granted, cursor: object) -> None:
    assert granted.send("resources/list", cursor=cursor)["code"] == -32602
    assert granted.received()[0]["error"] == "invalid_input"


def test_templates_and_prompts_are_those_of_the_grant(granted: Granted) -> None:
    assert granted.give(tools=["resources-files", "daily-search"]) == 200
    templates = granted.send("resources/templates/list")["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == ["parachute://files/{+path}"]
    (prompt,) = granted.send("prompts/list")["prompts"]
    assert prompt["name"] == "written-about"
    messages = granted.send("prompts/get", name="written-about", arguments={"subject": "sails"})["messages"]
    assert "sails" in messages[0]["content"]["text"]
    assert granted.send("prompts/get", name="written-about")["code"] == -32602
    assert granted.send("prompts/get", name="what-i-know", arguments={"subject": "sails"})["code"] == -32602


def test_what_is_read_is_bounded_and_what_is_no_text_comes_as_it_is(granted: Granted, shelf: Server) -> None:
    (shelf.vault / "long.txt").write_text("ä" * 600_000)
    (shelf.vault / "small.png").write_bytes(b"\x89PNG\0")
    (shelf.vault / "large.bin").write_bytes(b"\0" * 400_000)
    long, small = (
        granted.send("resources/read", uri=f"parachute://files/{name}") for name in ("long.txt", "small.png")
    )
    assert len(long["contents"][0]["text"]) < 401_000
    assert small["contents"][0]["mimeType"] == "image/png"
    assert base64.b64decode(small["contents"][0]["blob"]) == b"\x89PNG\0"
    assert granted.send("resources/read", uri="parachute://files/large.bin")["code"] == -32603
    receipt = granted.received()[1]
    assert (receipt["target_endpoint"], receipt["files"]) == ("resources/read", [{"path": "small.png"}])


@pytest.mark.parametrize(
    "path",
    [
        "Daily/journals/2026-01-01.md",
        "daily/x.md",
        "Chat/contexts/x.md",
        "Brain/x.md",
        ".mcp.json",
        ".claude/x.md",
        "Shelf/.env",
        "Shelf",
        "Shelf/../Shelf/note 001.md",
        "Shelf//note 001.md",
        "/Shelf/note 001.md",
        "Shelf/link.md",
    ],
)
def test_what_others_answer_for_and_what_is_hidden_is_no_file(granted: Granted, shelf: Server, path: str) -> None:
    link = shelf.vault / "Shelf/link.md"
    if not link.is_symlink():
        link.symlink_to("note 001.md")
    if not path.startswith("/") and not (shelf.vault / path).exists():
        (shelf.vault / path).parent.mkdir(parents=True, exist_ok=True)
        (shelf.vault / path).write_text("kept back")
    assert granted.send("resources/read", uri=f"parachute://files/{path}")["code"] == -32002
    assert f"parachute://files/{path}" not in [address for page in pages(granted) for address in page]
