"""Files of a household, and hosts that its owner has decided about."""

import base64

import httpx2

from tests.support.computer import Computer
from tests.support.installation import PLAIN

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkaPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)

GARDEN = "# The garden\n\nSow **peas** in March, and water them.\n\n- [x] order seeds\n- [ ] mend the fence\n"


def furnish_files(computer: Computer) -> None:
    """Put folders, texts and a picture into the vault; the garden's page was written in the console's way, so that it has a history."""
    with httpx2.Client(base_url=computer.url, timeout=60, **PLAIN) as client:
        for folder in ("Notes", "Pictures", "Projects/boat"):
            client.post("/api/files/folders", json={"path": folder}).raise_for_status()
        for text in ("# The garden\n", GARDEN):
            client.put("/api/write", json={"path": "Notes/garden.md", "content": text}).raise_for_status()
        client.put("/api/write", json={"path": "Notes/list.txt", "content": "milk\nbread\n"}).raise_for_status()
        client.put("/api/files/upload", params={"path": "Pictures/dot.png"}, content=PICTURE).raise_for_status()


def furnish_decisions(computer: Computer) -> None:
    """Allow one host and refuse another, and so with repositories; a token of their host."""
    with httpx2.Client(base_url=computer.url, timeout=60, **PLAIN) as client:
        for host, choice in (("docs.example.org", "always"), ("tracker.example.com", "never")):
            client.put("/api/network/decisions", json={"host": host, "choice": choice}).raise_for_status()
        for workspace in client.get("/api/workspaces").json()["workspaces"][:1]:
            body = {"repository": "github.com/ada/boat", "workspace": workspace["slug"], "access": "push"}
            client.put("/api/git/decisions", json={**body, "choice": "always"}).raise_for_status()
        client.put(
            "/api/git/decisions", json={"repository": "github.com/eve/tracker", "choice": "never"}
        ).raise_for_status()
        token = {"host": "github.com", "token": "a-token-of-the-household-3f9c"}
        client.put("/api/git/tokens", json=token).raise_for_status()
