"""Agents and skills of whole conversations."""
