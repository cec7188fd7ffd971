"""The agent's program deletes no transcript, however old."""

import os
import uuid
from pathlib import Path

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient

from parachute.chat.agent_processes.program_settings import program_settings
from tests.chat.agent_processes.conftest import MakeCore
from tests.chat.agent_processes.module_tools import Reading
from tests.supervisor.launching import Launcher
from tests.support.messages_api import MessagesAPI, text
from tests.support.waiting import until

pytestmark = pytest.mark.long


def old_transcript(projects: Path) -> Path:
    """A transcript that nobody has touched since 2001."""
    path = projects / "-old" / f"{uuid.uuid4()}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text('{"type": "user", "message": {"role": "user", "content": "Hello!"}}\n')
    os.utime(path, (10**9, 10**9))
    return path


async def cleaned_up(configuration: Path) -> None:
    """Wait for the mark that the program has cleaned up, some seconds after its start."""
    await until((configuration / ".last-cleanup").exists, "the program has cleaned up")


@pytest.mark.parametrize(("settings", "stays"), [(program_settings(), True), ('{"cleanupPeriodDays": 1}', False)])
async def test_the_program_keeps_to_the_setting(tmp_path: Path, api: MessagesAPI, settings: str, stays: bool) -> None:
    configuration = tmp_path / ".claude"
    transcript = old_transcript(configuration / "projects")
    environment = {**api.environment(tmp_path), "CLAUDE_CONFIG_DIR": str(configuration)}
    api.default(text("Yes."))
    options = ClaudeAgentOptions(settings=settings, setting_sources=[], tools=[], cwd=tmp_path, env=environment)
    async with ClaudeSDKClient(options) as client:
        await client.query("Hello!")
        async for _ in client.receive_response():
            pass
        await cleaned_up(configuration)
    assert transcript.exists() is stays


async def test_agents_have_these_settings(make_core: MakeCore, supervisor: Launcher, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    transcript = old_transcript(core.vault / ".claude" / "projects")
    api.default(text("Yes."))
    await core.answered(trust_level="direct")
    await cleaned_up(supervisor.home.run / "claude")
    assert transcript.exists()
