"""Conversations of chats: messages become runs, and their answers go back as they grow"""
