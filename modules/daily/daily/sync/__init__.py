"""The same journal on several devices."""
