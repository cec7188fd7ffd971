"""The kinds of models for sherpa-onnx; small processes import it, so it imports nothing large."""

from typing import Literal

VoiceModelKind = Literal[
    "whisper",
    "transducer",
    "nemo-transducer",
    "nemo-ctc",
    "nemo-canary",
    "sense-voice",
    "paraformer",
    "wenet-ctc",
    "zipformer-ctc",
    "dolphin-ctc",
]
