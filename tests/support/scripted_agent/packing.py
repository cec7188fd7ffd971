"""The program as one executable file, which a sandbox can mount."""

import compileall
import hashlib
import shutil
import tempfile
import zipapp
from functools import cache
from pathlib import Path

from parachute.sandbox.engines.bubblewrap import interpreter
from tests.appliance import recipe

_NAME = "scripted_program"
_SOURCES = Path(__file__).parent / "program"


@cache
def scripted_program() -> Path:
    """The path of the program in the cache of the tests; made where none of these sources is there."""
    digest = hashlib.sha256(interpreter().encode())
    for path in sorted(_SOURCES.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    program = recipe.cache() / f"scripted-agent-{digest.hexdigest()[:16]}"
    if not program.exists():
        recipe.cache().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="agent-", dir=recipe.cache()) as folder:
            # By a rename, since other workers look for it at the same time.
            _made(Path(folder)).rename(program)
    return program


def _made(folder: Path) -> Path:
    source = folder / "source"
    shutil.copytree(_SOURCES, source / _NAME, ignore=shutil.ignore_patterns("__pycache__"))
    (source / "__main__.py").write_text(f"from {_NAME}.main import main\n\nmain()\n")
    # Beside their sources, where an archive is looked through: compiling takes longer than all that the program does.
    compileall.compile_dir(source, quiet=1, legacy=True)
    program = folder / "agent"
    zipapp.create_archive(source, program, interpreter=f"{interpreter()} -IS")
    program.chmod(0o755)
    return program
