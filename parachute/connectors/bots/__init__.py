"""Bots: starting, stopping and trying them, what they are doing, and the routes of all of it"""
