"""Recordings of any common format as pieces of sound at 16 kHz, cut where it is quiet, in bounded memory."""

import time
from collections.abc import Iterator
from typing import Any, BinaryIO

from msgspec import Struct

from parachute.base.errors import InvalidInput

RATE = 16_000
_FORMATS = "wav,ogg,matroska,webm,mov,mp3,flac,aac,caf"
"""Formats in which browsers, phones and messengers record; other formats of the library have code that fewer people have looked at."""

_LONGEST = 28 * RATE  # Whisper hears 30 seconds at a time
_CUT_FROM = 18 * RATE
_LOOKED_AT = RATE // 5
_LARGEST_FRAME = 60 * RATE
_RATES = range(1, 768_001)


_FRAME_SECONDS = 10.0
"""Longest time for finding the next moment of sound: some files have the decoder look through gigabytes for one."""


class NoSound(InvalidInput):
    """A file has no sound that can be decoded."""

    key = "no_sound"


class TooLong(InvalidInput):
    """A recording is longer than the settings allow."""

    key = "recording_too_long"


class Piece(Struct, frozen=True):
    """Some seconds of sound from `start` on, as a numpy array of floats; `total` is what the file says of its length, or None."""

    start: float
    samples: Any
    total: float | None

    @property
    def end(self) -> float:
        """The second at which it ends."""
        return self.start + len(self.samples) / RATE


class _Patient:
    """A file that is read only as long as the decoder finds something."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.go_on()

    def go_on(self) -> None:
        self._deadline = time.monotonic() + _FRAME_SECONDS

    def read(self, size: int) -> bytes:
        if time.monotonic() > self._deadline:
            raise NoSound("No sound is found in the file in a reasonable time.")
        return self._file.read(size)

    def seek(self, place: int, whence: int) -> int:
        return self._file.seek(place, whence)

    def tell(self) -> int:
        return self._file.tell()


def pieces(file: BinaryIO, longest_seconds: float) -> Iterator[Piece]:
    """Decode a file; errors: NoSound, TooLong as soon as more than `longest_seconds` have been decoded, whatever it says of itself."""
    import av

    try:
        patient = _Patient(file)
        with av.open(patient, mode="r", options={"format_whitelist": _FORMATS}) as container:
            if not container.streams.audio:
                raise NoSound("The file has no sound.")
            total = container.duration / av.time_base if container.duration and container.duration > 0 else None
            yield from _cut(_frames(container, patient), longest_seconds, total)
    except (av.FFmpegError, MemoryError, OverflowError) as error:
        raise NoSound(
            "The file is no recording that can be decoded.",
            "WAV, MP3, M4A, FLAC, Ogg and WebM can be.",
        ) from error


def _frames(container: Any, patient: _Patient) -> Iterator[Any]:
    import av

    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    for frame in container.decode(audio=0):
        if frame.sample_rate not in _RATES or frame.samples > _LARGEST_FRAME:
            raise NoSound("The file says impossible things of its sound.")
        for changed in resampler.resample(frame):
            yield changed.to_ndarray()[0]
        # Also after hours in which the piece before waited for the end of a chat.
        patient.go_on()
    for changed in resampler.resample(None):
        yield changed.to_ndarray()[0]


def _cut(frames: Iterator[Any], longest_seconds: float, total: float | None) -> Iterator[Piece]:
    import numpy

    waiting: list[Any] = []
    held = start = 0
    for frame in frames:
        waiting.append(frame)
        held += len(frame)
        if (start + held) / RATE > longest_seconds:
            raise TooLong(
                f"The recording is longer than {longest_seconds / 60:g} minutes.",
                "`parachute config set voice.longest_minutes NUMBER` allows longer ones.",
            )
        while held >= _LONGEST:
            samples = numpy.concatenate(waiting)
            at = _quiet(samples)
            yield Piece(start / RATE, _floats(samples[:at]), total)
            waiting, held, start = [samples[at:]], held - at, start + at
    if start + held == 0:
        raise NoSound("The file has no sound.")
    if held:
        yield Piece(start / RATE, _floats(numpy.concatenate(waiting)), total)


def _quiet(samples: Any) -> int:
    """The middle of the quietest moment towards the end of a piece."""
    import numpy

    end = _LONGEST - _LOOKED_AT
    starts = range(_CUT_FROM, end, _LOOKED_AT // 2)
    loudness = [numpy.abs(samples[at : at + _LOOKED_AT].astype("int32")).mean() for at in starts]
    return starts[int(numpy.argmin(loudness))] + _LOOKED_AT // 2


def _floats(samples: Any) -> Any:
    return samples.astype("float32") / 32768
