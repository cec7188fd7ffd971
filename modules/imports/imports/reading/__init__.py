"""Readers of exports, which anybody may have written: they run in the module's own sandbox and trust nothing."""
