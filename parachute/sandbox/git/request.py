"""Reading what git asks for (gitprotocol-http), strictly: what is not of smart HTTP is refused."""

import re
from typing import get_args

import h11
from msgspec import Struct

from parachute.sandbox.egress.models import Refused
from parachute.sandbox.egress.request import Headers, ProxyRequest
from parachute.sandbox.git.models import Access, Repository

_PATH = re.compile(
    r"/(?:git@(?P<scp>[^/:@]+):|ssh@(?P<ssh>[^/:@]+)(?::[0-9]+)?/|(?:[^/@]*@)?(?P<https>[^/@]+)/)(?P<path>.+?)/"
    r"(?:(?P<first>info/refs\?service=)git-(?P<asked>upload|receive)-pack|git-(?P<done>upload|receive)-pack)"
)
"""Behind a host as remotes name it: what a port is for ssh, or a user name for HTTPS, counts for nothing here."""

_ACCESS: dict[str, Access] = dict(zip(("upload", "receive"), get_args(Access), strict=True))
_SENT = frozenset((b"accept", b"accept-encoding", b"accept-language", b"git-protocol", b"pragma", b"user-agent"))
"""Headers of git's own; whatever else an agent adds stays here, a credential above all."""

_OF_BODIES = frozenset((b"content-encoding", b"content-length", b"content-type", b"expect", b"transfer-encoding"))


class GitRequest(Struct, frozen=True):
    """A request of git: what it does to which repository, at which path of its host."""

    repository: Repository
    access: Access
    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.access} {self.repository}"


def read(asked: ProxyRequest) -> GitRequest:
    """Parse a request; error: Refused."""
    match = _PATH.fullmatch(asked.path or "")
    method = "GET" if match and match["first"] else "POST"
    if match is None or asked.method != method:
        raise Refused(
            "Only git's fetch and push over smart HTTP go this way.",
            "Dumb HTTP, git LFS and the host's other addresses do not.",
        )
    try:
        repository = Repository.at(match["scp"] or match["ssh"] or match["https"], match["path"])
    except ValueError as error:
        raise Refused(f"The repository cannot be read: {error}.", status=400) from error
    path = (asked.path or "")[match.start("path") :]
    return GitRequest(repository, _ACCESS[match["asked"] or match["done"]], method, f"/{path}")


def rewritten(git: GitRequest, request: h11.Request, credential: str | None) -> h11.Request:
    """The request as the host gets it, with the value of its Authorization header if there is one; error: Refused."""
    if git.method == "GET" and not _OF_BODIES.isdisjoint(name for name, _ in request.headers):
        raise Refused("The first request of git has no body.", status=400)
    headers: Headers = [(b"Host", git.repository.host.encode())]
    sent = _SENT | _OF_BODIES if git.method == "POST" else _SENT
    headers += [(name, value) for name, value in request.headers.raw_items() if name.lower() in sent]
    if credential is not None:
        headers.append((b"Authorization", credential.encode()))
    return h11.Request(method=git.method, target=git.path, headers=[*headers, (b"Connection", b"close")])
