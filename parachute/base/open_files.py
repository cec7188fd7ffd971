"""Files that some running program has open for writing."""

import fcntl
import signal
import sys


def is_open_for_writing(descriptor: int) -> bool:
    """Return whether any program may write to a file of ours that is open here for reading.

    The kernel grants a lease only on what nobody writes to, whoever and in whatever container. Where it does not tell, nobody
    does: on other systems, on disks of the network, and for files of other users.
    """
    if sys.platform != "linux":
        return False
    try:
        # Whoever opens the file at this moment makes the kernel send a signal; the usual one would end this process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False
