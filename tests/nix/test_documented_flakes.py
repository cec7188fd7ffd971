"""The configurations that docs/appliance.md, docs/nixos.md and README.md name are configurations."""

import re
import shutil
from pathlib import Path

import pytest

from tests.nix.flake import ROOT, Flake

pytestmark = [
    pytest.mark.skipif(
        not shutil.which("nix"), reason="needs the system package nix-bin: `make test-deps` installs it"
    ),
    pytest.mark.long,
]
_PAGE = (ROOT / "docs" / "appliance.md").read_text()
_EXAMPLES = [(ROOT / "nixos" / "templates" / name / "flake.nix").read_text() for name in ("appliance", "server")]
(_IMPORT,) = re.findall(r"```nix\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
_CONFIGURATION = """
{
  nixpkgs.hostPlatform = "x86_64-linux";
  system.stateVersion = "26.05";
  fileSystems."/" = { device = "/dev/sda1"; fsType = "ext4"; };
}
"""


_CARD, _SERVER = (
    f"nixosConfigurations.{name}.config.system.build.toplevel.drvPath" for name in ("parachute", "server")
)


@pytest.fixture(scope="module")
def flake(tmp_path_factory: pytest.TempPathFactory) -> Flake:
    return Flake(tmp_path_factory.mktemp("documented"))


def evaluated(flake: Flake, text: str, folder: Path, output: str, *, follows: bool = False) -> str:
    """An output of a user's flake, with nixpkgs' own refusals."""
    (folder / "flake.nix").write_text(text)
    (folder / "configuration.nix").write_text(_CONFIGURATION)
    done = flake.run_in(folder, "eval", "--raw", f"path:.#{output}", follows=follows)
    assert done.returncode == 0, done.stderr
    return done.stdout


_LATER = """
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.11";
  inputs.parachute.inputs.nixpkgs.follows = "nixpkgs";
"""


def test_a_newer_nixpkgs_is_followed_as_the_page_says(flake: Flake, tmp_path: Path) -> None:
    for line in _LATER.strip().splitlines():
        assert f"`{line.strip()}`" in _PAGE
    text = _EXAMPLES[0].replace("\n\n  outputs", f"{_LATER}\n  outputs", 1)
    assert evaluated(flake, text, tmp_path, _CARD, follows=True).endswith(".drv")
    with pytest.raises(AssertionError, match="github"):
        evaluated(flake, _EXAMPLES[0], tmp_path, _CARD, follows=True)


@pytest.mark.parametrize("template", ["appliance", "server", "home"])
def test_nix_writes_what_the_page_names(flake: Flake, tmp_path: Path, template: str) -> None:
    page = (ROOT / "docs" / ("nixos.md" if template == "home" else "appliance.md")).read_text()
    assert f"nix flake init --template git+file:///home/me/parachute#{template}" in page
    done = flake.init(tmp_path, template)
    assert done.returncode == 0, done.stderr
    assert f"nixos/templates/{template}" in page
    assert (tmp_path / "flake.nix").read_text() == (ROOT / "nixos" / "templates" / template / "flake.nix").read_text()


def test_a_user_of_home_manager(flake: Flake, tmp_path: Path) -> None:
    text = (ROOT / "nixos" / "templates" / "home" / "flake.nix").read_text()
    output = "homeConfigurations.alice.activationPackage.drvPath"
    assert evaluated(flake, text, tmp_path, output).endswith(".drv")
    with pytest.raises(AssertionError, match="unfree"):
        evaluated(
            flake,
            text.replace("allowUnfreePredicate = package:", "allowUnfreePredicate = package: false &&"),
            tmp_path,
            output,
        )


def test_a_card_of_ones_own(flake: Flake, tmp_path: Path) -> None:
    assert evaluated(flake, _EXAMPLES[0], tmp_path, _CARD).endswith(".drv")
    for other in ("rpi5", "server"):
        text = _EXAMPLES[0].replace("nixosConfigurations.rpi4", f"nixosConfigurations.{other}")
        assert evaluated(flake, text, tmp_path, _CARD).endswith(".drv")


def test_one_import_on_a_home_server(flake: Flake, tmp_path: Path) -> None:
    assert evaluated(flake, _EXAMPLES[1], tmp_path, _SERVER).endswith(".drv")
    wrong = _EXAMPLES[1].replace("acceptUnfreeAgent = true;", "")
    with pytest.raises(AssertionError, match=r"services\.parachute\.acceptUnfreeAgent"):
        evaluated(flake, wrong, tmp_path, _SERVER)


def test_the_import_that_the_readme_shows(flake: Flake, tmp_path: Path) -> None:
    """In the place of the one of the page, with its permission for what is not free software."""
    imported = re.sub(r"services\.parachute = \{.*?\};", "", _EXAMPLES[1], flags=re.DOTALL)
    text = imported.replace("parachute.nixosModules.default", f"{{\n{_IMPORT}}}")
    assert text.count(_IMPORT) == 1
    assert evaluated(flake, text, tmp_path, _SERVER).endswith(".drv")
