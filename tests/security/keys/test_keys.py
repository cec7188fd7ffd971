"""Making, recognising and revoking keys."""

import base64
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from parachute.base.errors import Conflict
from parachute.base.signatures import JUST_NOW_NS
from parachute.security.keys.models import FULL_ACCESS, Scope
from parachute.security.keys.service import Keys, LastAdminKey
from parachute.security.keys.store import KeyStore
from tests.support.auditing import audited
from tests.support.errors import raises
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process


def test_a_key_is_shown_once_and_recognised(home: Path, keys: Keys) -> None:
    key, secret = keys.create("phone")
    assert re.fullmatch(r"para_[A-Za-z0-9_-]{43}", secret)
    assert key.scopes == FULL_ACCESS
    assert keys.authenticate(secret) == key
    assert [listed.id for listed in keys.list()] == [key.id]
    assert secret not in repr(keys.list())


def test_two_keys_are_never_alike(keys: Keys) -> None:
    (first, one), (second, two) = keys.create("a"), keys.create("b")
    assert one != two
    assert first.id != second.id
    found = keys.authenticate(two)
    assert found is not None
    assert found.id == second.id


def test_the_app_may_send_the_key_in_base64(keys: Keys) -> None:
    key, secret = keys.create("phone")
    assert keys.authenticate(base64.b64encode(secret.encode()).decode()) == key


def test_what_is_nearly_a_key_is_none(keys: Keys) -> None:
    _, secret = keys.create("phone")
    for wrong in (secret[:-1], secret + "A", secret.upper(), secret[5:]):
        assert keys.authenticate(wrong) is None
        assert keys.authenticate(base64.b64encode(wrong.encode()).decode()) is None


def test_odd_words_are_no_keys(keys: Keys) -> None:
    key, _ = keys.create("phone")
    for presented in ("", " ", "para_", "\udcff", "é" * 40, "x" * 100_000, "====", "AAAA"):
        assert keys.authenticate(presented) is None
        assert keys.authenticate(key.hash) is None, presented
        assert keys.authenticate(f"sha256:{key.hash}") is None, presented


def test_a_label_that_cannot_be_is_refused_and_writes_nothing(home: Path, keys: Keys) -> None:
    for label in ("", " phone", "phone ", "a\nb", "a\x1b[31m", "x" * 101):
        with raises("invalid_label"):
            keys.create(label)
        assert not (home / "keys.yaml").exists(), label


def test_a_key_without_scopes_is_refused(keys: Keys) -> None:
    with raises("no_scopes"):
        keys.create("phone", [])


def test_a_revoked_key_is_not_recognised_any_more(keys: Keys) -> None:
    key, secret = keys.create("phone")
    assert keys.authenticate(secret) is not None
    assert keys.revoke("phone").id == key.id
    assert keys.authenticate(secret) is None
    keys.flush()
    assert keys.list() == ()
    with raises("no_such_key"):
        keys.revoke("phone")


def test_a_label_of_two_keys_does_not_revoke_either(keys: Keys) -> None:
    (first, _), (second, secret) = keys.create("phone"), keys.create("another")
    with pytest.raises(Conflict) as refused:
        keys.create("phone")
    assert refused.value.key == "key_exists"
    # Files of earlier versions may have two.
    keys.store.change(lambda stored: tuple(replace(key, label="phone") for key in stored))
    with pytest.raises(Conflict) as caught:
        keys.revoke("phone")
    assert first.id in str(caught.value)
    assert second.id in str(caught.value)
    keys.revoke(first.id)
    assert keys.authenticate(secret) is not None


def test_the_last_key_with_admin_rights_stays_where_that_is_asked_for(keys: Keys) -> None:
    (phone, secret), (kitchen, _) = keys.create("phone"), keys.create("kitchen", [Scope.parse("daily:read,write")])
    with raises("last_admin_key", names="phone"):
        keys.revoke("phone", keep_admin=True)
    assert keys.authenticate(secret) is not None
    keys.create("tablet", [Scope.parse("auth:admin")])
    keys.revoke(phone.id, keep_admin=True)
    keys.revoke(kitchen.id, keep_admin=True)
    with pytest.raises(LastAdminKey):
        keys.revoke("tablet", keep_admin=True)
    keys.revoke("tablet")
    assert keys.list() == ()


