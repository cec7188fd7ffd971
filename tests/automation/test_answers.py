"""The answers of the wing's routes: each has a type, from which the console has its own."""

from importlib import import_module
from pathlib import Path
from typing import get_origin, get_type_hints

import pytest
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

import parachute.automation

APIS = sorted(path.parent.name for path in Path(parachute.automation.__path__[0]).glob("*/api.py"))


@pytest.mark.parametrize("noun", APIS)
def test_every_route_declares_its_answer(noun: str) -> None:
    routes = import_module(f"parachute.automation.{noun}.api").router.routes
    answers = {route.name: get_type_hints(route.endpoint)["return"] for route in routes if isinstance(route, APIRoute)}
    assert answers
    assert not [name for name, answer in answers.items() if (get_origin(answer) or answer) is dict]
    for answer in answers.values():
        assert TypeAdapter(answer).json_schema(mode="serialization")
