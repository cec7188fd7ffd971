"""Judging the answer of a git host: git's own passes, everything else becomes a sentence that git prints."""

import contextlib
import re

import h11

from parachute.base.errors import InvalidInput
from parachute.sandbox.egress.models import Refused
from parachute.sandbox.egress.route import Said, as_text
from parachute.sandbox.git.models import Repository
from parachute.sandbox.git.request import GitRequest

_PASSED = frozenset(
    (
        *(b"cache-control", b"expires", b"pragma"),
        *(b"content-encoding", b"content-length", b"content-type", b"transfer-encoding"),
    )
)
_TYPES = re.compile(rb"application/x-git-(upload|receive)-pack-(advertisement|result)")
_STEPS = re.compile(r"/(info/refs(\?.*)?|git-(upload|receive)-pack)$")


def passed(git: GitRequest, response: h11.Response, *, with_token: bool) -> h11.Response:
    """The answer as git in the sandbox gets it; error: Refused.

    No text of the host's errors is passed on: it might repeat what it was sent.
    """
    headers = {name: value for name, value in response.headers if name in _PASSED}
    if response.status_code == 200 and _TYPES.fullmatch(headers.get(b"content-type", b"")):
        return h11.Response(status_code=200, headers=[*headers.items(), (b"Connection", b"close")], reason=b"OK")
    raise _refusal(git, response, with_token=with_token)


def said(git: GitRequest, refused: Refused) -> Said:
    """A refusal as git shows it: text at first, and later, where git shows no text, an error of the protocol."""
    if git.method == "GET":
        return as_text(refused)
    # gitprotocol-pack: an error line, or for who pushes the third band, which both end git with the words.
    text = f"{refused.message} {refused.hint or ''}".strip()
    line = f"\x03{text}" if git.access == "push" else f"ERR {text}"
    kind = "receive" if git.access == "push" else "upload"
    return Said(200, f"application/x-git-{kind}-pack-result", f"{len(line.encode()) + 4:04x}{line}".encode())


def _refusal(git: GitRequest, response: h11.Response, *, with_token: bool) -> Refused:
    repository, status = git.repository, response.status_code
    host, what = repository.host, "push to" if git.access == "push" else "fetch from"
    if 300 <= status < 400:
        return _redirected(git, response)
    if status == 401 and not with_token:
        return Refused(
            f"{host} wants a credential to {what} {repository}, and the owner has stored none.",
            f"Ask the owner for one: `parachute git token set {host}`.",
        )
    if status == 401:
        return Refused(
            f"{host} does not accept the token that the owner has stored.",
            f"Ask the owner to store another: `parachute git token set {host}`.",
        )
    if status == 403:
        who = "the owner's token" if with_token else "anybody without a credential"
        return Refused(f"{host} does not let {who} {what} {repository}.", "Tell the owner.")
    if status == 404:
        seen = ", or none that the owner's token may see" if with_token else ""
        return Refused(f"{host} has no repository {repository.path}{seen}.", status=404)
    return Refused(f"{host} did not answer as a git server: status {status}.", status=502)


def _redirected(git: GitRequest, response: h11.Response) -> Refused:
    location = next((value.decode("latin-1") for name, value in response.headers if name == b"location"), "")
    hint = "The owner's credential is not sent after it."
    address = _STEPS.sub("", location if "://" in location else f"https://{git.repository.host}{location}")
    if address.startswith("https://"):
        with contextlib.suppress(InvalidInput):
            ending = ".git" if address.endswith(".git") else ""
            hint = f"If that is right, use https://{Repository.parse(address)}{ending} as the address of the remote."
    return Refused(f"{git.repository} redirects elsewhere, which is not followed.", hint)
