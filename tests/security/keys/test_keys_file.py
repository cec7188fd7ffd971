"""The file of keys: what is read, what is refused, and who may have written it."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from parachute.base.errors import Conflict
from parachute.security.keys.document import KeysUnreadable, parse_document
from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from parachute.security.keys.store import MAXIMUM_BYTES, MAXIMUM_KEYS, KeyStore
from parachute.security.keys.stored_secrets import digest
from tests.support.errors import raises

pytestmark = pytest.mark.process

HASH = "ab" * 32
FROM_THE_SPECIFICATION = f"""\
api_keys:
  - key_hash: "sha256:{HASH}"
    name: "iPhone"
    created: "2024-01-15T10:30:00Z"
    scopes:
      - module: "daily"
        capabilities: ["read", "write"]
      - module: "brain"
        capabilities: ["read"]  # Can query but not modify
"""


def write(home: Path, text: str | bytes, mode: int = 0o600) -> Path:
    path = home / "keys.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


def test_the_format_of_the_specification_is_read(home: Path) -> None:
    write(home, FROM_THE_SPECIFICATION)
    (key,) = KeyStore(home).load().keys
    assert (key.id, key.label, key.hash) == (HASH[:12], "iPhone", HASH)
    assert key.created_at == datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
    assert key.last_used_at is None
    assert key.scopes == (Scope.parse("daily:read,write"), Scope.parse("brain:read"))


def test_entries_of_the_specification_have_no_time_and_one_with_a_mistake_shuts_out_itself_alone(
    home: Path, keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    secrets = ["family", "admin"]
    more = "".join(
        f"""  - key_hash: "sha256:{digest(secret).hex()}"
    name: "{secret}"
    scopes:
      - module: "*"
        capabilities: {capabilities}
