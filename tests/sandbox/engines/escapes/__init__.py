"""Attempts to get out of a sandbox, as one table: every engine runs the same ones, and each has a control that succeeds outside."""
