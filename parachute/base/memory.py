"""Settings of the C library's allocator, so that a process returns memory that it freed, and returning it at once."""

import contextlib
import ctypes
import gc

# Parameters of mallopt, from glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_ARENAS = 2
_THRESHOLD = 128 * 1024


def keep_little() -> None:
    """Let this process give back what it no longer uses; for the threads that are started from now on, and with glibc only.

    By default each thread gets a pool of its own, which never shrinks, although only one at a time runs Python; and blocks of
    up to 32 MiB come from such a pool as soon as the first of their size was freed. A module that has read many files once
    would keep 12 MB more until it sleeps, and so would the server after long answers to many at once.
    """
    with contextlib.suppress(AttributeError):  # other C libraries have no mallopt
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in (
            (_ARENA_MAX, _ARENAS),
            (_MMAP_THRESHOLD, _THRESHOLD),
            (_TRIM_THRESHOLD, _THRESHOLD),
        ):
            mallopt(parameter, value)


def give_back() -> None:
    """Give back to the system what was used and is not any more: Python's collector and glibc keep it otherwise. Blocking."""
    gc.collect()
    with contextlib.suppress(AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)


def collect_often() -> None:
    """Have what is made from now on be collected soon, once everything is imported: that stays, and is looked at no more.

    By default cycles wait until there are a quarter as many objects as are there for good, which are mostly those of libraries.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 5, 2)
