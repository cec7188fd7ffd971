"""Letting the devices of a home network in: address, key, encryption and restart in one request, and the way back"""
