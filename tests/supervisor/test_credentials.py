"""Credentials that systemd hands over in a file (LoadCredential=), as NixOS has it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput
from parachute.supervisor.credentials import VARIABLES, Credentials

KEY = "sk-ant-api03-secret"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a unit that has credentials."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    return tmp_path


def test_lines_are_read_and_the_folder_is_forgotten(folder: Path) -> None:
    (folder / "credentials").write_text(
        f'# of sops\n\nANTHROPIC_API_KEY={KEY}\n ANTHROPIC_BASE_URL = "https://models.example.org/v1?a=b" \n'
    )
    assert Credentials.take() == {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": "https://models.example.org/v1?a=b",
    }
    assert "CREDENTIALS_DIRECTORY" not in os.environ, "what is started later need not know of it"


def test_the_environment_goes_over_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "credentials").write_text(f"ANTHROPIC_API_KEY={KEY}\nANTHROPIC_AUTH_TOKEN=token\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "other")
    assert Credentials.take() == {"ANTHROPIC_API_KEY": "other", "ANTHROPIC_AUTH_TOKEN": "token"}


def test_a_folder_with_credentials_of_others_is_none_of_ours(folder: Path) -> None:
    (folder / "database").write_text("password")
    assert Credentials.take() == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{KEY}\n", "Line 1 of"),
        (f"ANTHROPIC_API_KEY=one\nOPENAI_API_KEY={KEY}\n", "Line 2 of"),
        (f"export ANTHROPIC_API_KEY={KEY}\n", "Line 1 of"),
        (f'{{"ANTHROPIC_API_KEY": "{KEY}"}}', "Line 1 of"),
        ("ANTHROPIC_API_KEY=\n", "ANTHROPIC_API_KEY has no value"),
        (f"ANTHROPIC_API_KEY={KEY}\0\n", "ANTHROPIC_API_KEY has no value"),
        (f"ANTHROPIC_API_KEY={KEY * 5000}\n", "more than 65536 bytes"),
    ],
)
def test_anything_else_is_an_error_that_tells_no_secret(folder: Path, text: str, said: str) -> None:
    (folder / "credentials").write_text(text)
    with pytest.raises(InvalidInput) as refused:
        Credentials.take()
    assert said in refused.value.message
    assert KEY not in f"{refused.value.message} {refused.value.hint}"


@pytest.mark.long
def test_core_does_not_start_with_a_file_that_it_cannot_read(folder: Path) -> None:
    """Core fails closed, with a sentence in its log, before it has opened anything."""
    (folder / "credentials").write_text("ANTHROPIC_APIKEY=typo\n")
    environment = {
        **os.environ,
        "CREDENTIALS_DIRECTORY": str(folder),
        "PARACHUTE_HOME": str(folder / "home"),
        "LISTEN_FDS": "1",
    }
    # Descriptor 3 is the socket, which core would have from systemd.
    program = (
        "import os, socket, runpy; s = socket.create_server(('127.0.0.1', 0)); s.fileno() == 3 or os.dup2(s.fileno(), 3);"
        " os.environ['LISTEN_PID'] = str(os.getpid()); runpy.run_module('parachute.server', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 1
    assert "Line 1 of the file with credentials names no known credential." in done.stderr
    assert not (folder / "home").exists()
