"""Rights of a key to modules, and names that modules cannot take."""

from secrets import token_hex

import pytest

from parachute.base.errors import InvalidInput
from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.modules.runtime.module_computer import ModuleServer

pytestmark = pytest.mark.long

BOOKS = """
@route("GET", "/books")
async def books(self):
    return {"books": []}

@route("POST", "/books")
async def add(self):
    return {"added": True}

def resolve_para_id(self, para_id):
    return {"id": para_id}
"""


@pytest.fixture(scope="module")
def library(server: ModuleServer) -> ModuleServer:
    """A server with two modules of the same routes."""
    server.install_quietly("reading", BOOKS)
    server.install("diary", BOOKS)
    return server


def with_key(library: ModuleServer, *scopes: str) -> dict[str, str]:
    """Headers with a new key."""
    _, secret = Keys(library.home.root).create(f"reader {token_hex(4)}", [Scope.parse(scope) for scope in scopes])
    return {"authorization": f"Bearer {secret}"}


def test_a_key_to_read_one_module(library: ModuleServer) -> None:
    key = with_key(library, "reading:read")
    assert library.get("/api/reading/books", headers=key).json() == {"books": []}
    assert library.ask("HEAD", "/api/reading/books", headers=key).status_code == 200
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert library.ask(method, "/api/reading/books", headers=key).status_code == 403
    for path in ("/api/diary/books", "/api/modules", "/api/modules/diary", "/api/chat", "/api/nope/x", "/api/"):
        assert library.get(path, headers=key).status_code == 403, path


@pytest.mark.parametrize(
    "path", ["/api/reading%2F..%2Fdiary/books", "/api/%64iary/books", "/api/reading//../diary/books"]
)
def test_another_spelling_opens_no_other_module(library: ModuleServer, path: str) -> None:
    answer = library.get(path, headers=with_key(library, "reading:read"))
    assert answer.status_code in (400, 403, 404)
    assert "books" not in answer.json()


def test_a_key_to_write_one_module(library: ModuleServer) -> None:
    key = with_key(library, "reading:write")
    assert library.post("/api/reading/books", headers=key).json() == {"added": True}
    assert library.post("/api/diary/books", headers=key).status_code == 403
    for step in ("disable", "enable", "approve"):
        assert library.post(f"/api/modules/reading/{step}", headers=key, json={}).status_code == 403
    assert library.ask("DELETE", "/api/modules/reading", headers=key).status_code == 403


def test_names_of_other_modules_things_are_not_resolved_for_a_key_without_them(library: ModuleServer) -> None:
    name = "abcdefghijkl"
    both = with_key(library, "para:read", "reading:read")
    assert library.get(f"/api/para/para:reading:{name}", headers=both).status_code == 200
    assert library.get(f"/api/para/para:diary:{name}", headers=both).status_code == 403


@pytest.mark.parametrize(
    "name", ["modules", "health", "para", "auth", "json", "core", "supervisor", "api", "session", "context"]
)
def test_names_that_mean_something_else_are_refused(library: ModuleServer, name: str) -> None:
    with pytest.raises(InvalidInput, match="name"):
        library.install_quietly(name, BOOKS)
    assert library.get(f"/api/modules/{name}").status_code == 404


def test_what_core_answers_is_never_a_modules(library: ModuleServer) -> None:
    library.install("chat", '@route("GET", "/x")\nasync def x(self):\n    return {"from": "module"}\n')
    assert library.get("/api/chat/x").status_code == 404
    assert library.post("/api/chat/x").status_code in (404, 405)
    assert "sessions" in library.value("/api/chat")
    assert library.value("/api/health")["status"]
    library.ask("DELETE", "/api/modules/chat")
