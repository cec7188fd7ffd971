"""Routes: the page `/tls` with its style and script."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from parachute.server.trust_page.assets import ASSETS, Asset

router = APIRouter(tags=["tls"])


@router.get("/tls", include_in_schema=False)
async def page(request: Request) -> Response:
    """The page that leads through trusting this computer's certificate."""
    return _answer(request, ASSETS["page.html"])


@router.get("/tls/page.css", include_in_schema=False)
async def style(request: Request) -> Response:
    """The style sheet of that page."""
    return _answer(request, ASSETS["page.css"])


@router.get("/tls/page.js", include_in_schema=False)
async def script(request: Request) -> Response:
    """The script of that page."""
    return _answer(request, ASSETS["page.js"])


def _answer(request: Request, asset: Asset) -> Response:
    if request.headers.get("if-none-match") == asset.etag:
        return Response(status_code=304, headers=asset.headers)
    return Response(asset.content, headers=asset.headers, media_type=asset.media_type)
