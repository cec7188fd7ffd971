"""The command line's own token."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from parachute.security.keys.cli_token import CliToken


def test_it_is_made_at_the_first_need_and_stays(home: Path) -> None:
    token = CliToken(home).obtain()
    assert CliToken(home).obtain() == token
    assert (home / "cli.token").stat().st_mode & 0o777 == 0o600
    assert CliToken(home).verify(token)


def test_without_a_file_nothing_is_right(home: Path) -> None:
    token = CliToken(home)
    assert not token.verify("")
    assert not token.verify("paracli_")


@pytest.mark.parametrize("wrong", ["", "paracli_", "é", "\udcff", "paracli_" + "A" * 43])
def test_another_word_is_refused(home: Path, wrong: str) -> None:
    token = CliToken(home)
    right = token.obtain()
    assert not token.verify(wrong)
    assert not token.verify(right[:-1])
    assert not token.verify(right + "A")
    assert token.verify(right)


def test_a_new_token_counts_at_once(home: Path) -> None:
    server = CliToken(home)
    old = server.obtain()
    assert server.verify(old)
    (home / "cli.token").unlink()
    new = CliToken(home).obtain()
    assert not server.verify(old)
    assert server.verify(new)


def test_a_token_that_others_could_read_is_refused_and_replaced(home: Path) -> None:
    server = CliToken(home)
    leaked = server.obtain()
    (home / "cli.token").chmod(0o644)
    assert not server.verify(leaked)
    assert not server.verify(leaked)
    fresh = server.obtain()
    assert fresh != leaked
    assert (home / "cli.token").stat().st_mode & 0o777 == 0o600
    assert server.verify(fresh)
    assert not server.verify(leaked)


@pytest.mark.parametrize("content", ["", "paracli_short", "\n"])
def test_a_cut_token_is_never_right_and_is_replaced(home: Path, content: str) -> None:
    path = home / "cli.token"
    path.write_text(content)
    path.chmod(0o600)
    token = CliToken(home)
    assert not token.verify(content)
    assert not token.verify(content.strip())
    assert token.verify(token.obtain())


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a file to another user needs root")
def test_a_token_that_another_user_wrote_is_refused(home: Path) -> None:
    token = CliToken(home)
    planted = token.obtain()
    os.chown(home / "cli.token", 65534, 65534)
    assert not token.verify(planted)


def test_all_who_need_it_first_at_once_get_the_same(home: Path) -> None:
    count = 8
    for number in range(10):
        folder = home / str(number)
        folder.mkdir(mode=0o700)
        start = threading.Barrier(count)

        def obtain(folder: Path = folder, start: threading.Barrier = start) -> str:
            start.wait()
            return CliToken(folder).obtain()

        with ThreadPoolExecutor(count) as pool:
            tokens = {pending.result() for pending in [pool.submit(obtain) for _ in range(count)]}
        assert len(tokens) == 1
        assert CliToken(folder).verify(tokens.pop())
