"""The confined process that transcribes on this machine: it decodes recordings, and runs the model of the owner's folder."""
