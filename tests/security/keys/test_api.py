"""The route that revokes keys, where the last one with admin rights may go and where it has to stay."""

from pathlib import Path
from typing import Literal

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from parachute.base.services import ServiceRegistry
from parachute.config.settings.models import Settings
from parachute.security.keys.api import router
from parachute.security.keys.service import Keys
from parachute.web.http.errors import install_error_handlers


@pytest.mark.parametrize(
    ("host", "auth_mode", "status"),
    [("127.0.0.1", "remote", 200), ("::1", "remote", 200), ("127.0.0.1", "always", 409), ("0.0.0.0", "remote", 409)],
)
def test_the_last_admin_key_stays_where_others_need_one(
    keys: Keys, tmp_path: Path, host: str, auth_mode: Literal["remote", "always"], status: int
) -> None:
    app = FastAPI()
    app.include_router(router)
    install_error_handlers(app)
    app.state.services = ServiceRegistry(keys, Settings(vault=tmp_path, host=host, auth_mode=auth_mode))
    key, _ = keys.create("phone")
    with TestClient(app) as client:
        answer = client.delete(f"/api/auth/keys/{key.id}")
    assert answer.status_code == status
    assert status == 200 or answer.json()["key"] == "last_admin_key"
