"""The audit log: who did what, one file a day."""
