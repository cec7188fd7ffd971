"""A computer that holds something of every kind, as its owner would put it there, and whether all of it is still there."""

import json
import shlex
from dataclasses import dataclass
from typing import Any

from tests.appliance.agents import Agents
from tests.appliance.recipe import ENVIRONMENT, SOURCE
from tests.appliance.services import URL
from tests.appliance.test_mcp_servers import SERVER
from tests.appliance.test_official_modules import WAITING

ENTRIES = 30
PEOPLE = 10
TURNS = 1
MEGABYTES = 24
ASKED = (
    *("/api/daily/entries?limit=100", "/api/brain/entities", "/api/chat?limit=100", "/api/workspaces", "/api/mcps"),
    *("/api/suggestions", "/api/pairing/sessions", "/api/auth/keys", "/api/skills", "/api/files/changes"),
)
CONTENTS = f"{ENVIRONMENT}/bin/python {SOURCE}/tests/appliance/contents.py ~/.parachute ~/Parachute"
GIT = "git -c init.defaultBranch=main -c user.name=Ada -c user.email=ada@example.org"


@dataclass(frozen=True, slots=True)
class Contents:
    """Contents of a computer: files, rows of databases, and conversations as the app shows them."""

    files: dict[str, str]
    rows: dict[str, list[str]]
    answers: dict[str, Any]

    @classmethod
    def of(cls, computer: Agents) -> "Contents":
        """Look at everything, once every event was taken: what waits is forgotten then."""
        computer.until(lambda: computer.run(WAITING) == "0", "every event was taken")
        found = json.loads(computer.run(CONTENTS))
        answers = {path: computer.get(path) for path in ASKED}
        # Whether one is awake is of the moment.
        answers["modules"] = [(each["name"], each["version"]) for each in computer.get("/api/modules")["modules"]]
        for session in answers["/api/chat?limit=100"]["sessions"]:
            answers[session["id"]] = computer.get(f"/api/chat/{session['id']}")["messages"]
        return cls(found["files"], found["rows"], answers)

    def lost(self, later: "Contents") -> list[str]:
        """Return the contents that differ later: every file, row and answer of before is there later; what came since does no harm."""
        files = [path for path, digest in self.files.items() if later.files.get(path) != digest]
        rows = [
            f"{table}: {row}"
            for table, rows in self.rows.items()
            for row in sorted(set(rows) - set(later.rows.get(table, ())))
        ]
        answers = [path for path, answer in self.answers.items() if not _holds(later.answers.get(path), answer)]
        return [*files, *rows, *answers]


def _holds(later: Any, before: Any) -> bool:
    if isinstance(before, dict) and isinstance(later, dict):
        return all(name in later and _holds(later[name], value) for name, value in before.items())
    if isinstance(before, list) and isinstance(later, list):
        return all(any(_holds(one, value) for one in later) for value in before)
    return bool(later == before)


def fill(computer: Agents) -> None:
    """Put something of every kind into a computer that runs with the scripted model."""
    computer.run("parachute setup --yes && parachute modules new reading")
    computer.install(f"{computer.home}/reading")
    for number in range(PEOPLE):
        name, knows = f"Person {number}", f"Knows [[Person {(number + 1) % PEOPLE}]]."
        _made(computer, "/api/brain/entities", entity_type="person", data={"name": name}, content=knows)
    for number in range(ENTRIES):
        _made(computer, "/api/daily/entries", content=f"Tea {number} with Person {number % PEOPLE}. " * 20)
    _made(computer, "/api/daily/entries", content="Kevin suggested we add a module on prompt engineering.")
    _made(computer, "/api/reading/notes", text="Buy milk")
    project = f"{computer.home}/Parachute/Projects/boat"
    computer.run(
        f"mkdir -p {project} && cd {project} && {GIT} init -q && echo plan > plan && {GIT} add . && {GIT} commit -qm first"
    )
    _made(computer, "/api/workspaces", name="Boat", working_directory=project)
    for number in range(TURNS):
        session = str(computer.say(f"echo {number}; seq 500")[-1]["sessionId"])
        computer.say(f"echo again {number}", session)
    computer.say("echo built > hull; cat hull", workspaceId="boat", workingDirectory=project)
    computer.run(f"mkdir notes && echo {shlex.quote(SERVER)} > notes/server.py")
    computer.run(f"parachute mcp add notes --yes -- python3 {computer.home}/notes/server.py")
    computer.run("parachute keys create tablet")
    code = _made(computer, "/api/pairing/codes", name="the kitchen")["code"]
    page = ("-H", f"origin: {URL}", "-H", "content-type: application/json", "-d", json.dumps({"code": code}))
    computer.run(shlex.join(["curl", "-sSf", *page, "-o", "/dev/null", f"{URL}/api/pairing/sign-in"]))
    computer.run(f"head -c {MEGABYTES}M /dev/urandom > big")
    upload = f"curl -sSf -T big -o /dev/null '{URL}/api/files/upload?path=Recordings/big.bin'"
    computer.run(f"{upload} && rm big && parachute config set daily_spending_limit 7")
    computer.until(lambda: len(computer.get("/api/suggestions")["suggestions"]) > 0, "something was suggested")


def _made(computer: Agents, path: str, **body: Any) -> Any:
    status, made = computer.ask(path, body)
    assert status in (200, 201), (path, made)
    return made
