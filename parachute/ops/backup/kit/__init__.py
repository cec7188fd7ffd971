"""The emergency kit: a page with what opens the backups on a new computer, and the proof that it does"""
