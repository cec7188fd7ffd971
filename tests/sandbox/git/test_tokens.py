"""Tokens of hosts, and names of repositories."""

from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput, NotFound
from parachute.sandbox.git.models import Repository
from parachute.sandbox.git.tokens import Tokens

TOKEN = "0123456789abcdef-last"


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path)


def test_a_token_is_kept_for_its_host_and_shown_by_its_end(tokens: Tokens, tmp_path: Path) -> None:
    tokens.set("https://GitHub.com/", f" {TOKEN}\n")
    tokens.set("git.example.org:8443", "short", "me")
    assert [each.host for each in tokens.all()] == ["git.example.org:8443", "github.com"]
    assert [each.shown().token for each in tokens.all()] == ["…", "…last"]
    found = tokens.of("github.com")
    assert found is not None
    assert (found.token, found.user) == (TOKEN, "git")
    assert tokens.of("git.example.org") is None
    (file,) = tmp_path.glob("git-tokens.json")
    assert file.stat().st_mode & 0o777 == 0o600
    tokens.remove("GITHUB.com")
    assert tokens.of("github.com") is None
    with pytest.raises(NotFound):
        tokens.remove("github.com")


def test_what_is_no_token_is_refused(tokens: Tokens) -> None:
    for host, token, user in (
        ("localhost", TOKEN, "git"),
        ("127.0.0.1", TOKEN, "git"),
        ("github.com/owner", TOKEN, "git"),
        ("github.com", "", "git"),
        ("github.com", "two words", "git"),
        ("github.com", "a\r\nHost: evil", "git"),
        ("github.com", "x" * 5000, "git"),
        ("github.com", TOKEN, "a:b"),
    ):
        with pytest.raises(InvalidInput):
            tokens.set(host, token, user)
        assert tokens.all() == [], (host, token, user)


def test_a_file_that_is_damaged_is_an_error(tokens: Tokens, tmp_path: Path) -> None:
    for text in ("nothing", "{}", '[{"host": "a.b"}]', "[" * 2000):
        (tmp_path / "git-tokens.json").write_text(text)
        with pytest.raises(InvalidInput):
            tokens.of("github.com")


def test_a_repository_has_one_name() -> None:
    for text, said in (
        ("github.com/owner/name", "github.com/owner/name"),
        ("https://GitHub.com:443/owner/name.git/", "github.com/owner/name"),
        ("git@github.com:owner/name.git", "github.com/owner/name"),
        ("ssh://git@github.com:22/owner/name", "github.com/owner/name"),
        ("https://ada@github.com/owner/name", "github.com/owner/name"),
        ("git@github.com:123/name", "github.com/123/name"),
        ("git.example.org:8443/a/b/c", "git.example.org:8443/a/b/c"),
        ("dev.example.org/My%20Project/_git/x", "dev.example.org/My%20Project/_git/x"),
        ("192.168.7.2/boat", "192.168.7.2/boat"),
    ):
        repository = Repository.parse(text)
        assert str(repository) == said
        assert Repository.parse(said) == repository


def test_what_is_no_repository_is_refused() -> None:
    for text in (
        *("", "github.com", "github.com/", "github.com/..", "github.com/.git", "localhost/a", "127.0.0.1/a"),
        *("*.github.com/a", "http://github.com/a/b", "github.com/a//b", "github.com/a%2fb", "github.com/a?b", "/a/b"),
        *("github.com/a#b", "user:pass@github.com/a", "github.com:99999/a", "[fd00::1]/a/b", f"github.com/{'a' * 500}"),
    ):
        with pytest.raises(InvalidInput):
            Repository.parse(text)
