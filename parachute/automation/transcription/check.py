"""Check of the parts that transcription needs."""

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from msgspec import Struct

from parachute.automation.transcription.model_folder import ModelUnavailable, read_model
from parachute.base.errors import ParachuteError
from parachute.config.settings.groups.local_models import VoiceSettings

_HOW = (
    "`parachute config set voice.server ADDRESS` names a server of yours that transcribes, `parachute config set voice.model FOLDER` "
    "a folder with a model for this machine; docs/voice.md tells where there are some."
)
_PACKAGES = ("sherpa_onnx", "av", "numpy")


class NotSetUp(ModelUnavailable):
    """Nothing is set up that transcribes."""

    key = "no_transcriber"
    status = 409


class Check(Struct, frozen=True):
    """Engine of transcription, and its first missing part; `problem` None: nothing is missing."""

    kind: Literal["model", "server", "none"]
    where: str | None
    model: str | None
    problem: ParachuteError | None


async def check(settings: VoiceSettings, *, confined: str | None = None) -> Check:
    """Look at the settings and at what they name, without sending anything; `confined` says why nothing can be confined here."""
    if settings.model is not None:
        return await asyncio.to_thread(_model, settings, confined)
    if settings.server is not None:
        problem = None
        if settings.key_file is not None and not await asyncio.to_thread(settings.key_file.is_file):
            problem = ModelUnavailable(
                f"voice.key_file: there is no {settings.key_file}.", "Write the server's key into it, on one line."
            )
        return Check("server", settings.server, settings.server_model, problem)
    return Check("none", None, None, NotSetUp("Nothing is set up that turns recordings into text.", _HOW))


def _model(settings: VoiceSettings, confined: str | None) -> Check:
    folder = Path(settings.model or "")
    kind: str | None = None
    problem: ParachuteError | None = None
    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        problem = ModelUnavailable(
            f"Packages are missing for a model on this machine: {', '.join(missing)}.",
            "Install them with pip install 'parachute-computer[voice]'.",
        )
    elif confined is not None:
        problem = ModelUnavailable(
            f"Recordings are decoded in a sandbox only, and there can be none: {confined}",
            "`sudo apt-get install bubblewrap` installs it on Debian and Ubuntu.",
        )
    try:
        kind = read_model(folder, settings.model_kind).kind
    except ModelUnavailable as error:
        problem = problem or error
    return Check("model", str(folder), kind, problem)
