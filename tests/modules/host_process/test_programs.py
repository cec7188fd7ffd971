"""A module whose consent screen named no programs cannot start any, whatever it tries."""

import pytest

from tests.conftest import needs_bubblewrap
from tests.modules.host_process.activator import hosted

pytestmark = pytest.mark.process

MODULE = """
import asyncio, ctypes, os, subprocess, threading
from parachute.core import Module, route

def attempt(how):
    try:
        return str(how())
    except OSError as error:
        return error.strerror

def forked():
    # The error of a child is told by its exit code.
    child = os.fork()
    if child == 0:
        try:
            os.execv("/bin/true", ["true"])
        except OSError as error:
            os._exit(100 + error.errno)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def by_descriptor():
    child = os.fork()
    if child == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        opened = os.open("/bin/true", os.O_RDONLY)
        arguments = (ctypes.c_char_p * 2)(b"true", None)
        libc.fexecve(opened, arguments, (ctypes.c_char_p * 1)(None))
        os._exit(100 + ctypes.get_errno())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

class Starter(Module):
    name = "starter"
    version = "1.0.0"

    @route("GET", "/loop")
    async def loop(self):
        try:
            process = await asyncio.create_subprocess_exec("/bin/true")
            return {"found": str(await process.wait())}
        except OSError as error:
            return {"found": error.strerror}

    @route("GET", "/{how}")
    def start(self, how: str):
        ways = {
            "subprocess": lambda: subprocess.run(["/bin/true"]).returncode,
            "spawn": lambda: os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1]),
            "fork": forked,
            "descriptor": by_descriptor,
        }
        found = []
        thread = threading.Thread(target=lambda: found.append(attempt(ways[how])))
        thread.start()
        thread.join()
        return {"found": found[0]}
"""
REFUSED = {
    "loop": "Operation not permitted",
    "subprocess": "Operation not permitted",
    "spawn": "Operation not permitted",
    "fork": "101",
    "descriptor": "101",
}


@pytest.mark.parametrize("box", [False, pytest.param(True, marks=needs_bubblewrap)])
@pytest.mark.parametrize("programs", [False, True])
def test_programs_start_only_where_the_user_agreed(box: bool, programs: bool) -> None:
    with hosted("starter", MODULE, box=box, changes={"programs": programs}) as starter:
        for how, refused in REFUSED.items():
            found = starter.get(f"/{how}").json()["found"]
            assert found == ("0" if programs else refused), how
