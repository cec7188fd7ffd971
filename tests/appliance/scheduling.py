"""Grouping of tests that one worker has to run."""

from xdist.scheduler import LoadScopeScheduling

_OF_CONTAINERS = ("test_containers.py", "test_escapes.py", "test_read_only_disk.py")
_WITH_THEIR_OWN = (
    "test_dbus_broker.py",
    "test_debian_package.py",
    "test_nixos.py",
    "test_nixos_modules.py",
    "test_whole_image.py",
)


class ByGuest(LoadScopeScheduling):  # type: ignore[misc, unused-ignore]
    """Each guest has a process of its own: it is booted there only, and its tests keep their order. Other tests go by file."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if not file.startswith("tests/appliance/") or file.endswith(_WITH_THEIR_OWN):
            return file
        if not file.startswith("tests/appliance/uml/"):
            return "nspawn"
        return "uml with containers" if file.endswith(_OF_CONTAINERS) else "uml"
