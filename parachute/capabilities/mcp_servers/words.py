"""The words of a server about itself, which agents are told in every conversation: names, descriptions and schemas of its tools.

They are approved by hash, as its configuration is: whoever answers at its address may say something else at any time.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from parachute.base.approved_hashes import ApprovedHashes
from parachute.base.errors import ParachuteError
from parachute.capabilities.mcp_servers.models import Runnable
from parachute.capabilities.mcp_servers.offers import Offer
from parachute.security.origin import Origin


class Words:
    """`mcp-words-approved.json` in the state directory."""

    def __init__(self, root: Path) -> None:
        hint = "Remove the file, and say yes again to what your MCP servers say of their tools: `parachute inbox`."
        self._hashes = ApprovedHashes(root / "mcp-words-approved.json", "server", "words of an MCP server", hint)

    def approved(self) -> frozenset[str]:
        """The hashes of those that the owner has seen; none where they cannot be read. Waits."""
        try:
            return self._hashes.digests()
        except ParachuteError:
            return frozenset()

    def approve(self, server: str, digest: str) -> None:
        """Let a server say this of itself, and nothing else; waits."""
        self._hashes.approve([(server, digest)])

    def withdraw(self, server: str) -> None:
        """Let a server say nothing of itself any more; waits."""
        self._hashes.withdraw(server)


def described(offer: Offer) -> list[dict[str, Any]]:
    """The tools of a server as it describes them, without those that are ours."""
    return [
        {"name": each.name, "description": each.description, "input_schema": each.input_schema}
        for each in offer.tools
        if each.name not in offer.own
    ]


def digest_of_words(runnable: Runnable, offer: Offer) -> str:
    """The hash of what a server, as it is approved, says of itself."""
    text = json.dumps([runnable.approval.digest, described(offer)], sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def origin_of_answers(runnable: Runnable) -> Origin:
    """The origin of what a server answers: one without a network knows only what is on this machine."""
    if runnable.server.is_remote:
        return Origin.REMOTE_MCP
    return Origin.WEB if runnable.approval.hosts else Origin.OWN_FILE


def need_approval(runnable: Runnable) -> bool:
    """Return whether what a server says may be another's words; a program without a network was approved itself."""
    return origin_of_answers(runnable).is_below(Origin.OWN_FILE)
