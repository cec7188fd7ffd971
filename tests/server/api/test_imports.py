"""The import of the app (contract, section 7), here and in another time zone with a key."""

import asyncio

import httpx2
import pytest

from tests.chat.imports.exports import boat, claude_conversation
from tests.contract import models
from tests.contract.imports import ImportResult
from tests.contract.responses import check_response
from tests.support.computer import Computer

from .conftest import talk

pytestmark = pytest.mark.long


async def test_exports_come_once_with_their_dates_and_go_on(owner: httpx2.AsyncClient, installation: Computer) -> None:
    installed = await asyncio.to_thread(installation.command, "setup", "--yes", "--modules", "imports")
    assert installed.returncode == 0, installed.stderr
    for name, export in (("chatgpt", boat("c-server")), ("claude", claude_conversation("cl-server"))):
        sent = {"data": [export], "archived": False}
        first = check_response(ImportResult, await owner.post("/api/import", json=sent))
        assert (first.imported_count, first.skipped_count, first.errors) == (len(first.session_ids), 0, [])
        again = check_response(ImportResult, await owner.post("/api/import", json=sent))
        assert (again.imported_count, again.skipped_count) == (0, again.total_conversations)
        found = check_response(models.SessionWithMessages, await owner.get(f"/api/chat/{first.session_ids[0]}"))
        assert found.source == name
        assert found.created_at is not None
        assert found.created_at < "2026"
        await talk(owner, "And now?", first.session_ids[0])
