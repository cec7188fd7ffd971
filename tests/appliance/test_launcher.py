"""Inside of the guest: the launcher for systemd in its user manager, and Podman as builds of images use it."""

import re

from testinfra.host import Host

from tests.appliance.recipe import ENVIRONMENT, SOURCE


def test_its_tests_pass_in_the_guest(user: Host) -> None:
    passed(user, "")


def passed(user: Host, file: str) -> None:
    """See that tests of the folder `inside` pass, those of a file or all."""
    # The tree is not writable there, and the two processors are shared.
    tests = f"cd {SOURCE} && {ENVIRONMENT}/bin/python -m pytest -p no:cacheprovider -q tests/appliance/inside/{file}"
    done = user.run(tests, seconds=800)
    assert done.rc == 0, done.stdout + done.stderr
    found = re.search(r"(\d+) passed", done.stdout)
    assert found, done.stdout
    assert int(found[1]) > 15
