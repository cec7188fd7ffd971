"""Transcriptions beside chats, and what is found out of settings and folders without starting anything."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import get_args

import pytest

from parachute.automation.transcription import store as transcription_store
from parachute.automation.transcription.check import check
from parachute.automation.transcription.journal import JournalTexts, as_subtitles
from parachute.automation.transcription.model_folder import KINDS, ModelUnavailable, read_model
from parachute.automation.transcription.models import Segment, State, Transcription
from parachute.automation.transcription.service import Transcriptions
from parachute.automation.transcription.store import TranscriptionStore
from parachute.base.database import Database
from parachute.config.settings.home import Home
from parachute.config.settings.models import VoiceModelKind, VoiceSettings
from parachute.config.vault.service import Vault
from parachute.events.bus import store as event_store
from parachute.events.bus.service import Events
from parachute.events.bus.store import EventStore
from parachute.modules.runtime.interfaces import Interfaces
from tests.automation.transcription.scripted_server import SAID, scripted_server
from tests.automation.transcription.sounds import write_wav
from tests.support.auditing import audit_log


class Chats:
    """Whether somebody waits for an agent."""

    active = False

    def __call__(self) -> bool:
        return self.active
