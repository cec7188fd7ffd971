"""The program as one executable file, which a sandbox can mount."""

import compileall
import shutil
import tempfile
import zipapp
from functools import cache
from pathlib import Path

from parachute.sandbox.engines.bubblewrap import interpreter

_NAME = "scripted_program"


@cache
def scripted_program() -> Path:
    """The path of the program, made once for this process and removed with it."""
    folder = Path(tempfile.mkdtemp(prefix="parachute-agent-"))
    _removed_at_the_end(folder)
    source = folder / "source"
    shutil.copytree(Path(__file__).parent / "program", source / _NAME, ignore=shutil.ignore_patterns("__pycache__"))
    (source / "__main__.py").write_text(f"from {_NAME}.main import main\n\nmain()\n")
    # Beside their sources, where an archive is looked through: compiling takes longer than all that the program does.
    compileall.compile_dir(source, quiet=1, legacy=True)
    program = folder / "agent"
    zipapp.create_archive(source, program, interpreter=f"{interpreter()} -IS")
    program.chmod(0o755)
    return program


def _removed_at_the_end(folder: Path) -> None:
    import atexit

    atexit.register(shutil.rmtree, folder, ignore_errors=True)
