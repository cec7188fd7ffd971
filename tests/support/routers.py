"""The routers of the server's table of routes."""

from fastapi import APIRouter

from parachute.server.routes import ROUTES


def routers() -> tuple[APIRouter, ...]:
    """Every router of the table, once."""
    found = {id(router): router for line in ROUTES.values() for router in (find() for find in line)}
    return tuple(found.values())
