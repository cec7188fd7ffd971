"""The vault on several devices."""
