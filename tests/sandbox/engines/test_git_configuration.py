"""Files that a configuration of git has it obey, compared with git's own reading of it."""

import subprocess
from pathlib import Path

import pytest

from parachute.sandbox.engines.git_configuration import hooks_and_includes

pytestmark = pytest.mark.process

HOOKS = (
    "[core]\n\thooksPath = a/b\n",
    "[core] hooksPath = a ; a comment\n",
    "[CORE]HOOKSPATH=a#b\n",
    '[core]\nhooksPath = "a ;b"c  \n',
    "[core]\nhooksPath = a\\\nb\n",
    '[core]\nhooksPath = " a "\n',
    "[core]\nhooksPath = a  b\t\n",
    '[core]\nhooksPath = a\\\\b\\"c\\td\n',
    "[core]\r\n\thooksPath = a\r\n",
    "[core]\n# hooksPath = no\n; hooksPath = no\n\teditor = vi\n\thooksPath = a\n\thooksPath = b\n",
    '[core "sub"]\nhooksPath = no\n[other]\nhooksPath = no\n[core]\nhooksPath = a\n[alias]\nx = "[core]hooksPath=no"\n',
    "[core]\nbare\nhooksPath = a",
)


def test_folders_of_hooks_are_those_that_git_knows(tmp_path: Path) -> None:
    for text in HOOKS:
        (tmp_path / "config").write_bytes(text.encode())
        command = ["git", "config", "--file", str(tmp_path / "config"), "-z", "--get-all", "core.hooksPath"]
        known = subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")[:-1]
        assert known, text
        found, includes = hooks_and_includes(text)
        # One more than git has is a folder that is protected without need.
        assert [path for path in found if path != "no"] == known, text
        assert includes == [], text


def test_includes_are_followed_whatever_their_condition_says() -> None:
    text = '[include]\npath = a\n[includeIf "gitdir:~/x]y/"] path = "b c"\n[IncludeIf "onbranch:\\"x"]\nPATH=c\n[x]\npath = no\n'
    assert hooks_and_includes(text) == ([], ["a", "b c", "c"])


def test_what_git_would_not_read_is_passed_over() -> None:
    for text in ("", "[", "[core", "=", "[core]\nhooksPath", "[core]]\n= x", "\0\udc80"):
        assert [path for path in hooks_and_includes(text)[0] if path] == []
