from tests.support.trust import home, keys

__all__ = ["home", "keys"]
