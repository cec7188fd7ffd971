"""The audit log: who did what, in chained records, one file a day."""
