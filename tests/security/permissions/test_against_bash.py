"""The parser against a real Bash: what Bash runs of an allowed line, the parser has seen."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import World

pytestmark = pytest.mark.process

BASH = shutil.which("bash")
TOKENS = [
    *(
        "sudo",
        "su",
        "do",
        "x",
        "a",
        "'",
        '"',
        "\\",
        "$(",
        ")",
        "`",
        ";",
        "|",
        "\n",
        "\\\n",
        "<<A\n",
        "\nA\n",
        "<<'A'\n",
    ),
    *("{ ", " }", "(", "#", "=", "X", "$X", "${X}", "eval ", "echo ", " ", " ", " ", " && ", "||", "bash -c ", "bash "),
    *("env ", "xargs ", "cat ", "<<< ", "if ", "; then ", "; fi", "while ", "done", "$", "!", "[[ ", " ]]", "-", "--"),
    *("{a,b}", "X=", "sudo x", "<(", "$((", "((", "*", "~", "printf ", "1", "-x ", "$'", "\\x", "for X in ", "; do "),
    *("f() ", "f", "time ", "exec ", "command ", ". ", "trap ", " EXIT", "${X:-", "}", "&> ", "2>&1", "> /dev/null "),
    *("declare ", "export ", "-c ", "é", "\u00a0", "\ufeff", "$1", "timeout 1 ", "nice "),
]


@pytest.mark.skipif(BASH is None, reason="needs bash")
@pytest.mark.parametrize("seed", range(4))
def test_no_line_that_runs_sudo_is_allowed(world: World, tmp_path: Path, seed: int) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    ran = tmp_path / "ran"
    (programs / "sudo").write_text(f"#!/bin/sh\necho ran > {ran}\n")
    (programs / "sudo").chmod(0o755)
    for name in ("cat", "env", "xargs", "bash", "sh", "timeout", "nice"):
        found = shutil.which(name)
        if found:
            (programs / name).symlink_to(os.path.realpath(found) if name != "sh" else found)
    policy = world.policy()
    chooser = random.Random(seed)
    tried = 0
    for _ in range(900):
        line = "".join(chooser.choice(TOKENS) for _ in range(chooser.randint(2, 12)))
        line += chooser.choice(["", "sudo x", ";sudo x", "\nsudo x", "`sudo x`", "$(sudo x)", "'sudo x'"])
        decision = policy.decide("Bash", {"command": line})
        assert decision.rule != "failure", line
        if decision.effect == "deny":
            continue
        tried += 1
        subprocess.run(
            [str(BASH), "-c", line],
            cwd=world.vault,
            env={"PATH": str(programs), "HOME": str(world.user_home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
        assert not ran.exists(), line
    assert tried > 20
