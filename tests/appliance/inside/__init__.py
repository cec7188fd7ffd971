"""Tests that are run in the guest, by those of the folder above."""
