"""Telegram through python-telegram-bot's Bot: long polling brings what happens, and is confirmed once it is stored"""

from parachute.connectors.platforms.telegram.platform import Telegram

PLATFORM = Telegram
