"""Skills in containers: mounted read-only, called by the model, and gone where a workspace has none."""

import json
from typing import Any

from tests.appliance.agents import Agents
from tests.support.sse import text_of

SCRIPT = "/plugins/skills/skills/tides/scripts/high"


def test_a_skill_is_called_and_its_script_runs_and_cannot_be_changed(agents: Agents, built: dict[str, Any]) -> None:
    agents.run("parachute skills create tides 'Run the script.' --description 'Reads tide tables.'")
    folder = f"{agents.home}/Parachute/.claude/skills/tides/scripts"
    agents.run(f"mkdir {folder} && printf '#!/bin/sh\\necho high water\\n' > {folder}/high && chmod +x {folder}/high")
    call = json.dumps({"skill": "skills:tides"})
    said = agents.answered(f"call: Skill {call}")
    assert text_of(said) == "Launching skill: skills:tides"
    session = said[-1]["sessionId"]
    assert text_of(agents.say(SCRIPT, session)) == "high water"
    # Written so that the program does not see what it is about, and refuses it before.
    write = f"python3 -c 'open(\"{SCRIPT}\", \"w\")' 2>&1; sh -c 'mkdir /plugins/new' 2>&1; true"
    tried = agents.say(write, session)
    assert text_of(tried).count("Read-only file system") == 2
    explained = json.loads(agents.run(f"parachute sandbox explain {session} --json"))
    assert [row for row in explained["rows"] if row["differs"]] == []


def test_without_skills_there_is_nothing(agents: Agents, built: dict[str, Any]) -> None:
    made = json.loads(agents.run("parachute workspaces create Bare --skills none --json"))
    assert agents.output("ls /plugins; echo end", workspaceId=made["slug"]) == "end"
