"""Approvals in the state directory, whichever program gave them: each leaves a record when it comes and when it goes."""
