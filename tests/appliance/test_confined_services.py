"""The index of meanings and the process that transcribes, as services: they answer, reach nothing, and go when nobody asks."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from testinfra.host import Host

from tests.appliance.recipe import ENVIRONMENT, SOURCE
from tests.appliance.services import Services

KEVIN = "# Kevin Nguyen\n\nKeeps three ships in the harbour and recommends which one to buy.\n"
MARIA = "# Maria Rossi\n\nBakes sourdough in a stone oven.\n"
QUESTION = "who advises us on boats"
MODEL = "sherpa-onnx-nemo-ctc-tiny"
MEANING, TRANSCRIBER = "parachute-meaning.service", "parachute-transcriber.service"
MEMORY = {MEANING: 512, TRANSCRIBER: 2048}
IDLE = "[Service]\nEnvironment=PARACHUTE_MEANING_IDLE_SECONDS=0.5 PARACHUTE_VOICE_IDLE_SECONDS=0.5\n"
MAKE = f"""
from pathlib import Path
from tests.automation.transcription.sounds import write
from tests.automation.transcription.tiny_model import make_model

make_model(Path.home() / "models/{MODEL}")
write(Path.home() / "Parachute/memo/telegram.ogg", 3)
"""


@pytest.fixture(scope="module")
def computer(user: Host) -> Iterator[Services]:
    """A computer that runs as services, with two people, a recording, and a model that hears words in noise."""
    computer = Services(user)
    computer.run("mkdir -p ~/Parachute/memo ~/Parachute/Brain/entities/people")
    computer.run(f"cd {SOURCE} && {ENVIRONMENT}/bin/python -c {shlex.quote(MAKE)}")
    computer.run(f"parachute config set voice.model ~/models/{MODEL}")
    computer.run("parachute service install")
    computer.run("parachute setup --yes")
    for name, text in (("kevin", KEVIN), ("maria", MARIA)):
        computer.run(f"echo {shlex.quote(text)} > ~/Parachute/Brain/entities/people/{name}.md")
    yield computer
    computer.run("parachute service uninstall")
    computer.run("rm -rf ~/.parachute ~/Parachute ~/models")


def test_a_question_is_answered_by_meaning(host: Host, computer: Services) -> None:
    found: list[dict[str, Any]] = []

    def is_found() -> bool:
        found[:] = by_meaning(computer)
        return bool(found)

    computer.until(is_found, "the question finds Kevin")
    assert [each["name"] for each in found] == ["Kevin Nguyen"]
    assert "Kevin Nguyen (by meaning)" in computer.run(f"parachute brain search {QUESTION}")
    home = held_back(host, computer, MEANING)
    assert host.check_output(f"ls -A {home} {home}/.parachute").split() == [
        *(f"{home}:", ".parachute"),
        *(f"{home}/.parachute:", "meaning"),
    ]


def test_a_recording_becomes_text(host: Host, computer: Services) -> None:
    said = transcribed(computer)
    assert (said["state"], len(said["text"].split()) > 10) == ("done", True), said
    home = held_back(host, computer, TRANSCRIBER)
    assert host.check_output(f"ls -A {home} {home}/models").split() == [
        *(f"{home}:", "models"),
        *(f"{home}/models:", MODEL),
    ]
    assert host.run(f"touch {home}/models/{MODEL}/written").rc == 1


def test_they_go_when_nobody_asks_and_the_next_one_wakes_them(computer: Services) -> None:
    folder = "~/.config/systemd/user"
    for unit in MEMORY:
        computer.run(f"mkdir {folder}/{unit}.d && echo {shlex.quote(IDLE)} > {folder}/{unit}.d/90-idle.conf")
    # Before they are stopped: whoever needs one may have it started again at once.
    before = {unit: shown(computer, unit)["InvocationID"] for unit in MEMORY}
    computer.run(f"systemctl --user daemon-reload && systemctl --user stop {' '.join(MEMORY)}")
    try:
        # The search waits a moment for the index and not for its start, which takes a slow machine longer.
        computer.until(lambda: bool(by_meaning(computer)), "what it has read it knows after a start")
        assert transcribed(computer)["state"] == "done"
        for unit in MEMORY:

            def ended_by_itself(unit: str = unit) -> bool:
                return bool(shown(computer, unit)["ActiveState"] == "inactive")

            computer.until(ended_by_itself, f"{unit} ended")
            ended = shown(computer, unit)
            assert (ended["Result"], ended["InvocationID"] != before[unit]) == ("success", True), unit
            assert computer.run(f"systemctl --user is-active {unit.replace('.service', '.socket')}") == "active"
        computer.until(lambda: bool(by_meaning(computer)), "a question wakes it")
    finally:
        computer.run(f"rm -r {' '.join(f'{folder}/{unit}.d' for unit in MEMORY)}; systemctl --user daemon-reload")


def by_meaning(computer: Services) -> list[dict[str, Any]]:
    """Return the people who are found by the meaning of the question."""
    found = json.loads(computer.run(f"parachute brain search {QUESTION} --json"))["results"]
    return [each for each in found if each["found_by"] == "meaning"]


def transcribed(computer: Services) -> dict[str, Any]:
    """Return the text of the recording."""
    said: dict[str, Any] = json.loads(computer.run("parachute voice transcribe ~/Parachute/memo/telegram.ogg --json"))
    return said


def shown(computer: Services, unit: str) -> dict[str, str]:
    """Properties of a unit."""
    wanted = "ActiveState,InvocationID,MainPID,MemoryMax,Result"
    lines = computer.run(f"systemctl --user show {unit} --property={wanted}").splitlines()
    return dict(line.split("=", 1) for line in lines)


def held_back(host: Host, computer: Services, unit: str) -> str:
    """The home as a running unit sees it, once it is seen that it reaches no network and has no rights."""
    properties = shown(computer, unit)
    assert (properties["ActiveState"], properties["MemoryMax"]) == ("active", str(MEMORY[unit] << 20))
    process = f"/proc/{properties['MainPID']}"
    status = host.check_output(f"cat {process}/status")
    for line in ("CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"):
        assert line in status, status
    interfaces = host.check_output(f"cat {process}/net/dev").splitlines()[2:]
    assert [line.partition(":")[0].strip() for line in interfaces] == ["lo"]
    # Other services' sockets, root's files and other programs.
    assert host.check_output(f"find {process}/root/run {process}/root/root -not -type d") == ""
    assert host.check_output(f"ls {process}/root/proc | grep -c '^[0-9]'") == "1"
    return f"{process}/root{computer.home}"
