"""Logs for the maintenance agent: their end, and no secret."""

import os
from pathlib import Path

import pytest

from parachute.automation.maintenance.logs import LOG_BYTES, MOST_LOGS, copy_logs, problems
from parachute.base.redaction import REMOVED, redacted

SECRETS = (
    "sk-ant-api03-abcdefghijklmnopqrstuvwxyz",
    "para_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4",
    "paracli_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "123456789:AAF-abcdefghijklmnopqrstuvwxyz0123456",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "AKIAIOSFODNN7EXAMPLE",
)


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_secret_is_taken_out_of_its_sentence(secret: str) -> None:
    assert redacted(f"The key {secret} was refused.") == f"The key {REMOVED} was refused."


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("Authorization: Bearer abc def", f"Authorization: {REMOVED}"),
        ('{"cookie": "a=1; b=2"}', f'{{"cookie": {REMOVED}'),
        ("password=hunter2222 user=kevin", f"password={REMOVED} user=kevin"),
        ('{"bot_token": "abcdefgh", "port": 3333}', f'{{"bot_token": "{REMOVED}", "port": 3333}}'),
        ("GET https://kevin:hunter2@example.org/x", f"GET https://kevin:{REMOVED}@example.org/x"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nnext", f"{REMOVED}\nnext"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE", REMOVED),
        ("a plain-secret-of-a-module b", f"a {REMOVED} b"),
    ],
)
def test_what_stands_behind_a_word_for_secrets(line: str, shown: str) -> None:
    assert redacted(line, ["plain-secret-of-a-module", "a", ""]) == shown


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-22 05:38:06,123 ERROR parachute.modules.runtime: The module brain cannot be started: no such file.",
        '{"usage": {"input_tokens": 1234, "output_tokens": 56}}',
        "GET http://127.0.0.1:3333/api/daily/entries?date=2026-11-22 200",
    ],
)
def test_other_lines_stay_as_they_are(line: str) -> None:
    assert redacted(line) == line


def test_long_and_odd_files_are_bounded(tmp_path: Path) -> None:
    logs, audit, target = tmp_path / "logs", tmp_path / "audit", tmp_path / "copies"
    for folder in (logs, audit, target):
        folder.mkdir()
    (logs / "core.log").write_text("password=hunter2222" * 40_000 + "\nThe last line.\n")
    (logs / "direct.log").write_text("eyJ-" * 200_000 + "\n" + "-----BEGIN " * 20_000)
    (logs / "old.log.1").write_bytes(b"\xff\xfe broken\n")
    (logs / "cli.token").write_text("no log")
    os.mkfifo(logs / "pipe.log")
    (logs / "link.log").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("elsewhere")
    for day in range(1, 5):
        (audit / f"2026-11-0{day}.jsonl").write_text("{}\n")
    # A careless pattern would take hours for these.
    copy_logs(logs, audit, target, ())
    assert sorted(path.name for path in target.iterdir()) == [
        "audit-2026-11-03.jsonl",
        "audit-2026-11-04.jsonl",
        "core.log",
        "direct.log",
        "old.log.1",
    ]
    text = (target / "core.log").read_text()
    assert text == "The last line.\n"
    assert "hunter2222" not in text
    assert (target / "direct.log").stat().st_size < LOG_BYTES


def test_no_part_of_a_secret_is_left_where_a_long_line_is_cut(tmp_path: Path) -> None:
    for start in range(3970, 4010):
        (tmp_path / "core.log").write_text("x " * (start // 2) + "known-secret-of-the-test " + "y " * 2000 + "\n")
        target = tmp_path / str(start)
        target.mkdir()
        copy_logs(tmp_path, tmp_path / "none", target, ["known-secret-of-the-test"])
        text = (target / "core.log").read_text()
        assert "[cut]" in text
        assert "known-" not in text


def test_what_a_model_without_tools_reads(tmp_path: Path) -> None:
    assert problems(tmp_path, 100) == ""
    (tmp_path / "core.log").write_text("1 INFO a: Well.\n2 WARNING b: Odd.\n3 ERROR c: Broken.\n4 INFO d: Well.\n")
    assert problems(tmp_path, 100) == "2 WARNING b: Odd.\n3 ERROR c: Broken."
    assert problems(tmp_path, 7) == "Broken."


def test_of_very_many_logs_the_newest_are_copied(tmp_path: Path) -> None:
    logs, target = tmp_path / "logs", tmp_path / "copies"
    logs.mkdir()
    target.mkdir()
    for number in range(MOST_LOGS + 5):
        path = logs / f"module-{number}.log"
        path.write_text("said\n")
        os.utime(path, (number, number))
    copy_logs(logs, tmp_path / "none", target, ())
    copied = {path.name for path in target.iterdir()}
    assert (len(copied), "module-4.log" in copied, "module-5.log" in copied) == (MOST_LOGS, False, True)
