"""Its being here lets the tests import module.py."""
