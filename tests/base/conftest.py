"""Both ways of opening below a folder."""

import pytest

from parachute.base import openat2


@pytest.fixture(params=["openat2", "walk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The way that a test goes: the call of the kernel, or what stands in for it on a kernel without."""
    if request.param == "walk":
        monkeypatch.setattr(openat2, "_available", False)
    return str(request.param)
