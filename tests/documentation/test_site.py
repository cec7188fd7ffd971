"""The site of the documentation: every page, a search, and nothing that comes from elsewhere."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_LOADED = re.compile(r'<(?:script|img|iframe|link)[^>]+(?:src|href)="(https?:)?//')

pytestmark = pytest.mark.long


def test_the_site_is_built_and_loads_nothing_from_other_hosts() -> None:
    built = subprocess.run([sys.executable, ROOT / "docs" / "build.py"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "No issues found" in built.stdout + built.stderr
    site = ROOT / "build" / "docs"
    pages = sorted(site.glob("*.html"))
    assert len(pages) > 40
    assert [page.name for page in pages if _LOADED.search(page.read_text())] == []
    style = (site / "site.css").read_text()
    assert "http" not in style
    found = {each["location"] for each in json.loads((site / "search.json").read_text())["items"]}
    assert "backup.html#restoring" in found
