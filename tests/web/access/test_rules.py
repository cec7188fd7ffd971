"""Every route has its line in the table of capabilities, and every line has a route."""

import re

import pytest

from parachute.modules.registry.names import names_ok
from parachute.modules.runtime.proxy import ALIASES
from parachute.server.routes import ROUTES
from parachute.server.status.api import router as status
from parachute.server.status.panic_api import router as panic
from parachute.web.access.routing import RULES, Rule, needed
from tests.support.routers import routers

PATHS = sorted({route.path for router in (*routers(), status, panic) for route in router.routes})  # type: ignore[attr-defined]
ANY = {"/api/{module}", "/"}
"""Lines for whatever has none of its own: routes of modules, and paths that nobody has thought of."""


def has_path(rule: Rule, path: str) -> bool:
    if rule.is_exact:
        return path == rule.path
    pairs = list(zip(rule.path.split("/"), path.split("/"), strict=False))
    is_below = len(path.split("/")) >= len(rule.path.split("/"))
    return is_below and all(expected in ("{module}", part) for expected, part in pairs)


def test_every_route_has_a_line_of_its_own() -> None:
    assert len(PATHS) > 60
    lines = [rule for rule in RULES if rule.path not in ANY or rule.is_exact]
    assert [path for path in PATHS if not any(has_path(rule, path) for rule in lines)] == []


def test_every_line_has_a_route() -> None:
    paths = [*PATHS, *(f"/api/{alias}" for alias in ALIASES), *(f"/api/{name}" for name in ALIASES.values())]
    assert [rule.path for rule in RULES if not any(has_path(rule, path) for path in paths)] == []


def test_every_first_word_of_a_route_has_a_line_and_is_no_name_for_a_module() -> None:
    words = [part for part in ROUTES if not part.startswith("/")]
    lines = {rule.path.split("/")[2] for rule in RULES if rule.path.startswith("/api/")}
    assert [word for word in words if word not in lines] == []
    assert [word for word in words if names_ok(word)] == ["chat"]
    assert [name for name in ("brain", "chat", "daily", "imports") if not names_ok(name)] == []


@pytest.mark.parametrize("path", ["/openapi.json", "/nobody/knows", "/api", "/api/"])
def test_what_nobody_has_thought_of_needs_rights_in_every_module(path: str) -> None:
    assert (needed("GET", path).module, needed("POST", path).capability) == ("*", "admin")


def _without_names(path: str) -> str:
    return re.sub(r"{\w+(:path)?}", r"{\1}", path)


def test_no_two_lines_are_equally_precise_so_that_their_order_decides_nothing() -> None:
    lines = [(_without_names(rule.path), rule.is_exact) for rule in RULES]
    assert len({*lines}) == len(lines)


def test_no_two_routes_are_equally_precise_so_that_their_order_decides_nothing() -> None:
    routes = [route for router in (*routers(), status, panic) for route in router.routes]
    found = [(method, _without_names(route.path)) for route in routes for method in route.methods]  # type: ignore[attr-defined]
    assert [each for each in found if found.count(each) > 1] == []


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("/api/modules/brain/agents/gardener", "brain"),
        ("/api/modules/official/agents/gardener", "modules"),
        ("/api/usage/limits", "usage"),
        ("/api/usage", "chat"),
        ("/api/notes", "notes"),
    ],
)
def test_the_most_precise_line_holds(path: str, module: str) -> None:
    assert needed("POST", path).module == module
