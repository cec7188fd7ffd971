"""Rehearsals: a new version is started on copies of everything, beside the running one, and has to prove itself there"""
