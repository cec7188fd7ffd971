"""Conversations and notes that the owner brings from elsewhere: exports of ChatGPT and Claude, an older Parachute, Obsidian."""
