"""Which tests of a run with `-n 2` belong together."""

from xdist.scheduler import LoadScopeScheduling


class ByGuest(LoadScopeScheduling):  # type: ignore[misc, unused-ignore]
    """Each kind of guest has a process of its own: it is booted there only, and its tests keep their order."""

    def _split_scope(self, nodeid: str) -> str:
        return "uml" if "appliance/uml/" in nodeid.partition("::")[0] else "nspawn"