"""
        for secret, capabilities in zip(secrets, (["read"], ["read", "root"]), strict=True)
    )
    path = write(home, FROM_THE_SPECIFICATION + more)
    found = keys.authenticate("family")
    assert found is not None
    assert found.created_at is None
    assert keys.authenticate("admin") is None
    assert f"{path}, line 19: api_keys[2].scopes[0].capabilities[1]: 'root' is no capability" in caplog.text
    # What somebody has to put right is still there after a change, and no time is made up.
    keys.create("tablet")
    (refused,) = KeyStore(home).load().refused
    assert refused.entry["name"] == "admin"
    assert [key.created_at is None for key in keys.list()] == [False, True, False]
    path.write_text(path.read_text().replace("root", "write"))
    assert keys.authenticate("admin") is not None


def test_no_file_means_no_keys(home: Path) -> None:
    assert KeyStore(home).load().keys == ()
    assert Keys(home / "not-there-either").list() == ()


def test_what_is_written_is_private_and_in_the_format_of_the_specification(home: Path, keys: Keys) -> None:
    home.chmod(0o755)
    _, secret = keys.create("Café ☕: 'yes'", [Scope.parse("daily:read")])
    path = home / "keys.yaml"
    assert path.stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    text = path.read_text()
    assert text.startswith("api_keys:\n")
    assert "key_hash: sha256:" in text
    assert secret not in text
    assert keys.list()[0].label == "Café ☕: 'yes'"


def test_nothing_but_files_that_are_meant_and_their_locks_stays_behind(home: Path, keys: Keys) -> None:
    key, _ = keys.create("phone")
    keys.revoke(key.id)
    own = {"keys.yaml", ".keys.yaml.lock", "known-files.json", ".known-files.json.lock"}
    assert {path.name for path in home.iterdir()} == own


def test_what_is_not_understood_is_named_with_file_and_line(home: Path, keys: Keys) -> None:
    for text, line, says in (
        ("", 1, "empty"),
        ("\n\n", 1, "empty"),
        ("api_keys:\n", 1, "api_keys: This must be a list"),
        ("api_keys: {}\n", 1, "api_keys: This must be a list"),
        ("- a\n", 1, "Fields with values"),
        ("keys: []\n", 1, "keys: Unknown field; did you mean api_keys?"),
        ("api_keys: []\nauth_mode: disabled\n", 2, "auth_mode: Unknown field"),
        ("api_keys: []\napi_keys: []\n", 2, "there twice"),
        ("api_keys:\n  - just text\n", 2, "api_keys[0]: Fields with values"),
        ("api_keys: [\n", 2, "not YAML"),
        ("api_keys:\n\t- x\n", 2, "not YAML"),
        ("api_keys: []\n---\napi_keys: []\n", 2, "not YAML"),
        (b"api_keys: []\n# \xff\n", 2, "UTF-8"),
        (b"api_keys: []\n\n# \x00\n", 3, "not YAML"),
        (FROM_THE_SPECIFICATION.replace(HASH, HASH[:-1]), 2, "key_hash"),
        (FROM_THE_SPECIFICATION.replace("sha256:", "md5:"), 2, "key_hash"),
        (FROM_THE_SPECIFICATION.replace('"iPhone"', "123"), 3, "name: YAML takes this for a number"),
        (FROM_THE_SPECIFICATION.replace('"iPhone"', '""'), 3, "name"),
        (FROM_THE_SPECIFICATION.replace("10:30:00Z", "10:30:00"), 4, "time zone"),
        (FROM_THE_SPECIFICATION.replace("2024-01-15T10:30:00Z", "yesterday"), 4, "created"),
        (FROM_THE_SPECIFICATION.replace('"daily"', '"Daily life"'), 6, "module"),
        (FROM_THE_SPECIFICATION.replace('["read", "write"]', "[]"), 6, "capabilities"),
        (FROM_THE_SPECIFICATION.replace('["read", "write"]', "read"), 7, "capabilities: This must be a list"),
        (FROM_THE_SPECIFICATION.replace('"write"', '"root"'), 7, "'root' is no capability"),
        (FROM_THE_SPECIFICATION + "    expires: never\n", 10, "expires: Unknown field"),
        (FROM_THE_SPECIFICATION + FROM_THE_SPECIFICATION.removeprefix("api_keys:\n"), 10, "used twice"),
        (re.sub(r"    scopes:.*", "", FROM_THE_SPECIFICATION, flags=re.DOTALL), 2, "scopes: This is required"),
    ):
        path = write(home, text)
        with pytest.raises(KeysUnreadable) as caught:
            keys.list()
        assert f"{path}, line {line}: " in str(caught.value)
        assert says in str(caught.value)
        assert caught.value.status == 503, (text, line, says)


def test_hostile_yaml_is_an_error_like_any_other(home: Path, keys: Keys) -> None:
    for text in ("[" * 100_000, "a: &a [*a]", "{" * 5_000):
        write(home, text)
        with pytest.raises(KeysUnreadable):
            keys.check()


def test_a_cut_file_never_grants_more_than_the_whole_one(home: Path, keys: Keys) -> None:
    keys.create("phone", [Scope.parse("daily:read,write"), Scope.parse("brain:read")])
    keys.create("tablet", [Scope.parse("chat:read")])
    path = home / "keys.yaml"
    whole = path.read_bytes()
    granted = {(key.hash, str(scope)) for key in KeyStore(home).load().keys for scope in key.scopes}
    refused = 0
    for length in range(len(whole)):
        try:
            found = parse_document(whole[:length], path).keys
        except KeysUnreadable:
            refused += 1
            continue
        for key in found:
            for scope in key.scopes:
                words = {f"{scope.module}:{word}" for word in scope.capabilities}
                held = {
                    f"{s.split(':')[0]}:{w}" for h, s in granted if h == key.hash for w in s.split(":")[1].split(",")
                }
                assert words <= held, f"cut at {length}"
    assert refused > len(whole) // 3


def test_a_file_that_is_not_understood_is_never_overwritten(home: Path, keys: Keys) -> None:
    key, secret = keys.create("phone")
    assert keys.authenticate(secret) is not None
    path = write(home, "api_keys:\n  - broken")
    with pytest.raises(KeysUnreadable):
        keys.create("tablet")
    with pytest.raises(KeysUnreadable):
        keys.revoke(key.id)
    keys.flush()
    assert path.read_text() == "api_keys:\n  - broken"


def test_a_file_that_others_can_read_is_closed_with_a_warning(
    home: Path, keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(home, FROM_THE_SPECIFICATION, 0o644)
    stored = KeyStore(home).load()
    assert len(stored.keys) == 1
    assert path.stat().st_mode & 0o777 == 0o600
    (warning,) = stored.warnings
    assert str(path) in warning
    assert "0644" in warning
    assert warning in caplog.text


def test_a_folder_that_others_can_enter_is_closed_with_a_warning(home: Path) -> None:
    write(home, FROM_THE_SPECIFICATION)
    home.chmod(0o775)
    (warning,) = KeyStore(home).load().warnings
    assert "0775" in warning
    assert home.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a file to another user needs root")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_belongs_to_another_user_is_refused(home: Path, keys: Keys, what: str) -> None:
    path = write(home, FROM_THE_SPECIFICATION)
    os.chown(path if what == "file" else home, 65534, 65534)
    with raises("keys_unreadable", names="65534"):
        keys.check()


def test_links_pipes_and_folders_are_refused(home: Path, keys: Keys, tmp_path: Path) -> None:
    path = home / "keys.yaml"
    elsewhere = tmp_path / "elsewhere.yaml"
    elsewhere.write_text(FROM_THE_SPECIFICATION)
    path.symlink_to(elsewhere)
    with pytest.raises(KeysUnreadable):
        keys.check()
    path.unlink()
    os.mkfifo(path, 0o600)
    with raises("keys_unreadable", names="regular"):
        keys.check()
    path.unlink()
    path.mkdir()
    with pytest.raises(KeysUnreadable):
        keys.check()


def test_a_huge_file_is_not_read(home: Path, keys: Keys) -> None:
    write(home, b"#" * (MAXIMUM_BYTES + 1))
    with raises("keys_unreadable", names="larger"):
        keys.check()


def test_there_is_a_largest_number_of_keys(home: Path, keys: Keys) -> None:
    entries = "".join(
        f"  - {{key_hash: 'sha256:{number:064x}', id: k{number}, name: k, created: 2024-01-15T10:30:00Z, "
        "scopes: [{module: daily, capabilities: [read]}]}\n"
        for number in range(MAXIMUM_KEYS)
    )
    path = write(home, "api_keys:\n" + entries)
    before = path.read_bytes()
    with pytest.raises(Conflict) as refused:
        keys.create("one more")
    assert refused.value.key == "too_many_keys"
    assert path.read_bytes() == before


MAKE_KEYS = """
import sys
from pathlib import Path
from parachute.security.keys.service import Keys
keys = Keys(Path(sys.argv[1]))
sys.stdin.readline()
for number in range(6):
    key, _ = keys.create(f"{sys.argv[2]}-{number}")
    if number % 3 == 0:
        keys.revoke(key.id)
"""


def test_two_programs_that_write_at_once_lose_nothing(home: Path) -> None:
    programs = [
        subprocess.Popen([sys.executable, "-c", MAKE_KEYS, home, name], stdin=subprocess.PIPE, text=True)
        for name in ("left", "right")
    ]
    for program in programs:
        assert program.stdin is not None
        program.stdin.write("go\n")
        program.stdin.flush()
    for program in programs:
        program.communicate()
        assert program.returncode == 0
    labels = {key.label for key in KeyStore(home).load().keys}
    assert labels == {f"{name}-{number}" for name in ("left", "right") for number in range(6) if number % 3}
