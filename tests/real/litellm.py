"""LiteLLM on the loopback, which hands over what it is asked to a scripted Messages API."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from tests.real import installed
from tests.support.computer import free_port
from tests.support.installation import PLAIN
from tests.support.waiting import wait_until

KEY = "sk-of-the-proxy"
BEHIND = "sk-ant-of-the-service"
MODEL = "qwen3"
_SECONDS = 300
"""Seconds of its start: it imports for a minute on a slow machine."""


@contextmanager
def litellm(folder: Path, url: str) -> Iterator[str]:
    """Run it with one model while a block runs; its address."""
    behind = {"model": "anthropic/claude-haiku-4-5", "api_base": url, "api_key": BEHIND}
    settings = {
        "model_list": [{"model_name": MODEL, "litellm_params": behind}],
        "general_settings": {"master_key": KEY},
        # So that a test sees each refusal, and not what it is after several.
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
    }
    (folder / "all.yaml").write_text(json.dumps(settings))
    port = free_port()
    program = [str(installed.python("proxy").with_name("litellm")), "--config", "all.yaml", "--host", "127.0.0.1"]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        # Its prices and windows as it brings them, and no look for newer ones.
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "NO_PROXY": "*",
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*program, "--port", str(port)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )

    def is_there() -> bool:
        assert process.poll() is None, (folder / "log").read_text()
        try:
            return httpx2.get(f"http://127.0.0.1:{port}/health/liveliness", **PLAIN).is_success
        except httpx2.HTTPError:
            return False

    try:
        wait_until(is_there, "LiteLLM answers", (folder / "log").read_text, seconds=_SECONDS, seconds_between=1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()
