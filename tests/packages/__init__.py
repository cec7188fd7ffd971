"""Tests of what `packages/` builds, without building it."""
