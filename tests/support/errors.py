"""Errors of ours by their key: their sentences may change."""

import pytest

from parachute.base.errors import ParachuteError


def raises(key: str, names: str | None = None) -> pytest.RaisesExc[ParachuteError]:
    """See that the block fails with the error of this key, and names a file, a line or a field by this pattern."""

    def has_key(error: ParachuteError) -> bool:
        assert error.key == key, repr(error)
        return True

    return pytest.raises(ParachuteError, match=names, check=has_key)
