"""The lines that are not typed here, each with its reason; a line that is not in this table is typed."""

ELSEWHERE = {
    "Daily/": "is a list of files",
    "make ": "works in the clone itself: tests/first_run.sh makes a clean one and types `make run`",
    "python -m pytest": "runs the tests of the official modules, as `make test` does",
    "python modules/brain/tests/bench.py": "measures for minutes; `make bench` does it",
    "sudo ": "needs root, and changes the machine",
    "parachute service avahi": "writes a file of root's; tests/appliance/test_lan.py announces the computer with it",
    "parachute service uninstall": "needs systemd with a user manager: tests/appliance removes the services",
    "systemctl --user": "needs systemd with a user manager: tests/appliance/test_service.py follows the page there",
    "nix ": "needs nixpkgs; tests/nix evaluates the configurations, scripts/verify-on-nixos builds them",
    "nixos-rebuild": "needs a machine with NixOS",
    "ssh root@": "needs another machine: tests/nix/test_update.py runs what is typed there",
    "zstdcat ": "writes an image to a memory card",
    "parachute sandbox build": "needs Podman, mmdebstrap and Debian's packages from the network: tests/sandbox/image builds one",
    "parachute sandbox shell": "needs the containers' image: tests/appliance enters one",
    "parachute sandbox explain": "shows a container that was tampered with: tests/sandbox/engines makes and explains some",
    "parachute phone": "waits for a phone: tests/ops/phone connects one from a network of its own",
    "parachute backup kit --check": "asks for the password that is on paper: tests/ops/backup types it",
    "~/mcp/calendar/bin/pip install": "needs the network",
}


def reason(command: str) -> str | None:
    """Return the reason why a line is not typed, or None if it is."""
    return next((why for beginning, why in ELSEWHERE.items() if command.startswith(beginning)), None)
