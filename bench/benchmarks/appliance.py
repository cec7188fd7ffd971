"""A computer as an appliance: what it needs while nobody asks, and how long after its power it answers."""

from collections.abc import Iterator
from statistics import median

from bench import guest
from bench.appliance import booted, installed
from bench.results import NotMeasurable, Result

_BOOTS = 3


def measure() -> Iterator[Result]:
    """Medians over boots of the guest under systemd-nspawn, with the three modules; the kernel's own start is not in it."""
    if not guest.is_of_use():
        raise NotMeasurable("It needs root, and the guest that `make appliance` builds.")
    seconds, megabytes, first = [], [], []
    with installed() as folder:
        for _ in range(_BOOTS):
            with booted(folder) as appliance:
                seconds.append(appliance.seconds)
                megabytes.append(appliance.idle_megabytes())
                with appliance.computer.serving("model", "tests.appliance.scripted_model") as url:
                    appliance.computer.use_model(url, agents__spare="true")
                    appliance.computer.run("parachute restart")
                    first.append(appliance.seconds_to_first_text())
    yield Result("appliance.boot_to_healthy", median(seconds), "s", budget=30)
    yield Result("appliance.idle_memory", median(megabytes), "MB", budget=120)
    yield Result("appliance.first_text", median(first), "s")
