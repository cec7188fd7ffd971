"""Exports of journals, and mails, in the shape that these programs write; made here."""

import base64
import hashlib
import io
import json
import zipfile
from typing import Any

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SOUND, VIDEO, PDF = b"\0\0\0\x1cftypM4A sound", b"\0\0\0\x14ftypqt  video", b"%PDF-1.4 a paper"


def archive(files: dict[str, bytes]) -> bytes:
    """A ZIP archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return made.getvalue()


def md5(data: bytes) -> str:
    """The name that Day One gives a file."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def dayone_entry(
    uuid: str, created: str = "2017-06-28T15:38:37Z", text: str = "Hot springs.", **more: Any
) -> dict[str, Any]:
    """An entry, with what each has."""
    return {
        "uuid": uuid,
        "creationDate": created,
        "modifiedDate": created,
        "timeZone": "Asia/Taipei",
        "starred": False,
        "isPinned": False,
        "isAllDay": False,
        "duration": 0,
        "creationDevice": "A phone",
        "text": text,
        **more,
    }


def rich(*contents: dict[str, Any]) -> str:
    """Rich text as it stands in an entry: JSON in a string."""
    created = {"platform": "com.bloombuilt.dayone-ios", "version": 728}
    return json.dumps({"meta": {"version": 1, "small-lines-removed": True, "created": created}, "contents": contents})


def dayone_journal(*entries: dict[str, Any]) -> bytes:
    """The JSON of one journal."""
    return json.dumps({"metadata": {"version": "1.0"}, "entries": entries}, indent=2).encode()


ISLAND = dayone_entry(
    "1546F37361264E129200B2CA6A885855",
    text="# Green Island\n\n![](dayone-moment://AD6F2A6EC10C41AEA35E94BAD169936D)\n\nTwo days\\. Then home\\!\n\n"
    "![](dayone-moment:/video/BD6F2A6EC10C41AEA35E94BAD169936D)\n\n![](dayone-moment://00000000000000000000000000000000)",
    starred=True,
    tags=["hot springs", "motorbike"],
    location={
        "region": {"center": {"longitude": 121.5, "latitude": 22.6}, "radius": 75},
        "placeName": "Zhaori",
        "localityName": "Ludao",
        "administrativeArea": "Taitung",
        "country": "Taiwan",
        "longitude": 121.50424957275391,
        "latitude": 22.636943817138672,
    },
    weather={"temperatureCelsius": 26, "conditionsDescription": "Mostly Sunny", "windSpeedKPH": 6},
    photos=[{"identifier": "AD6F2A6EC10C41AEA35E94BAD169936D", "md5": md5(PICTURE), "type": "png", "orderInEntry": 0}],
    videos=[{"identifier": "BD6F2A6EC10C41AEA35E94BAD169936D", "md5": md5(VIDEO), "type": "mov"}],
    audios=[{"identifier": "CD6F2A6EC10C41AEA35E94BAD169936D", "md5": md5(SOUND), "format": "aac", "duration": 12.4}],
    pdfAttachments=[{"identifier": "DD6F2A6EC10C41AEA35E94BAD169936D", "md5": md5(PDF), "type": "pdf"}],
)
FILES = {
    f"photos/{md5(PICTURE)}.png": PICTURE,
    f"videos/{md5(VIDEO)}.mov": VIDEO,
    f"audios/{md5(SOUND)}.m4a": SOUND,
    f"pdfs/{md5(PDF)}.pdf": PDF,
}


def dayone_zip(*entries: dict[str, Any], files: dict[str, bytes] | None = None, **journals: bytes) -> bytes:
    """An export of Day One: its journals, and all files that there are."""
    others = {f"{name}.json": data for name, data in journals.items()}
    return archive({"Journal.json": dayone_journal(*entries or (ISLAND,)), **others, **FILES, **(files or {})})


APPLE_STYLE = "p.p2 {margin: 0.0px} span.s2 {font: 17.0px} span.s3 {font-weight: bold; font-style: italic}"


