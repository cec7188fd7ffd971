"""`parachute service` where there is no systemd; the rest is seen in the booted appliance."""

from pathlib import Path

from .terminal import Terminal


def test_without_systemd_nothing_is_written_and_the_answer_says_what_to_do(parachute: Terminal, tmp_path: Path) -> None:
    said = parachute.fails("service", "install", PATH=str(tmp_path))
    assert "There is no systemd on this machine." in said
    assert "parachute start" in said
    assert not Path(parachute.environment["HOME"], ".config").exists()


def test_uninstalling_what_is_not_installed_says_so(parachute: Terminal) -> None:
    assert parachute.ok("service", "uninstall") == "No services are installed.\n"
    assert '"removed": []' in parachute.ok("service", "uninstall", "--json")
