"""The key of the first boot: one at a time, shown until somebody holds it, and gone with set-up."""

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from parachute.base.errors import Conflict
from parachute.security.keys.models import FIRST_BOOT, Caller, Scope
from parachute.security.keys.service import Keys
from parachute.web.first_boot.service import FirstBoot
from tests.support.errors import raises

BOOT, NEXT_BOOT = "boot-1", "boot-2"


@pytest.fixture
def first_boot(home: Path, keys: Keys) -> FirstBoot:
    return FirstBoot(home, keys)


def secret_of(first_boot: FirstBoot, boot: str | None = BOOT, *, again: bool = False) -> str:
    """The secret of an invitation that there must be."""
    secret = first_boot.invite(boot=boot, again=again).secret
    assert secret is not None
    return secret


def use(first_boot: FirstBoot) -> None:
    """Use the key as the page does first."""
    first_boot.note_use(Caller("key", FIRST_BOOT))


def test_a_new_computer_gets_a_key_that_may_do_everything(first_boot: FirstBoot, keys: Keys, home: Path) -> None:
    assert first_boot.is_open
    key = keys.authenticate(secret_of(first_boot))
    assert key is not None
    assert (key.label, [str(scope) for scope in key.scopes]) == (FIRST_BOOT, ["*:read,write,admin"])
    assert first_boot.is_open
    assert (home / "setup.json").stat().st_mode & 0o777 == 0o600
    stored = "".join(path.read_text() for path in home.iterdir())
    assert "para_" not in stored, "the secret is stored nowhere"


def test_no_other_key_has_its_name(first_boot: FirstBoot, keys: Keys) -> None:
    secret_of(first_boot)
    with raises("reserved_name"):
        keys.create(FIRST_BOOT)
    assert len(keys.list()) == 1


def test_shown_again_before_anybody_used_it_there_is_still_one_key(first_boot: FirstBoot, keys: Keys) -> None:
    first = secret_of(first_boot)
    second = secret_of(first_boot)
    assert keys.authenticate(first) is None
    assert keys.authenticate(second) is not None


def test_a_key_in_use_stays_until_the_machine_is_restarted(first_boot: FirstBoot, keys: Keys) -> None:
    first = secret_of(first_boot)
    use(first_boot)
    refused = first_boot.invite(boot=BOOT)
    assert (refused.secret, refused.is_done) == (None, False)
    assert "was used" in str(refused.reason)
    assert keys.authenticate(first) is not None
    second = secret_of(first_boot, NEXT_BOOT)
    assert keys.authenticate(first) is None
    assert keys.authenticate(second) is not None
    assert len(keys.list()) == 1


def test_a_use_that_only_the_keys_know_of_counts(first_boot: FirstBoot, keys: Keys) -> None:
    keys.authenticate(secret_of(first_boot))
    keys.flush()
    assert first_boot.invite(boot=BOOT).secret is None


@pytest.mark.parametrize(
    "caller", [Caller("key", "Phone"), Caller("cli", FIRST_BOOT), Caller("local", "this computer")]
)
def test_others_who_look_do_not_count_as_its_use(first_boot: FirstBoot, caller: Caller) -> None:
    secret_of(first_boot)
    first_boot.note_use(caller)
    assert first_boot.invite(boot=BOOT).secret is not None


def test_set_up_ends_only_when_another_key_is_there(first_boot: FirstBoot, keys: Keys) -> None:
    first = secret_of(first_boot)
    with pytest.raises(Conflict) as refused:
        first_boot.finish()
    assert refused.value.key == "no_other_key"
    assert keys.authenticate(first) is not None
    keys.create("Kitchen", [Scope.parse("daily:read,write")])
    with pytest.raises(Conflict) as refused:
        first_boot.finish()
    assert refused.value.key == "no_other_key"
    assert first_boot.is_open
    keys.revoke("Kitchen")
    keys.create("Phone")
    first_boot.finish()
    assert keys.authenticate(first) is None
    assert not first_boot.is_open
    for boot in (BOOT, NEXT_BOOT):
        refused = first_boot.invite(boot=boot)
        assert (refused.secret, refused.is_done) == (None, True)
        assert "--again" in str(refused.reason)
    first_boot.finish()
    assert [key.label for key in keys.list()] == ["Phone"]


