"""Discord through discord.py: the gateway brings what happens, REST writes and looks up what was missed"""

from parachute.connectors.platforms.discord.platform import Discord

PLATFORM = Discord
