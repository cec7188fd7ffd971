"""Connectors from the server's side: their units, what they hand over, and what they are told to send"""
