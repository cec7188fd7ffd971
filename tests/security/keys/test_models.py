"""Scopes, and what a caller may do with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parachute.base.errors import InvalidInput
from parachute.security.keys.models import CAPABILITIES, FULL_ACCESS, READ_AND_WRITE, Caller, Scope


def test_a_scope_is_read_as_it_is_typed() -> None:
    scope = Scope.parse("daily:read,write")
    assert scope == Scope("daily", frozenset({"read", "write"}))
    assert str(scope) == "daily:read,write"


def test_a_scope_that_is_not_understood_is_refused() -> None:
    for text in (
        "",
        "daily",
        "daily:",
        "daily:read,",
        "daily:reed",
        ":read",
        "Daily:read",
        "da ily:read",
        "**:read",
        "../x:read",
    ):
        with pytest.raises(InvalidInput) as refused:
            Scope.parse(text)
        assert refused.value.key.startswith("scope_"), text


def test_admin_includes_write_and_write_includes_read() -> None:
    admin, write, read = (Caller("key", "k", (Scope.parse(f"daily:{word}"),)) for word in ("admin", "write", "read"))
    assert [admin.may("daily", word) for word in CAPABILITIES] == [True, True, True]
    assert [write.may("daily", word) for word in CAPABILITIES] == [True, True, False]
    assert [read.may("daily", word) for word in CAPABILITIES] == [True, False, False]


def test_a_scope_covers_its_own_module_only() -> None:
    caller = Caller("key", "k", (Scope.parse("daily:admin"), Scope.parse("brain:read")))
    assert caller.may("brain", "read")
    assert not caller.may("brain", "write")
    assert not caller.may("chat", "read")
    assert not caller.may("*", "read")


def test_the_star_covers_every_module() -> None:
    assert Caller("key", "k", FULL_ACCESS).may("anything", "admin")
    assert Caller("key", "k", FULL_ACCESS).may("*", "admin")
    assert not Caller("local", "k", READ_AND_WRITE).may("anything", "admin")


def test_without_scopes_nothing_is_allowed() -> None:
    assert not any(Caller("anonymous", "a").may("chat", word) for word in CAPABILITIES)


@given(st.sampled_from(["daily", "brain", "*"]), st.sets(st.sampled_from(CAPABILITIES), min_size=1))
def test_a_scope_survives_being_written_and_read(module: str, words: set[str]) -> None:
    scope = Scope(module, frozenset(words))  # type: ignore[arg-type]
    assert Scope.parse(str(scope)) == scope
