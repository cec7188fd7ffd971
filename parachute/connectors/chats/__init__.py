"""Chats of messengers that the owner let in: by their ids and never by a name, each with its conversation"""
