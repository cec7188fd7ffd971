"""Matrix through its Client-Server API: a home server of the owner's choice brings what happens, in rooms without end-to-end encryption"""

from parachute.connectors.platforms.matrix.platform import Matrix

PLATFORM = Matrix
