"""Tests of the NixOS module need Nix itself, and no nixpkgs."""

import shutil

import pytest


@pytest.fixture(autouse=True, scope="session")
def _nix() -> None:
    """`make test` names what is missing."""
    if not shutil.which("nix-instantiate"):
        pytest.skip("Nix is not installed: sudo apt-get install nix-bin")
