"""Para-ids: stable names for things that modules own, `para:{module}:{12 letters and digits}` (spec 000, "Para-ID System")."""

import hashlib
import re
import secrets
import string
from dataclasses import dataclass

from parachute.base.errors import InvalidInput

_ALPHABET = string.ascii_lowercase + string.digits
_LENGTH = 12
_FORM = re.compile(r"para:([a-z][a-z0-9_-]{0,39}):([a-z0-9]{12})")


@dataclass(frozen=True, slots=True)
class ParaId:
    """The id of one thing; `module` knows where it is."""

    module: str
    name: str

    @classmethod
    def new(cls, module: str) -> "ParaId":
        """An id that nobody has: 62 bits of chance."""
        return cls(module, "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH)))

    @classmethod
    def of(cls, module: str, name: str) -> "ParaId":
        """The id of something that has another name already: the same one each time."""
        return cls(module, hashlib.sha256(name.encode()).hexdigest()[:_LENGTH])

    @classmethod
    def parse(cls, text: str) -> "ParaId":
        """Read an id; error: InvalidInput."""
        match = _FORM.fullmatch(text)
        if not match:
            raise InvalidInput(
                f"para-id: expected `para:module:` and 12 letters or digits, not {text[:80]!r}.", key="para_id_invalid"
            )
        return cls(match[1], match[2])

    def __str__(self) -> str:
        return f"para:{self.module}:{self.name}"
