"""Permissions, keys, trust levels, the audit log and the kill switch."""
