"""Nothing that a person can set, call or receive is undocumented."""

import re
import sys
from pathlib import Path

import pytest

from parachute.runs import events
from parachute.settings.models import Settings

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import build  # noqa: E402


def test_every_setting_has_a_description() -> None:
    rows = build.setting_rows(Settings)
    assert len(rows) > 20
    assert [name for name, _, meaning in rows if not meaning] == []


def test_every_route_has_a_description() -> None:
    rows = build.routes()
    assert len(rows) > 20
    assert [f"{method} {path}" for method, path, meaning in rows if not meaning] == []


@pytest.mark.parametrize("source", sorted((ROOT / "parachute" / "runs").glob("*.py")), ids=lambda path: path.stem)
def test_every_event_is_described(source: Path) -> None:
    described = set(re.findall(r"`(\w+)`", (ROOT / "docs" / "api.md").read_text()))
    sent = set(re.findall(r'"type": "(\w+)"', source.read_text())) - {
        "base64",
        "text_delta",
        "document",
        "user",
        "image",
    }
    assert sent <= described


def test_every_error_code_is_described() -> None:
    text = (ROOT / "docs" / "api.md").read_text()
    sent = {"invalid_credentials", "expired_token", "billing_error", "rate_limited", "service_error"}
    sent |= {"service_unavailable", "context_exceeded", "network_error", "tool_execution_failed"}
    assert sent <= set(events._FAILURES)
    assert [code for code in sorted(sent) if f"`{code}`" not in text] == []


def test_links_between_pages_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "modules").glob("*/README.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not link.startswith("http"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"
