"""One conversation as a file that is read elsewhere."""

import html
from typing import Any

from parachute.chat.sessions.messages import Message
from parachute.chat.sessions.models import Session
from parachute.ops.export.conversations import as_page, conversation_of, html_parts

HOSTILE = "<script>alert(1)</script> [here](javascript:alert(1)) ![pixel](https://elsewhere.example/a.png)"


def conversation(*texts: str, title: str | None = "Peas & beans <b>") -> Any:
    """A conversation of a person and an agent, who take turns."""
    session = Session(
        id="a1", created_at="2026-01-02T03:04:05.000Z", updated_at="2026-01-03T00:00:00.000Z", title=title
    )
    said = [
        Message(
            id=str(place),
            role="assistant" if place % 2 else "user",
            content=[{"type": "text", "text": text}],
            model=None,
            timestamp=f"2026-01-02T03:04:{place:02}.000Z",
            isCompactSummary=False,
        )
        for place, text in enumerate(texts)
    ]
    return conversation_of(session, said)


def test_who_said_what_when_is_in_both_forms() -> None:
    found = conversation("When are peas sown?", "In **March**.")
    assert as_page(found).decode() == (
        "# Peas & beans <b>\n\n2026-01-02T03:04:05.000Z, a1\n\n"
        "## You (2026-01-02T03:04:00.000Z)\n\nWhen are peas sown?\n\n"
        "## Agent (2026-01-02T03:04:01.000Z)\n\nIn **March**.\n"
    )
    page = "".join(html_parts(found))
    assert html.escape("Peas & beans <b>") in page
    assert "<strong>March</strong>" in page
    assert "2026-01-02T03:04:01.000Z" in page


def test_a_page_runs_and_loads_nothing() -> None:
    page = "".join(html_parts(conversation(HOSTILE, "x" * 200_000 + "<i>")))
    for forbidden in ("<script", "<img", 'href="javascript', "src=", "<i>"):
        assert forbidden not in page, forbidden
    assert "default-src 'none'" in page
