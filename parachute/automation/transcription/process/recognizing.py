"""The model of the owner's folder, loaded by sherpa-onnx from local files."""

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from parachute.automation.transcription.model_folder import ModelFolder, ModelUnavailable
from parachute.automation.transcription.process.decoding import RATE

_SILENT = 0.001
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_OF_SENSE_VOICE = ("zh", "en", "ja", "ko", "yue")
"""Told any other, it finds out itself."""


class Heard(Struct, frozen=True):
    """Speech in a piece of sound, and its language if the model tells."""

    text: str
    language: str | None


class Recognizer:
    """Loading is slow, and a file that is no model may end the process: whoever started it says so."""

    def __init__(self, model: ModelFolder, language: str | None) -> None:
        # Compiled code of 20 MB, which nothing but this process needs.
        import sherpa_onnx

        if model.kind == "sense-voice" and language not in _OF_SENSE_VOICE:
            language = None
        try:
            self._recognizer = _MADE[model.kind](sherpa_onnx.OfflineRecognizer, model.files, language or "")
        except (RuntimeError, ValueError, TypeError) as error:
            said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            raise ModelUnavailable(
                f"The files do not make up a model of kind {model.kind}: {said}.",
                "Correct `voice.model_kind`, or set `voice.model` to another folder.",
            ) from error
        self._language = language

    def hear(self, samples: Any) -> Heard:
        """The words in some seconds of sound; silence has none, though some models make some up for it."""
        if not len(samples) or float(abs(samples).max()) < _SILENT:
            return Heard("", None)
        stream = self._recognizer.create_stream()
        stream.accept_waveform(RATE, samples)
        self._recognizer.decode_stream(stream)
        found = _LANGUAGE.search(str(getattr(stream.result, "lang", "") or ""))
        return Heard(" ".join(stream.result.text.split()), self._language or (found[0] if found else None))


def _threads() -> int:
    # Not all: a chat may begin meanwhile.
    return max(1, (os.cpu_count() or 1) // 2)


def _single(method: str, argument: str = "model", **more: Any) -> "Make":
    def make(kind: Any, files: Mapping[str, str], _: str) -> Any:
        given = {argument: files["model"], "tokens": files["tokens"], "num_threads": _threads(), **more}
        return getattr(kind, method)(**given)

    return make


def _transducer(model_type: str) -> "Make":
    def make(kind: Any, files: Mapping[str, str], _: str) -> Any:
        return kind.from_transducer(**files, num_threads=_threads(), model_type=model_type)

    return make


def _whisper(kind: Any, files: Mapping[str, str], language: str) -> Any:
    return kind.from_whisper(**files, num_threads=_threads(), language=language)


def _canary(kind: Any, files: Mapping[str, str], language: str) -> Any:
    spoken = language or "en"
    return kind.from_nemo_canary(**files, num_threads=_threads(), src_lang=spoken, tgt_lang=spoken)


def _sense_voice(kind: Any, files: Mapping[str, str], language: str) -> Any:
    given = {"model": files["model"], "tokens": files["tokens"], "num_threads": _threads()}
    return kind.from_sense_voice(**given, language=language, use_itn=True)


Make = Callable[[Any, Mapping[str, str], str], Any]

_MADE: Mapping[str, Make] = {
    "whisper": _whisper,
    "transducer": _transducer("transducer"),
    "nemo-transducer": _transducer("nemo_transducer"),
    "nemo-ctc": _single("from_nemo_ctc"),
    "nemo-canary": _canary,
    "sense-voice": _sense_voice,
    "paraformer": _single("from_paraformer", "paraformer"),
    "wenet-ctc": _single("from_wenet_ctc"),
    "zipformer-ctc": _single("from_zipformer_ctc"),
    "dolphin-ctc": _single("from_dolphin_ctc"),
}
