"""Messengers: a process for each platform that knows no session and no key, and the server's side that does"""
