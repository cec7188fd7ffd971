"""`POST /v1/messages`: a conversation in, an answer out, whole or as a stream."""

import asyncio

from parachute.llm.offline import replies
from parachute.llm.offline.conversation import Turn, reduce_conversation
from parachute.llm.offline.engine import Engine
from parachute.llm.offline.exchange import Exchange
from parachute.llm.offline.llama import Usage
from parachute.llm.offline.request import MessagesRequest, parse_request
from parachute.web.http.incoming import while_connected

# Clients and the gateway take a longer silence for a lost connection.
_PING_SECONDS = 3.0


async def create_message(exchange: Exchange, engine: Engine) -> None:
    """Answer a request; errors before the first byte: InvalidInput, Unavailable."""
    request = parse_request(await exchange.body())
    turns = reduce_conversation(request.messages)
    with engine.admission():
        respond = _stream if request.stream else _whole
        await while_connected(respond(exchange, engine, request, turns), exchange.gone())


async def count_tokens(exchange: Exchange, engine: Engine) -> None:
    """`POST /v1/messages/count_tokens`: the tokens that the model would read, as `usage` would report them."""
    request = parse_request(await exchange.body())
    turns = reduce_conversation(request.messages)
    with engine.admission():
        prompt = await engine.prepare(turns)
    await exchange.answer(200, {"input_tokens": prompt.tokens})


async def _whole(exchange: Exchange, engine: Engine, request: MessagesRequest, turns: list[Turn]) -> None:
    pieces: list[str] = []
    usage = await engine.generate(await engine.prepare(turns), request.max_tokens, pieces.append)
    document = replies.message_document(replies.message_id(), request.model, "".join(pieces), usage)
    await exchange.answer(200, document)


async def _stream(exchange: Exchange, engine: Engine, request: MessagesRequest, turns: list[Turn]) -> None:
    pieces: asyncio.Queue[str | None] = asyncio.Queue()

    async def generate() -> Usage:
        try:
            prompt = await engine.prepare(turns)
            return await engine.generate(prompt, request.max_tokens, pieces.put_nowait)
        finally:
            pieces.put_nowait(None)

    # The number is known at once only when the model is loaded; who waits for the model gets a sign of life first.
    tokens = (await engine.prepare(turns)).tokens if engine.state == "ready" else 0
    await exchange.start_stream()
    for event in replies.opening_events(replies.message_id(), request.model, tokens):
        await exchange.event(event)
    work = asyncio.ensure_future(generate())
    try:
        while (piece := await _next(pieces)) is not None:
            await exchange.event(replies.text_event(piece) if piece else replies.PING)
        usage = await work
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
    for event in replies.closing_events(usage):
        await exchange.event(event)
    await exchange.end_stream()


async def _next(pieces: asyncio.Queue[str | None]) -> str | None:
    """The next piece of text, None at the end, and an empty text after a silence."""
    try:
        async with asyncio.timeout(_PING_SECONDS):
            return await pieces.get()
    except TimeoutError:
        return ""
