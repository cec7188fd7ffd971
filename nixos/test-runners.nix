# Where Python finds pytest and what pyproject.toml sets for it; nixpkgs' own, with the packages of python/.
{ python }:
python.pkgs.makePythonPath [
  python.pkgs.hypothesis
  python.pkgs.packaging
  python.pkgs.psutil
  python.pkgs.pytest
  python.pkgs.pytest-asyncio
  python.pkgs.pytest-timeout
  python.pkgs.pytest-xdist
]
