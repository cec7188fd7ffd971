"""Notices to devices that are signed in, also to closed ones: Web Push (RFC 8030), encrypted to the device (RFC 8291)"""
