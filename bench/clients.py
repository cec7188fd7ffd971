"""`python -m bench.clients PORT COUNT SECONDS PATH…`: clients that ask one path after the other, in a process of their own."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

from bench.connection import Connection


def main() -> None:
    """Ask until the time is over."""
    port, count, seconds, *paths = sys.argv[1:]
    end = time.monotonic() + float(seconds)

    def ask(number: int) -> int:
        with Connection(int(port)) as connection:
            asked = number
            while time.monotonic() < end:
                connection.get(paths[asked % len(paths)])
                asked += 1
        return asked - number

    with ThreadPoolExecutor(int(count)) as pool:
        print(sum(pool.map(ask, range(int(count)))))


if __name__ == "__main__":
    main()
