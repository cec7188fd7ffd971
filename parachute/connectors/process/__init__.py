"""The process of one connector: its confinement, its platform's loop, and what the server asks of it"""
