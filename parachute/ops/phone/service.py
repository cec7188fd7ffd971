"""Letting other devices reach this computer, and no longer: everything is checked first, and taken back if it does not start."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from msgspec.structs import replace

from parachute.base.addresses import is_elsewhere, is_loopback, parse_address
from parachute.base.clock import SYSTEM, Clock, as_text
from parachute.base.errors import Conflict, NotFound, ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import read_document, set_value, unset_value
from parachute.ops.phone import checks
from parachute.ops.phone.models import EVERY_ADDRESS, ONLY_HERE, Order, Reach
from parachute.ops.phone.store import OrderStore
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.models import Caller, Scope
from parachute.security.keys.service import Keys
from parachute.web.access.exposure import check_exposure
from parachute.web.discovery.avahi import announced_name
from parachute.web.first_boot.addresses import home_addresses
from parachute.web.first_boot.service import FirstBoot

log = logging.getLogger(__name__)

_CONFIRMED_FOR = timedelta(minutes=10)
_RESTART_SECONDS = 90.0
_KEY = "Home network"
_TAKEN_BACK = "The computer did not start with the new address. It has the one of before again."


class Phone:
    """The reach of one installation; `listen_on` has everything ended and started again with the server on another address."""

    def __init__(
        self,
        home: Home,
        running: Settings,
        keys: Keys,
        browsers: BrowserSessions,
        first_boot: FirstBoot,
        listen_on: Callable[[str], Awaitable[object]],
        clock: Clock = SYSTEM,
    ) -> None:
        self._home = home
        self._running = running
        self._keys = keys
        self._browsers = browsers
        self._first_boot = first_boot
        self._listen_on = listen_on
        self._clock = clock
        self._orders = OrderStore(home.root)
        self._task: asyncio.Task[None] | None = None
        self._changing = asyncio.Lock()

    async def start(self) -> None:
        """Settle the order of before: the computer has come up with it, or takes it back."""
        order = await asyncio.to_thread(self._orders.read)
        if order is None or order.problem is not None:
            return
        if parse_address(order.host) != parse_address(self._running.host):
            await asyncio.to_thread(self._take_back, order)
            return
        await asyncio.to_thread(self._orders.remove)
        is_recent = abs(self._clock.now() - datetime.fromisoformat(order.at)) < _CONFIRMED_FOR
        if order.browser is not None and is_recent:
            self._browsers.confirm(order.browser)

    async def close(self) -> None:
        """End what waits for the restart."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def reach(self) -> Reach:
        """Return which devices reach this computer, and why the last change was taken back."""
        order = await asyncio.to_thread(self._orders.read)
        return Reach(
            is_reachable=self._is_reachable,
            is_restarting=self._is_restarting,
            addresses=[str(each) for each in await asyncio.to_thread(home_addresses)],
            port=self._running.port,
            name=await announced_name(),
            problem=order.problem if order is not None else None,
        )

    async def let_in(self, caller: Caller) -> Reach:
        """Make this computer reachable from its networks, which restarts it; nothing changes where it cannot be.

        Errors: Conflict, ParachuteError, ConfigError, Declared, OSError.
        """
        async with self._changing:
            if not self._is_reachable:
                self._check_free()
                self._begin(await asyncio.to_thread(self._prepared, caller))
        return await self.reach()

    async def shut_out(self, caller: Caller) -> Reach:
        """Let this computer be reached from itself alone, which restarts it, and sign the browsers of other devices out.

        Errors: Conflict, ConfigError, Declared, OSError.
        """
        async with self._changing:
            if self._is_reachable:
                self._check_free()
                await asyncio.to_thread(checks.check_settings, self._home, ONLY_HERE)
                await asyncio.to_thread(self._sign_others_out)
                self._begin(await asyncio.to_thread(self._ordered, ONLY_HERE, caller, None))
        return await self.reach()

    @property
    def _is_reachable(self) -> bool:
        return not is_loopback(self._running.host)

    @property
    def _is_restarting(self) -> bool:
        return self._task is not None and not self._task.done()

    def _check_free(self) -> None:
        if self._is_restarting:
            raise Conflict("The computer restarts already.", "Wait until it is back.", key="restarting")

    def _prepared(self, caller: Caller) -> Order:
        checks.check_networks()
        checks.check_settings(self._home, EVERY_ADDRESS)
        checks.check_port(self._running.port)
        key = None
        try:
            check_exposure(self._running.auth_mode, EVERY_ADDRESS, self._keys, self._browsers)
        except ParachuteError as error:
            if error.key != "key_needed":
                raise
            self._first_boot.begin()
            # Nobody is told its secret: with it the computer knows that strangers are to be kept out.
            key = self._keys.create(_KEY, (Scope("daily", frozenset(("read",))),))[0].id
        return self._ordered(EVERY_ADDRESS, caller, key)

    def _ordered(self, host: str, caller: Caller, key: str | None) -> Order:
        before = read_document(self._home).get("host")
        browser = caller.key if caller.kind == "browser" else None
        order = Order(host, as_text(self._clock.now()), None if before is None else str(before), browser, key)
        self._orders.write(order)
        try:
            set_value(self._home, "host", host)
        except ParachuteError:
            self._orders.remove()
            raise
        return order

    def _begin(self, order: Order) -> None:
        self._task = asyncio.create_task(self._restart(order), name="another address")

    async def _restart(self, order: Order) -> None:
        # The answer to the caller is on its way by then.
        await self._clock.sleep(0.2)
        try:
            await self._listen_on(order.host)
            await self._clock.sleep(_RESTART_SECONDS)  # the end of this process cancels it
        except ParachuteError as error:
            log.error("The address cannot be changed: %s", error)
            if error.key in ("supervisor_ended", "supervisor_silent"):
                await self._clock.sleep(_RESTART_SECONDS)  # it may have ended before its answer was read
        await asyncio.to_thread(self._take_back, order)

    def _take_back(self, order: Order) -> None:
        log.error("The address %s is taken back: the server does not run with it.", order.host)
        if read_document(self._home).get("host") == order.host:
            if order.before is None:
                unset_value(self._home, "host")
            else:
                set_value(self._home, "host", order.before)
        if order.key is not None:
            try:
                self._keys.revoke(order.key)
            except NotFound:
                pass  # its owner was faster
        self._orders.write(replace(order, problem=_TAKEN_BACK))

    def _sign_others_out(self) -> None:
        for each in self._browsers.list():
            if is_elsewhere(self._browsers.address_of(each.id)):
                self._browsers.revoke(each.id)
