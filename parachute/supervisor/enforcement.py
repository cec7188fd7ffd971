"""What of a module's permissions the system enforces, and what it does not."""

import re
import shutil
from platform import release


def not_enforced(confines: bool) -> tuple[str, ...]:
    """Sentences about what nothing enforces on this machine; `confines`: the launcher enforces a unit's confinement."""
    if confines:
        return ()
    said = ["Memory is limited for each process of a module, not for all of them together."]
    if not shutil.which("bwrap"):
        said.append(
            "Without bubblewrap a module reaches the network and all of your files: nothing but its code holds it back."
        )
    elif not counts_by_namespace():
        said.append("The number of a module's processes is not limited: the kernel is older than 5.14.")
    return tuple(said)


def counts_by_namespace() -> bool:
    """Whether RLIMIT_NPROC counts the processes of a box, and not all of the user's (Linux 5.14)."""
    version = re.match(r"(\d+)\.(\d+)", release())
    return version is not None and (int(version[1]), int(version[2])) >= (5, 14)
