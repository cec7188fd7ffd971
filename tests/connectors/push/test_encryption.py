"""Encryption of a notice, against the example of RFC 8291, appendix A."""

from cryptography.hazmat.primitives.asymmetric import ec

from parachute.connectors.push.encryption import encrypted
from parachute.connectors.push.models import decoded, encoded

MESSAGE = b"When I grow up, I want to be a watermelon"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
KEY = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
SECRET = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
ENCRYPTED = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95b"
    "Qpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_the_example_of_the_standard() -> None:
    sender = ec.derive_private_key(int.from_bytes(decoded(SENDER)), ec.SECP256R1())
    made = encrypted(MESSAGE, decoded(KEY), decoded(SECRET), sender=sender, salt=decoded(SALT), block=1)
    assert encoded(made) == ENCRYPTED


def test_the_length_says_nothing_and_no_two_are_alike() -> None:
    made = [encrypted(each, decoded(KEY), decoded(SECRET)) for each in (b"", b"a", MESSAGE, MESSAGE)]
    assert len({len(each) for each in made}) == 1
    assert len({each[:86] for each in made}) == 4
