"""Mails as entries."""

from pathlib import Path

import pytest
from imports.reading.mail import is_one
from reading_once import read

from tests.chat.imports import journals
from tests.chat.imports.journals import PICTURE, mail


def test_a_mail_is_an_entry_of_the_day_on_which_it_was_sent(tmp_path: Path) -> None:
    found = read(tmp_path, mail())
    assert (found.kind, found.errors, found.left_out) == ("mail", [], {})
    (entry,) = found.entries
    assert (entry["date"], entry["time"], entry["title"]) == ("2024-03-05", "23:30", "Tickets")
    ((name, data),) = found.media.items()
    assert data == PICTURE
    assert name.endswith("-a_b_.png")
    shown = f"![](../assets/2024-03-05/{name})"
    assert entry["content"] == f"From: Kim <kim@a.example>  \nTo: me@b.example\n\nRow 7.\n\n{shown}"
    assert entry["fields"] == {"type": "mail", "from": "Kim <kim@a.example>", "source": "mail"}


def test_a_file_of_many(tmp_path: Path) -> None:
    text = "Line.\n\n>From the sea.\n" + "x" * 300_000
    mails = [mail(name=f"{number}@a.example", text=text) for number in range(5)]
    box = b"".join(b"From kim@a.example Tue Mar  5 23:30:00 2024\n" + each + b"\n" for each in mails)
    found = read(tmp_path, box)
    assert len({each["id"] for each in found.entries}) == 5
    assert all("\n\nFrom the sea.\n" in each["content"] for each in found.entries)
    packed = read(tmp_path, journals.archive({"a/b.eml": mail(), "c.mbox": box}))
    assert (packed.kind, len(packed.entries)) == ("mail", 6)


def test_html_and_what_is_malformed(tmp_path: Path) -> None:
    head = b"From: a@b.example\nDate: Tue, 5 Mar 2024 10:00:00 +0000\n"
    page = head + b"Content-Type: text/html\n\n<style>x</style><p>Hello <b>you</b></p><script>alert(1)</script>"
    assert read(tmp_path, page).entries[0]["content"].endswith("Hello **you**")
    for broken in (
        b"From: a\nDate: never\n\nx",
        b"From: a\nSubject: x\n\ny",
        b"From: a\nDate: Tue, 99 Mar 99999 10:00 +0000\n\nx",
    ):
        assert read(tmp_path, broken).left_out == {"entries_without_date": 1}
    nested = b"".join(b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (n, n) for n in range(3000))
    assert read(tmp_path, head + nested).errors == []


def test_a_large_mail_and_an_odd_encoding_cost_no_hours(tmp_path: Path) -> None:
    head = b"From: a@b.example\nDate: Tue, 5 Mar 2024 10:00:00 +0000\n"
    odd = head + b"Content-Type: text/plain; charset=punycode\n\na-" + b"b" * 3_000_000
    begin = b"From a Tue Mar  5 10:00:00 2024\n"
    large = head + b"\n" + b"y" * (33 << 20)
    box = b"".join(begin + each + b"\n\n" for each in (odd, large, mail(name="after@a.example"), b"")) + begin * 2
    found = read(tmp_path, box + b"\n\nFrom " * 5_000)
    assert [each["title"] for each in found.entries] == ["", "Tickets"]
    assert found.entries[0]["content"].endswith("bbb")
    assert found.left_out["mails_too_large"] == 1


@pytest.mark.parametrize(
    ("text", "is_mail"),
    [
        (b"From a Tue Mar 5\nFrom: b\nTo: c\n\nx", True),
        (b"Received: from a\n\tby b\nDate: x\n\n", True),
        (b"Title: a\nText: b\n", False),
        (b'{"a": 1}', False),
        (b"# A note\n\nFrom: here", False),
    ],
)
def test_a_mail_is_known_by_its_head(text: bytes, is_mail: bool) -> None:
    assert is_one(text) is is_mail
