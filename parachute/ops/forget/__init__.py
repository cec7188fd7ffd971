"""Forgetting of words: a survey of every place that holds them, the owner's choices, removal between two starts, and its proof."""
