"""Keys, their scopes, and the caller that a request turns out to come from."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal, TypeGuard

from msgspec import Struct

from parachute.base.errors import InvalidInput, NotAllowed, ParachuteError

Capability = Literal["read", "write", "admin"]
CallerKind = Literal["key", "browser", "cli", "local", "anonymous", "mcp_client"]

CAPABILITIES: tuple[Capability, ...] = ("read", "write", "admin")
EVERY_MODULE = "*"

FIRST_BOOT = "First boot"
"""Name of the key that sets the computer up, and of no other one: it expires with set-up."""

_RANK: dict[str, int] = {name: rank for rank, name in enumerate(CAPABILITIES)}
_MODULE = re.compile(r"[a-z][a-z0-9_-]{0,63}")


def is_capability(word: str) -> TypeGuard[Capability]:
    """Return whether the word is one of read, write and admin."""
    return word in _RANK


class Scope(Struct, frozen=True):
    """Capabilities in one module, or with `*` in all; admin includes write, and write includes read."""

    module: str
    capabilities: frozenset[Capability]

    def __post_init__(self) -> None:
        if self.module != EVERY_MODULE and not _MODULE.fullmatch(self.module):
            raise InvalidInput(
                f"scope: {self.module[:80]!r} is no module name.",
                "Use small letters, digits, - and _, beginning with a letter, or * for all modules.",
                key="scope_module_invalid",
            )
        if not self.capabilities or not all(word in _RANK for word in self.capabilities):
            raise InvalidInput(
                f"scope: the capabilities of {self.module} are wrong.",
                "Choose at least one of read, write and admin.",
                key="scope_capability_invalid",
            )

    @classmethod
    def parse(cls, text: str) -> "Scope":
        """Read a scope as it is typed, such as `daily:read,write`."""
        module, separator, words = text.partition(":")
        capabilities = [word.strip() for word in words.split(",")]
        if not separator or not all(is_capability(word) for word in capabilities):
            raise InvalidInput(
                f"scope: {text[:120]!r} is not understood.",
                "Write a module and what is allowed there, such as daily:read,write or *:read,write,admin.",
                key="scope_invalid",
            )
        return cls(module.strip(), frozenset(word for word in capabilities if is_capability(word)))

    def allows(self, module: str, capability: Capability) -> bool:
        """Return whether this scope covers the capability in the module."""
        if self.module not in (EVERY_MODULE, module):
            return False
        return any(_RANK[held] >= _RANK[capability] for held in self.capabilities)

    def __str__(self) -> str:
        return f"{self.module}:{','.join(word for word in CAPABILITIES if word in self.capabilities)}"


class ScopeNames(ABC):
    """The modules that scopes may name, which a wing above knows."""

    @abstractmethod
    def check(self, scopes: Iterable[Scope]) -> list[str]:
        """The modules of these that come with the computer and are not installed yet; error: InvalidInput for a name that nothing has."""


FULL_ACCESS = (Scope(EVERY_MODULE, frozenset(CAPABILITIES)),)
READ_AND_WRITE = (Scope(EVERY_MODULE, frozenset[Capability](("read", "write"))),)


class Key(Struct, frozen=True):
    """One stored key, or one browser that is signed in; `hash` is the SHA-256 of its secret in hexadecimal, times are in UTC.
    Of a key that somebody wrote by hand it may not be known when that was.

    `parent` is the id of the key with which a browser signed in: without it, it is signed out.
    """

    id: str
    label: str
    hash: str
    scopes: tuple[Scope, ...]
    created_at: datetime | None
    last_used_at: datetime | None = None
    parent: str | None = None

    @property
    def since(self) -> datetime:
        """Return when it was used last, or else made; a very old time if nobody knows."""
        return self.last_used_at or self.created_at or datetime.fromtimestamp(0, UTC)

    @property
    def is_admin(self) -> bool:
        """Return whether its holder may make and revoke keys."""
        return allows(self.scopes, "auth", "admin")


class Caller(Struct, frozen=True):
    """The sender of a request: `name` is the label of the key or browser, `key` its id, or a word and nothing for those without one.

    A browser is `is_confirmed` for some minutes after its owner has signed in or confirmed; everybody else always is.
    """

    kind: CallerKind
    name: str
    scopes: tuple[Scope, ...] = ()
    is_browser: bool = False
    key: str | None = None
    is_confirmed: bool = True

    def may(self, module: str, capability: Capability) -> bool:
        """Return whether the caller holds the capability in the module."""
        return allows(self.scopes, module, capability)


def check_confirmed(caller: Caller) -> None:
    """Refuse a decision of the owner that a browser asks for too long after its owner confirmed; error: ParachuteError (`confirmation_needed`)."""
    if not caller.is_confirmed:
        raise ParachuteError(
            "This changes what others may do, and you last confirmed that it is you more than ten minutes ago.",
            "Enter a code of another device that may do everything, of `parachute pair`, or a key.",
            status=403,
            key="confirmation_needed",
        )


def check_grant(caller: Caller, scopes: Iterable[Scope]) -> None:
    """Refuse to give away a right that the caller does not have; error: NotAllowed."""
    for scope in scopes:
        if not all(caller.may(scope.module, capability) for capability in scope.capabilities):
            raise NotAllowed(
                f"scopes: {scope} is more than this caller may do itself.",
                "Ask for less, or make the key on the computer itself: parachute keys create NAME.",
                key="more_than_own_rights",
            )


def allows(scopes: Iterable[Scope], module: str, capability: Capability) -> bool:
    """Return whether any of the scopes covers the capability in the module."""
    return any(scope.allows(module, capability) for scope in scopes)
