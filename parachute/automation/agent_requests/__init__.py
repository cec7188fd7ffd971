"""Runs of modules' agents that begin with the owner's word: asked for, shown, answered, carried out."""
