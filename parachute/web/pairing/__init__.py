"""Pairing: signing a browser in by a code that is shown where somebody is in already, and confirming that its owner is there"""
