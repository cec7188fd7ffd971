"""Limits of the process that reads a document, which hold with and without a sandbox around it."""

import contextlib
import os
import resource

_MEMORY = 512 << 20
_PROCESSOR_SECONDS = 30
_OPEN_FILES = 64
_LARGEST_FILE = 16 << 20


def lower() -> None:
    """Take everything that reading does not need from this process and from those that it starts."""
    limits = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, _PROCESSOR_SECONDS),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_AS, _MEMORY),
    ]
    for limit, value in limits:
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(OSError, ValueError):  # macOS knows no limit of the address space
            resource.setrlimit(limit, (value, value))
    with contextlib.suppress(OSError):
        os.nice(19)
