"""A vault with tasks, and the services that find and tick them."""

from tests.files.conftest import files, make_files

__all__ = ["files", "make_files"]