def apple_page(
    header: str = "Sunday, 17 December 2023", title: str = "Old town", body: str = "", grid: str = "", prompt: str = ""
) -> bytes:
    """A page of an entry: its body lies between tags that were closed before they were opened."""
    said = (
        body
        or '<p class="p2"><span class="s2">We </span><span class="s3">walked</span><span class="s2"> all day.</span></p>'
    )
    asked = f"<div class='reflectionPrompt'>{prompt}</div>" if prompt else ""
    return (
        '<!DOCTYPE html>\n<html dir="auto">\n<head>\n<meta http-equiv="Content-Type" content="text/html; charset=UTF-8">\n'
        f'<title></title>\n<style type="text/css">{APPLE_STYLE}</style>\n</head>\n<body>\n'
        f'<p class="p1"><span class="s1"><div class=\'pageContainer\'>    <div class="pageHeader">{header}</div>'
        f"    <div class=\"assetGrid\">{grid}</div>{asked}<div class='title'>{title}</div><div class='bodyText'></span></p>\n"
        f'{said}\n<p class="p1"><span class="s1"></div></div></span></p>\n</body>\n</html>\n'
    ).encode()


APPLE_GRID = """
    <div id="LOC1" class="gridItem assetType_multiPinMap">
        <img src="../Resources/LOC1.heic" class="asset_image"/>
        <div class="gridItemOverlayFooter">Old Town Market Place</div>
    </div>
    <div id="ACT1" class="gridItem assetType_motionActivity">
        <div class="activityType">Walking</div><div class="activityMetrics">2.5 km</div>
    </div>
    <div id="MOOD1" class="gridItem assetType_stateOfMind">
        <div class="gridItemOverlayText gridItemOverlayHeader">Calm</div><img src="../Resources/MOOD1.heic"/>
    </div>
    <div id="IMG1" class="gridItem assetType_livePhoto"><img src="../Resources/IMG1.png" class="asset_image"/></div>
    <div id="VID1" class="gridItem assetType_video"><video class="asset_video">
        <source src="../Resources/VID1.mov" type="video/mp4"/></video></div>
    <div id="GONE" class="gridItem assetType_photo"><img src="../Resources/GONE.heic"/></div>
"""


def apple_zip(**pages: bytes) -> bytes:
    """An export of Apple Journal, with some pages by their names."""
    found = pages or {"2023-12-17_Old_town": apple_page(grid=APPLE_GRID, prompt="How was your day?")}
    visit = {
        "visits": [{"placeName": "Old Town Market Place", "city": "Warsaw", "latitude": 52.2497, "longitude": 21.0122}]
    }
    return archive(
        {
            "AppleJournalEntries/index.html": b"<html></html>",
            **{f"AppleJournalEntries/Entries/{name}.html": data for name, data in found.items()},
            "AppleJournalEntries/Resources/IMG1.png": PICTURE,
            "AppleJournalEntries/Resources/IMG1.json": b'{"date": 724507200}',
            "AppleJournalEntries/Resources/VID1.mov": VIDEO,
            "AppleJournalEntries/Resources/LOC1.json": json.dumps(visit).encode(),
            "__MACOSX/AppleJournalEntries/Entries/._2023-12-17_Old_town.html": b"\0\5\x16\7",
        }
    )


def mail(
    subject: str = "Tickets",
    name: str = "one@a.example",
    text: str = "Row 7.",
    sent: str = "Tue, 5 Mar 2024 23:30:00 -0500",
) -> bytes:
    """A mail with an attached picture."""
    picture = base64.encodebytes(PICTURE).decode()
    return (
        f"Return-Path: <kim@a.example>\nFrom: Kim <kim@a.example>\nTo: me@b.example\nSubject: {subject}\nDate: {sent}\n"
        f'Message-ID: <{name}>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n'
        f"--b\nContent-Type: text/plain; charset=utf-8\n\n{text}\n"
        f'--b\nContent-Type: image/png\nContent-Disposition: attachment; filename="../../a [b].png"\n'
        f"Content-Transfer-Encoding: base64\n\n{picture}\n--b--\n"
    ).encode()