def test_what_another_program_does_is_seen_at_once(home: Path, keys: Keys) -> None:
    _, secret = keys.create("phone")
    assert keys.authenticate(secret) is not None
    script = "import sys; from pathlib import Path; from parachute.security.keys.service import Keys; " + (
        "keys = Keys(Path(sys.argv[1])); keys.revoke('phone'); print(keys.create('tablet')[1])"
    )
    run = subprocess.run([sys.executable, "-c", script, home], capture_output=True, text=True, check=True)
    assert keys.authenticate(secret) is None
    assert keys.authenticate(run.stdout.strip()) is not None


def test_a_write_in_place_with_the_same_size_and_time_is_seen(home: Path, keys: Keys) -> None:
    key, secret = keys.create("phone")
    path = home / "keys.yaml"
    long_ago = 1_700_000_000
    os.utime(path, (long_ago, long_ago))
    size = path.stat().st_size
    assert keys.authenticate(secret) is not None
    path.write_text(path.read_text().replace(key.hash, "0" * 64))
    os.utime(path, (long_ago, long_ago))
    assert path.stat().st_size == size
    assert keys.authenticate(secret) is None


def test_a_file_that_was_just_written_is_read_again_whatever_time_it_bears(home: Path, keys: Keys) -> None:
    _, secret = keys.create("phone")
    path = home / "keys.yaml"

    def is_read_twice() -> bool:
        # On a loaded machine it may have been written long ago when it is read.
        os.utime(path, (1_700_000_000, 1_700_000_000))
        opened: list[object] = []
        with audited(lambda event, arguments: opened.append(arguments[0]) if event == "open" else None):
            assert keys.authenticate(secret) is not None
            assert keys.authenticate(secret) is not None
        return opened.count(path.name) == 2

    wait_until(is_read_twice, "it is read twice", seconds_between=2 * JUST_NOW_NS / 1e9)


def test_nobody_is_recognised_while_the_file_is_not_understood(home: Path, keys: Keys) -> None:
    _, secret = keys.create("phone")
    path = home / "keys.yaml"
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    for _ in range(2):
        with raises("keys_unreadable", names="line"):
            keys.authenticate(secret)
    path.write_text(whole)
    assert keys.authenticate(secret) is not None


def test_the_last_use_is_written_later_and_not_by_the_request(home: Path, keys: Keys) -> None:
    key, secret = keys.create("phone")
    before = (home / "keys.yaml").read_bytes()
    assert keys.authenticate(secret) is not None
    assert (home / "keys.yaml").read_bytes() == before
    assert keys.list()[0].last_used_at is not None
    keys.close()
    (stored,) = KeyStore(home).load().keys
    assert stored.id == key.id
    assert stored.last_used_at == keys.list()[0].last_used_at


def test_the_last_use_is_written_without_being_asked(home: Path) -> None:
    keys = Keys(home, flush_seconds=0.01)
    _, secret = keys.create("phone")
    assert keys.authenticate(secret) is not None
    wait_until(lambda: KeyStore(home).load().keys[0].last_used_at, "it is written")
    keys.close()


def test_a_wrong_key_leaves_no_trace_of_use(home: Path, keys: Keys) -> None:
    keys.create("phone")
    assert keys.authenticate("para_" + "A" * 43) is None
    keys.close()
    assert KeyStore(home).load().keys[0].last_used_at is None


def test_writing_the_last_use_keeps_what_others_have_changed(home: Path, keys: Keys) -> None:
    _, secret = keys.create("phone")
    assert keys.authenticate(secret) is not None
    other = Keys(home)
    other.create("tablet", [Scope.parse("daily:read")])
    keys.flush()
    phone, tablet = KeyStore(home).load().keys
    assert phone.last_used_at is not None
    assert (tablet.label, tablet.last_used_at) == ("tablet", None)


def test_the_last_use_waits_until_the_file_is_right_again(home: Path, keys: Keys) -> None:
    _, secret = keys.create("phone")
    assert keys.authenticate(secret) is not None
    path = home / "keys.yaml"
    whole = path.read_text()
    path.write_text("broken")
    keys.flush()
    path.write_text(whole)
    keys.flush()
    assert KeyStore(home).load().keys[0].last_used_at is not None


def test_the_package_needs_no_web_framework() -> None:
    script = (
        "import sys; import parachute.security.keys.service, parachute.security.keys.cli_token; "
        "print([name for name in ('fastapi', 'starlette', 'pydantic', 'uvicorn') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
