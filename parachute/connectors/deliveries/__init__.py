"""Deliveries to chats: the queue survives restarts, is tried again, and the owner sees what could not be delivered"""
