"""Dataclasses whose methods are compiled late are as any other, and nothing of them is compiled before it is used."""

import json
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.process

CLASSES = """
from dataclasses import InitVar, dataclass, field, fields, replace
import abc, copy, functools, inspect, json, pickle, sys

@dataclass(frozen=True, slots=True)
class Point:
    '''A place.'''
    x: int
    y: int = 0
    names: tuple[str, ...] = field(default=(), compare=False)

@dataclass(frozen=True, slots=True, order=True)
class Deep(Point):
    '''One more.'''
    z: int = 0
    def length(self):
        return Point.__hash__(self) is not None and self.x + self.y + self.z

@dataclass(slots=True, kw_only=True)
class Open:
    '''One more.'''
    start: InitVar[int]
    items: list[int] = field(default_factory=list)
    def __post_init__(self, start):
        self.items.append(start)

@dataclass
class Own:
    '''One more.'''
    self: str
    def __repr__(self):
        return 'own'

class Kind(abc.ABC):
    @abc.abstractmethod
    def name(self): ...

@dataclass(frozen=True)
class Named(Kind):
    '''One more.'''
    text: str
    @functools.cached_property
    def long(self):
        return self.text * 2
    def name(self):
        return self.text
"""

WITH = """
import sys
from parachute.base.late_methods import compile_late
compiled = []
sys.addaudithook(lambda event, given: event == "compile" and "__create_fn__" in str(given[0]) and compiled.append(given))
compile_late()
"""

USED = """
def refused(action):
    try:
        action()
    except Exception as error:
        return type(error).__name__, str(error)

point, deep = Point(1, names=("a",)), Deep(1, 2, z=3)
found = [
    repr(point), point == Point(1), point == Point(2), point != deep, hash(point) == hash(Point(1, 0)),
    Deep(1) < deep, sorted([deep, Deep(0)])[0].x, deep.length(), repr(replace(deep, z=9)),
    refused(lambda: setattr(point, "x", 2)), refused(lambda: delattr(point, "x")), refused(lambda: Point()),
    refused(lambda: Deep(1) < 2), refused(lambda: Open(5)), refused(Kind),
    Open(start=1) == Open(start=1), Open(start=1) == Open(start=2), refused(lambda: hash(Open(start=1))),
    repr(Own("x")), Own("x") == Own("x"), Named("a").name(), Named("a").long, repr(Named("a")),
    refused(lambda: setattr(Named("a"), "text", "b")),
    pickle.loads(pickle.dumps(deep)) == deep, copy.deepcopy(point) == point,
    str(inspect.signature(Point)), str(inspect.signature(Open)), Point.__init__.__qualname__, Deep.__lt__.__qualname__,
    Point.__match_args__, [each.name for each in fields(Deep)], Point.__doc__, hash(deep) == Deep.__hash__(deep),
]
"""


# The standard library asks for the signature of a class that has no docstring: all of ours have one.


def result(program: str) -> Any:
    return json.loads(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="they are compiled at once there")
def test_no_method_is_compiled_before_it_is_used() -> None:
    program = WITH + CLASSES + "before = len(compiled)\nPoint(1)\nprint(json.dumps([before, len(compiled) > 0]))"
    assert result(program) == [0, True]


def test_nobody_sees_that_they_are_compiled_late() -> None:
    shown = CLASSES + USED + "print(json.dumps(found))"
    assert result(WITH + shown) == result(shown)


def test_a_late_method_is_replaced_by_the_method() -> None:
    program = WITH + CLASSES + "Point(1) == Point(2)\nprint(json.dumps([str(type(Point.__dict__[name]).__name__)"
    program += ' for name in ("__init__", "__eq__")]))'
    assert result(program) == ["function", "function"]
