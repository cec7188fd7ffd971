"""A folder with a model for sherpa-onnx: which kind of model it holds, and which files make it up."""

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from msgspec import Struct

from parachute.base.errors import Unavailable
from parachute.config.settings.groups.voice_kinds import VoiceModelKind

KINDS: tuple[VoiceModelKind, ...] = get_args(VoiceModelKind)

_SINGLE = ("nemo-ctc", "sense-voice", "paraformer", "wenet-ctc", "zipformer-ctc", "dolphin-ctc")
_PARTS: Mapping[str, tuple[str, ...]] = {
    "whisper": ("encoder", "decoder"),
    "nemo-canary": ("encoder", "decoder"),
    "transducer": ("encoder", "decoder", "joiner"),
    "nemo-transducer": ("encoder", "decoder", "joiner"),
    **dict.fromkeys(_SINGLE, ("model",)),
}
_MOST_FILES = 1000
_HINT = "docs/voice.md says what a folder with a model holds. Set `voice.model` to such a folder."


class ModelUnavailable(Unavailable):
    """There is no model to transcribe with, and asking again does not change that."""

    key = "no_voice_model"


class ModelFolder(Struct, frozen=True):
    """A model: its kind, and the path of each of its parts (`model`, or `encoder` and so on) and of `tokens`."""

    kind: VoiceModelKind
    files: Mapping[str, str]


def read_model(folder: Path, kind: str | None = None) -> ModelFolder:
    """Look at a folder; `kind` None finds out by the names of the folder and its files. Error: ModelUnavailable."""
    try:
        names = sorted(entry.name for entry in folder.iterdir())[:_MOST_FILES]
    except OSError as error:
        raise ModelUnavailable(f"The folder {folder} cannot be read: {error.strerror}.", _HINT) from error
    networks = [name for name in names if name.endswith(".onnx")]
    if not networks:
        raise ModelUnavailable(f"The folder {folder} has no file that ends with .onnx.", _HINT)
    found = _known(kind) if kind else _guessed(folder, networks)
    tokens = [name for name in names if name == "tokens.txt" or name.endswith("-tokens.txt")]
    if not tokens:
        raise ModelUnavailable(f"The folder {folder} has no tokens.txt, which belongs to the model.", _HINT)
    files = {"tokens": str(folder / tokens[0])}
    for part in _PARTS[found]:
        named = networks if part == "model" else [name for name in networks if part in name.lower()]
        if not named:
            raise ModelUnavailable(
                f"The folder {folder} has no {part}.onnx, which a model of kind {found} needs.", _HINT
            )
        # Of two, the smaller numbers: they are faster and take less memory, and hardly worse.
        smaller = [name for name in named if ".int8." in name]
        files[part] = str(folder / (smaller or named)[0])
    return ModelFolder(found, files)


def _known(kind: str) -> VoiceModelKind:
    for known in KINDS:
        if kind == known:
            return known
    raise ModelUnavailable(f"Unknown kind {kind!r}; allowed are {', '.join(KINDS)}.", "Correct `voice.model_kind`.")


def _guessed(folder: Path, networks: list[str]) -> VoiceModelKind:
    name = folder.name.lower()
    has = {part for part in ("encoder", "decoder", "joiner") for network in networks if part in network.lower()}
    if "joiner" in has:
        return "nemo-transducer" if "nemo" in name or "parakeet" in name else "transducer"
    if has >= {"encoder", "decoder"}:
        return "nemo-canary" if "canary" in name else "whisper"
    for kind in _SINGLE:
        if kind in name or kind.replace("-", "_") in name:
            return _known(kind)
    # As the models of NVIDIA are called: sherpa-onnx-nemo-fast-conformer-ctc-be-de-en…
    if "nemo" in name and "ctc" in name:
        return "nemo-ctc"
    raise ModelUnavailable(
        f"Neither the name of the folder {folder} nor its files say of which kind the model is.",
        f"Set `voice.model_kind` to one of {', '.join(KINDS)}.",
    )
