"""Records that routes return: their JSON, and its description for the API, follow from the types of their fields."""

from functools import cache
from typing import TYPE_CHECKING, Any, get_type_hints

from msgspec import Struct, to_builtins
from msgspec.structs import fields

if TYPE_CHECKING:  # pydantic, for which no small process should wait
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class Answer(Struct, frozen=True):
    """The base of such records; they hold other ones, lists and dictionaries of these, and what JSON knows."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        """Describe the record as a dictionary of which every key is there (pydantic's protocol for types of others)."""
        from pydantic_core.core_schema import no_info_before_validator_function

        return no_info_before_validator_function(_plain, handler.generate_schema(_shape(cls)))


class Done(Answer, frozen=True):
    """The request was carried out."""

    success: bool = True


@cache  # one for each record: a record may hold others of its kind
def _shape(record: type[Answer]) -> Any:
    from typing_extensions import TypedDict

    types = get_type_hints(record, include_extras=True)
    shape = TypedDict(record.__name__, {field.encode_name: types[field.name] for field in fields(record)})  # type: ignore[misc]
    shape.__doc__, shape.__module__ = record.__doc__, record.__module__
    return shape


def _plain(value: object) -> object:
    return to_builtins(value) if isinstance(value, Struct) else value
