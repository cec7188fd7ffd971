"""The launcher of the transcriber's process in its sandbox, started by its socket: `python -m parachute.automation.transcription.launch`."""

import os
import shutil
import sys

from parachute.automation.transcription.process.settings import VoiceSettings
from parachute.base.errors import ParachuteError, Unavailable
from parachute.sandbox.engines.bubblewrap import (
    ISOLATION,
    interpreter,
    kernel_files,
    library_folders,
    memory_folder,
    system_files,
)
from parachute.sandbox.engines.launch import become
from parachute.supervisor.specifications.transcriber_unit import SETTINGS

LIBRARIES = "/opt/parachute/lib"
_PACKAGES = ("parachute", "msgspec", "numpy", "av", "sherpa_onnx")
_MODULE = "parachute.automation.transcription.process"
_START = (
    f"import sys; sys.path.append({LIBRARIES!r}); sys.argv[0] = {_MODULE!r}; import runpy; "
    f"runpy.run_module({_MODULE!r}, run_name='__main__', alter_sys=False)"
)


def main() -> None:
    """Replace this process by bubblewrap; without it nothing is decoded, since recordings come from anybody."""
    try:
        settings = VoiceSettings.from_environment(os.environ)
        if not shutil.which("bwrap"):
            raise Unavailable(
                "Without bubblewrap nothing can hold the decoder of recordings back.",
                "`sudo apt-get install bubblewrap` installs it on Debian and Ubuntu.",
                key="no_confinement",
            )
        become(command(settings))
    except (ParachuteError, OSError) as error:
        print(f"The transcriber cannot be started: {error}", file=sys.stderr)  # noqa: T201 - kept by the supervisor
        sys.exit(2)


def command(settings: VoiceSettings) -> list[str]:
    """The command line of the sandbox: the program, its libraries, the model's folder to read, and no network."""
    arguments = ["bwrap", *ISOLATION, *kernel_files()]
    # First, since what follows may lie below them: a model in /tmp.
    for folder, megabytes in (("/tmp", 64), ("/run", 16)):  # noqa: S108 - inside of the sandbox
        arguments += memory_folder(folder, megabytes)
    arguments += system_files()
    for name, folder in _library_folders().items():
        arguments += ["--ro-bind", folder, f"{LIBRARIES}/{name}"]
    arguments += ["--ro-bind-try", str(settings.model), str(settings.model)]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]
    environment = {"HOME": "/tmp", "LANG": "C.UTF-8", "LISTEN_FDS": "1", "PATH": "/usr/bin:/bin"}  # noqa: S108 - as above
    environment |= {name: os.environ[name] for name in sorted(SETTINGS) if name in os.environ}
    for name, value in environment.items():
        arguments += ["--setenv", name, value]
    return [*arguments, "--", interpreter(), "-ISB", "-c", _START]


def _library_folders() -> dict[str, str]:
    found = library_folders(_PACKAGES)
    for name in [each for each in _PACKAGES if each not in found]:
        raise Unavailable(
            f"The package {name} is not installed.",
            "Install it with pip install 'parachute-computer[voice]'.",
            key="package_missing",
        )
    return found


if __name__ == "__main__":
    main()
