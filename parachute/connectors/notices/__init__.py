"""Notices to the owner: inbox items in the owner's own chat, answered there by buttons"""
