"""Our own small module system says what nixpkgs' says; with NIXPKGS_LIB only, as no machine here has nixpkgs."""

from pathlib import Path

import pytest

from tests.nix.evaluation import EXAMPLES, evaluate, options
from tests.nix.real_lib import REAL_LIB

pytestmark = pytest.mark.skipif(not REAL_LIB, reason="NIXPKGS_LIB is not set")


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.nix")), ids=lambda path: path.name)
def test_the_examples_come_out_the_same(example: Path) -> None:
    assert evaluate(example, lib=REAL_LIB) == evaluate(example)


def test_so_do_the_options() -> None:
    def comparable(lib: Path | None) -> dict[str, object]:
        return {each["name"]: (each["description"], each["default"], each["example"]) for each in options(lib)}

    assert comparable(REAL_LIB) == comparable(None)
