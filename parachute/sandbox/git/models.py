"""A repository of another machine, and what conversations may do with one."""

import re
from typing import Literal

from msgspec import Struct

from parachute.base.answers import Answer
from parachute.base.errors import InvalidInput
from parachute.sandbox.egress.hosts import AllowedHosts, Pattern, split
from parachute.sandbox.egress.models import Target

Access = Literal["fetch", "push"]
"""The direction; a grant of `push` includes `fetch`."""

ADDRESS = Target("git.parachute.internal", 80)
"""The name under which git in a sandbox finds the proxy's service; the runner's `egress_forward` tells it to git."""

_PORT = 443
_LIMIT = 400
_SEGMENT = re.compile(r"(?!\.{1,2}$)(?:[A-Za-z0-9._~@+-]|%20)+")
_SPELLINGS = re.compile(
    r"git@(?P<scp>[^/:@]+):(?P<scp_path>.+)|ssh://git@(?P<ssh>[^/:@]+)(?::[0-9]+)?/(?P<ssh_path>.+)|"
    r"(?:https://(?:[^/@]*@)?)?(?P<https>[^/:@]+(?::[0-9]+)?)/(?P<https_path>.+)"
)


class Repository(Struct, frozen=True, order=True):
    """A repository on a host, which has a port unless that is 443; its path has no `.git` at the end."""

    host: str
    path: str

    @classmethod
    def at(cls, host: str, path: str) -> "Repository":
        """A host and a path in their normal form; error: ValueError with the reason."""
        if len(path) > _LIMIT or not all(_SEGMENT.fullmatch(part) for part in path.split("/")):
            raise ValueError("its path is not one of names between slashes")
        path = path.removesuffix(".git")
        if not path or path.endswith("/"):
            raise ValueError("it has no name")
        Pattern.parse(host, private=True)
        name, port = split(host, _PORT)
        if ":" in name:
            raise ValueError("an IPv6 address is not understood here")
        return cls(name if port == _PORT else f"{name}:{port}", path)

    @classmethod
    def parse(cls, text: str) -> "Repository":
        """`host/owner/name`, also as the address of a remote; error: InvalidInput."""
        try:
            if len(text) > _LIMIT or (match := _SPELLINGS.fullmatch(text.strip().rstrip("/"))) is None:
                raise ValueError("it has no host and path")
            kind = next(name for name in ("scp", "ssh", "https") if match[name])
            return cls.at(match[kind], match[f"{kind}_path"])
        except ValueError as error:
            raise InvalidInput(
                f"repository: {text[:80]!r}: {error}.",
                "Write one such as github.com/owner/name.",
                key="invalid_repository",
            ) from error

    @property
    def target(self) -> Target:
        """Return the address of its host."""
        host, port = split(self.host, _PORT)
        return Target(host, port or _PORT)

    @property
    def is_public(self) -> bool:
        """False for an address that no machine of the internet has."""
        try:
            AllowedHosts.parse([self.host])
        except InvalidInput:
            return False
        return True

    def __str__(self) -> str:
        return f"{self.host}/{self.path}"


class Grant(Answer, frozen=True):
    """A repository as text, and what may be done with it."""

    repository: str
    access: Access

    def includes(self, repository: Repository, access: Access) -> bool:
        """Return whether it allows an access."""
        return self.repository == str(repository) and access in ("fetch", self.access)

    def __str__(self) -> str:
        return f"{self.repository} (fetch and push)" if self.access == "push" else f"{self.repository} (fetch)"


def host_of(text: str) -> str:
    """The host of a token in its normal form; error: InvalidInput."""
    try:
        return Repository.at(text.strip().removeprefix("https://").rstrip("/"), "any").host
    except ValueError as error:
        raise InvalidInput(
            f"host: {text[:80]!r}: {error}.", "Write one such as github.com.", key="invalid_host"
        ) from error
