"""People and groups that the owner does not know yet: a code and one sentence, and nothing of what they wrote"""
