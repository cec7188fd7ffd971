"""Recordings as browsers, phones and messengers make them."""

import struct
import wave
from pathlib import Path

import av
import numpy

FORMATS = {
    "browser.webm": "libopus",
    "telegram.ogg": "libopus",
    "phone.m4a": "aac",
    "old.mp3": "libmp3lame",
    "app.wav": "pcm_s16le",
    "other.flac": "flac",
}


def noise(seconds: float, rate: int = 16_000) -> numpy.ndarray:
    """Sound in which the tiny model hears words, with a quiet moment in every second."""
    samples = numpy.random.default_rng(1).normal(size=int(seconds * rate)) * 3000
    samples[numpy.arange(len(samples)) % rate < rate // 4] = 0
    return samples.astype("int16")


def write_wav(path: Path, seconds: float, *, silent: bool = False) -> Path:
    """A plain recording at 16 kHz."""
    samples = numpy.zeros(int(seconds * 16_000), "int16") if silent else noise(seconds)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(samples.tobytes())
    return path


def write(path: Path, seconds: float) -> Path:
    """A recording in the format that its name says, one of `FORMATS`."""
    codec = FORMATS[path.name]
    rate = 48_000 if codec == "libopus" else 44_100
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate, layout="mono")
        assert isinstance(stream, av.AudioStream)
        frame = av.AudioFrame.from_ndarray(noise(seconds, rate).reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = rate
        size = stream.codec_context.frame_size or None
        resampler = av.AudioResampler(format=stream.codec_context.format, layout="mono", rate=rate, frame_size=size)
        for each in (*resampler.resample(frame), *resampler.resample(None)):
            container.mux(stream.encode(each))
        container.mux(stream.encode(None))
    return path


def lying_wav(path: Path) -> Path:
    """A header that promises four gigabytes of sound, and a second of it."""
    data = noise(1).tobytes()
    head = (
        b"RIFF" + struct.pack("<I", 0xFFFFFFF0) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 16_000, 32_000, 2, 16)
    )
    path.write_bytes(head + b"data" + struct.pack("<I", 0xFFFFFF00) + data)
    return path
