"""The program with which whoever builds a system finds the hashes of modules in its store."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from parachute.modules.registry.pinned import with_hashes
from tests.config.declared.declaring import module

from .building import write_module

pytestmark = pytest.mark.process

PINNED = [sys.executable, "-m", "parachute.modules.registry.pinned"]


def test_a_hash_that_is_given_is_never_replaced(tmp_path: Path) -> None:
    source = write_module(tmp_path / "hello")
    given = {"modules": {"hello": module(source, hash=f"sha256:{'0' * 64}")}}
    assert with_hashes(given) == given


def test_what_could_not_be_installed_has_no_hash(tmp_path: Path) -> None:
    write_module(tmp_path / "hello", "hello")
    (write_module(tmp_path / "broken", "broken") / "module.py").write_text("this is no Python\n")
    for name, folder, said in (
        ("broken", "broken", "module.py, line 1"),
        ("other", "hello", "holds the module hello"),
        ("gone", "gone", "does not exist"),
    ):
        declaration = {"modules": {name: {"source": str(tmp_path / folder), "hash": None}}}
        done = subprocess.run(PINNED, input=json.dumps(declaration), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"modules.{name}: " in done.stderr
        assert said in done.stderr
