"""Transcription: recordings become text, by the owner's server or by a model in a confined process on this machine."""
