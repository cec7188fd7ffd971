"""The record of who did what, one file a day."""
