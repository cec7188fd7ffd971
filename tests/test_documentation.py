"""Nothing that a person can set, call or receive is undocumented."""

import re
import sys
from pathlib import Path

import pytest

from parachute.chat.runs.events import EVENTS
from parachute.config.settings.models import Settings

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import build  # noqa: E402
import tables  # noqa: E402

PAGES = build.sources()


def test_every_setting_has_a_description() -> None:
    rows = tables.setting_rows(Settings)
    assert len(rows) > 20
    assert [name for name, _, meaning in rows if not meaning] == []


def test_every_route_has_a_description() -> None:
    rows = tables.routes()
    assert len(rows) > 20
    assert [f"{route.method} {route.path}" for route in rows if not route.meaning] == []


def test_every_event_has_a_description() -> None:
    assert [kind.type for kind in EVENTS.values() if not (kind.__doc__ or "").rstrip().endswith(".")] == []


@pytest.mark.process  # the table of options asks Nix
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_tables_are_there_when_the_page_is_read_in_the_repository(page: Path) -> None:
    text = page.read_text()
    assert tables.filled(text) == text, "`make docs` fills them in"
    assert set(re.findall(r"<!-- ([a-z-]+) -->", text)) <= tables.TABLES.keys()


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted(name for group in build.GROUPS.values() for name in group) == sorted(PAGES)


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        target, _, fragment = link.partition("#")
        if not target.startswith("http"):
            path = (page.parent / target).resolve() if target else page
            assert path.exists(), link
            headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE) if fragment else []
            assert not fragment or fragment in map(build.anchor, headings), link
