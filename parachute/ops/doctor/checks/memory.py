"""Free memory, and pressure on it."""

import re

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, problem, warning

_LEAST_MEGABYTES, _FEW_MEGABYTES = 100, 300
_PRESSURE = 10.0
"""Percent of the last minute in which every program waited for memory."""


@check("Memory", Group.MACHINE)
def examine(computer: Computer) -> Result:
    text = computer.read("/proc/meminfo")
    sizes = {name: int(size) >> 10 for name, size in re.findall(r"^(\w+):\s+(\d+) kB$", text or "", re.MULTILINE)}
    if "MemAvailable" not in sizes or "MemTotal" not in sizes:
        raise NotApplicable("The free memory cannot be read on this system.")
    available, total = sizes["MemAvailable"], sizes["MemTotal"]
    pressure = re.search(r"^full .*avg60=([0-9.]+)", computer.read("/proc/pressure/memory") or "", re.MULTILINE)
    less = (
        "End programs that you do not need, or let fewer agents be kept: `parachute config set agents.warm 1`, "
        "`parachute config set sandbox.total_memory_megabytes 1024`."
    )
    if sizes["MemAvailable"] < _LEAST_MEGABYTES:
        return problem(f"Memory is nearly full: {available:,} MB of {total:,} MB are available.", less)
    if pressure and float(pressure[1]) > _PRESSURE:
        return warning(
            f"Programs spend time waiting for memory: {float(pressure[1]):.0f} percent of the time; {available:,} MB of {total:,} MB are available.",
            less,
        )
    if sizes["MemAvailable"] < _FEW_MEGABYTES:
        return warning(f"Memory is low: {available:,} MB of {total:,} MB are available.", less)
    return ok(f"{available:,} MB of {total:,} MB are available.")