def test_once_begun_it_ends_with_finishing_and_not_with_a_key(first_boot: FirstBoot, keys: Keys, home: Path) -> None:
    first_boot.begin()
    keys.create("Phone")
    assert first_boot.is_open
    first_boot.finish()
    assert not first_boot.is_open
    written = (home / "setup.json").read_text()
    first_boot.begin()
    assert (home / "setup.json").read_text() == written, "what has ended does not begin again by itself"


def test_looking_begins_nothing_where_keys_came_in_another_way(first_boot: FirstBoot, keys: Keys, home: Path) -> None:
    keys.create("Phone")
    first_boot.begin()
    assert not first_boot.is_open
    assert not (home / "setup.json").exists()


def test_cut_off_while_set_up_ends_the_first_key_is_gone_and_the_next_start_shows_another(
    first_boot: FirstBoot, keys: Keys, home: Path
) -> None:
    first = secret_of(first_boot)
    use(first_boot)
    _, phone = keys.create("Phone")
    is_cut = True

    def cut(event: str, arguments: tuple[object, ...]) -> None:
        # What is written beside the file, to take its place, but not its lock.
        if is_cut and event == "open" and re.search(r"\.setup\.json\.[0-9a-f]+$", str(arguments[0])):
            raise OSError("the power is gone")

    sys.addaudithook(cut)
    try:
        with pytest.raises(OSError, match="power"):
            first_boot.finish()
    finally:
        is_cut = False
    assert keys.authenticate(first) is None
    assert keys.authenticate(phone) is not None
    assert first_boot.is_open
    assert keys.authenticate(secret_of(first_boot, NEXT_BOOT)) is not None
    first_boot.finish()
    assert [key.label for key in keys.list()] == ["Phone"]


def test_after_a_restart_in_the_middle_there_is_a_key_again(first_boot: FirstBoot, keys: Keys) -> None:
    secret_of(first_boot)
    use(first_boot)
    keys.create("Phone that nobody wrote down")
    assert first_boot.invite(boot=BOOT).secret is None
    assert keys.authenticate(secret_of(first_boot, NEXT_BOOT)) is not None


def test_again_opens_a_computer_that_is_set_up(first_boot: FirstBoot, keys: Keys) -> None:
    _, phone = keys.create("Phone")
    first_boot.finish()
    secret = secret_of(first_boot, again=True)
    assert first_boot.is_open
    assert keys.authenticate(secret) is not None
    assert keys.authenticate(phone) is not None
    first_boot.finish()
    assert keys.authenticate(secret) is None


def test_a_computer_that_got_its_keys_otherwise_is_not_opened(first_boot: FirstBoot, keys: Keys) -> None:
    keys.create("Phone")
    assert not first_boot.is_open
    refused = first_boot.invite(boot=BOOT)
    assert (refused.secret, refused.is_done) == (None, True)
    assert len(keys.list()) == 1


def test_a_power_cut_between_key_and_note_shuts_nobody_out(first_boot: FirstBoot, keys: Keys, home: Path) -> None:
    lost = secret_of(first_boot)
    (home / "setup.json").unlink()
    assert first_boot.is_open
    secret_of(first_boot)
    assert keys.authenticate(lost) is None
    assert len(keys.list()) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"done": 1}', '{"done_at": 5}', '{"used": "yes"}', "x" * 5000])
def test_a_file_that_is_not_understood_gives_no_key(first_boot: FirstBoot, keys: Keys, home: Path, text: str) -> None:
    (home / "setup.json").write_text(text)
    for action in (lambda: first_boot.invite(boot=BOOT), first_boot.finish, lambda: first_boot.is_open):
        with raises("setup_unreadable", names=r"setup\.json"):
            action()
    assert keys.list() == ()
    assert (home / "setup.json").read_text() == text
    assert keys.authenticate(secret_of(first_boot, again=True)) is not None
    assert json.loads((home / "setup.json").read_text())["done_at"] is None


def test_several_at_once_leave_one_key(first_boot: FirstBoot, keys: Keys, home: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        secrets = list(pool.map(lambda _: secret_of(FirstBoot(home, Keys(home))), range(8)))
    assert len(keys.list()) == 1
    assert len([secret for secret in secrets if keys.authenticate(secret)]) == 1


def test_without_a_name_for_the_boot_a_used_key_stays(first_boot: FirstBoot) -> None:
    secret_of(first_boot, None)
    use(first_boot)
    assert first_boot.invite(boot=None).secret is None
    assert first_boot.invite(boot=None, again=True).secret is not None
