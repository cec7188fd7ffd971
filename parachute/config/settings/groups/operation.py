"""Running the computer: backups, updates, TLS and the audit log."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from parachute.config.settings.groups.values import ExpandedPath, Group, TimeOfDay


def _repository(value: str) -> str:
    if re.fullmatch(r"(sftp|rest|s3|b2|azure|gs|swift|rclone):[^\0\n]+", value):
        return value
    if "\0" in value or "\n" in value or not Path(value.removeprefix("local:")).expanduser().is_absolute():
        raise ValueError("expected a folder from / on, or what else restic takes, such as sftp:me@host:/backup")
    return str(Path(value.removeprefix("local:")).expanduser())


class BackupSettings(Group):
    """Repository, schedule and retention of backups."""

    repository: Annotated[str | None, AfterValidator(lambda value: value and _repository(value))] = Field(
        title="Where backups go",
        default=None,
        min_length=1,
        description="Where backups go: a folder on another disk, or what else restic takes, such as sftp:me@host:/backup.",
    )
    password_file: ExpandedPath | None = Field(
        title="File with the password",
        default=None,
        description="The file with the repository's password; empty for ~/.parachute/backup/password.",
    )
    environment_file: ExpandedPath | None = Field(
        title="File with access to the place",
        default=None,
        description="A file with lines NAME=value, such as AWS_ACCESS_KEY_ID=…, which a remote repository needs.",
    )
    time: Annotated[str, TimeOfDay] = Field(
        title="Back up each day at",
        default="03:30",
        description="When each day `parachute service install` has a backup made.",
    )
    drill: Literal["weekly", "monthly"] = Field(
        title="Try restoring",
        default="monthly",
        description="How often the newest backup is restored as a test.",
    )
    keep_daily: int = Field(
        title="Daily backups to keep", default=7, ge=1, le=10000, description="How many daily backups to keep."
    )
    keep_weekly: int = Field(
        title="Weekly backups to keep", default=5, ge=0, le=10000, description="How many weekly backups to keep."
    )
    keep_monthly: int = Field(
        title="Monthly backups to keep", default=12, ge=0, le=10000, description="How many monthly backups to keep."
    )
    prune: bool = Field(title="Remove old backups", default=True, description="Each backup removes expired ones.")


class UpdateSettings(Group):
    """Source of new versions, and the length of their probation."""

    source: ExpandedPath | None = Field(
        title="Where new versions come from",
        default=None,
        description="A clone of the repository or a wheel that `parachute update` takes; empty for the clone that this program came from.",
    )
    automatic: bool = Field(title="Update each night", default=False, description="Install new versions at night.")
    time: Annotated[str, TimeOfDay] = Field(title="Update at", default="04:30", description="When that is, as HH:MM.")
    probation_minutes: float = Field(
        title="Watch a new version for",
        default=15,
        ge=0.02,
        le=1440,
        description="How long a new version is on probation; until then the old one comes back by itself if the new one fails.",
    )


class TlsSettings(Group):
    """TLS on the same port as HTTP."""

    enabled: bool | None = Field(
        title="Encryption (https)",
        default=None,
        description="Answer https:// as well, with a certificate of this home's own authority; empty for yes "
        "if other machines can connect.",
    )
    certificate: ExpandedPath | None = Field(
        title="Certificate of your own",
        default=None,
        description="A certificate (PEM, with those between it and its root) for a name of your own, beside the home's.",
    )
    key: ExpandedPath | None = Field(
        title="Key of that certificate",
        default=None,
        description="The key of that certificate, without a password; empty if it is in the same file.",
    )


class AuditSettings(Group):
    """Retention of the audit log, in whole days."""

    keep_days: int = Field(
        title="Keep the audit log for",
        default=90,
        ge=1,
        le=3650,
        description="Days for which records of the audit log are kept.",
    )
    keep_megabytes: int = Field(
        title="Space for the audit log",
        default=500,
        ge=1,
        le=1024 * 1024,
        description="Most disk space for the audit log; the oldest days are dropped first.",
    )
