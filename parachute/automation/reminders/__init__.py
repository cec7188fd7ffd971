"""Reminders: lines that become an item of the inbox at their time, without any model."""
