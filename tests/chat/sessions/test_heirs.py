"""A session that comes from another one has its permissions and its origin, and never more."""

import pytest

from parachute.security.origin import Origin

from .conftest import SessionStorage


@pytest.mark.parametrize("origin", [Origin.OWNER, Origin.WEB])
async def test_an_heir_has_what_is_left_and_the_origin(storage: SessionStorage, origin: Origin) -> None:
    await storage.add("a")
    await storage.service.lower_origin("a", origin)
    await storage.service.add_grant("a", "Bash(ls)")
    await storage.trust.set_permissions("a", "{}", "test")
    heir = await storage.add("b")
    await storage.service.delete(heir.id)
    await storage.service.create(heir, heir_of="a")
    assert await storage.service.origin("b") is origin
    assert await storage.service.grants("b") == ["Bash(ls)"]
    assert await storage.trust.permissions("b") == "{}"


async def test_an_heir_of_what_is_not_known_here_comes_from_elsewhere(storage: SessionStorage) -> None:
    heir = await storage.add("b")
    await storage.service.delete(heir.id)
    await storage.service.create(heir, heir_of="gone")
    assert await storage.service.origin("b") is Origin.IMPORT
