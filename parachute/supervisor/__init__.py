"""The supervisor: units, the two launchers (systemd, own children), logs and the control socket; neither FastAPI nor pydantic."""
