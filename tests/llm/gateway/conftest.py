"""A gateway in this process, with real sockets before and behind it."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from parachute.base.clock import SYSTEM, Clock
from parachute.base.database import Database
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.endpoint import SOCKET_NAME, ModelEndpoint
from parachute.llm.gateway.limits import SpendingLimits, create_spending_limits
from parachute.llm.gateway.login import Login
from parachute.llm.gateway.models import CredentialKind
from parachute.llm.gateway.service import Gateway
from parachute.llm.gateway.store import (
    UsageStore,
    add_subjects,
    add_subscription_tokens,
    add_unpriced,
    create_usage,
)
from parachute.security.audit.service import Audit
from tests.support.clock import ManualClock
from tests.support.messages_api import MessagesAPI

KEY = "sk-ant-api03-the-real-one"
TOKEN = "sk-ant-oat01-the-real-one"
MODEL = "claude-haiku-4-5"
TODAY = "2026-01-31"


class Installation:
    """One gateway with its ledger and audit; `environment` is what the starting shell said."""

    def __init__(
        self,
        folder: Path,
        environment: dict[str, str],
        settings: dict[str, Any],
        login: Login | None = None,
        clock: Clock = SYSTEM,
    ) -> None:
        self.folder = folder
        self.home = Home(folder / ".parachute")
        self.home.root.mkdir(mode=0o700, exist_ok=True)
        self.claude = folder / ".claude"
        self.claude.mkdir(exist_ok=True)
        self.audit = Audit(folder / "audit")
        self.database = Database(
            self.home.trust_database,
            (create_usage, add_subscription_tokens, add_subjects, create_spending_limits, add_unpriced),
        )
        source = CredentialSource(self.home, environment, self.claude)
        chosen = Settings(vault=folder / "vault", **settings)
        usage = UsageStore(self.database, ManualClock(datetime.fromisoformat(f"{TODAY}T12:00:00Z")))
        self.limits = SpendingLimits(self.database)
        login = login or Login(source.login_file, lambda: None, clock=clock)
        self.gateway = Gateway(self.home, chosen, source, login, usage, self.limits, self.audit, clock)

    async def open(self) -> None:
        """Open the ledger."""
        await self.database.open()

    async def close(self) -> None:
        """Close everything, as the application does."""
        await self.gateway.close_all()
        await self.database.close()
        await self.audit.close()

    def audit_text(self) -> str:
        """Everything in the audit."""
        return "".join(path.read_text() for path in (self.folder / "audit").glob("*.jsonl"))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name: the path of a Unix socket has room for 107 characters."""
    path = Path(tempfile.mkdtemp(prefix="pgw-", dir="/tmp"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
async def installation(folder: Path, api: MessagesAPI) -> AsyncIterator[Installation]:
    """A gateway whose provider is `api`, with an API key from the shell."""
    api.require(api_key=KEY)
    made = Installation(folder, {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url}, {})
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def endpoint(installation: Installation) -> ModelEndpoint:
    """The endpoint of one session."""
    return await installation.gateway.open("one")


def agent(endpoint: ModelEndpoint, token: str | None = None, **options: Any) -> httpx2.AsyncClient:
    """A client on an endpoint's socket, with its token unless another is given."""
    token = endpoint.token if token is None else token
    headers: dict[bytes, bytes] = (
        {b"x-api-key": token.encode()}
        if endpoint.kind is CredentialKind.API_KEY
        else {b"authorization": f"Bearer {token}".encode()}
    )
    transport = httpx2.AsyncHTTPTransport(uds=str(endpoint.folder / SOCKET_NAME), verify=False)
    return httpx2.AsyncClient(
        transport=transport, base_url="http://model.local", headers=headers, timeout=90, trust_env=False, **options
    )


def question(stream: bool = True, model: str = MODEL, **fields: Any) -> dict[str, Any]:
    """The body of a request."""
    messages = [{"role": "user", "content": "What is a journal good for?"}]
    return {"model": model, "max_tokens": 100, "stream": stream, "messages": messages, **fields}
