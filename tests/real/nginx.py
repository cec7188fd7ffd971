"""nginx with TLS in front of git's `http-backend`, by fcgiwrap, in place of the git host that other tests have."""

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.real import installed
from tests.sandbox.egress.internet import PUBLIC, Internet
from tests.sandbox.git.git_host import HOST, TOKEN, GitHost
from tests.support.waiting import until

_CONFIGURATION = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
user {user};
events {{}}
http {{
  access_log {folder}/access.log;
  client_body_temp_path {folder}/body;
  fastcgi_temp_path {folder}/fastcgi;
  proxy_temp_path {folder}/proxy;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  client_max_body_size 0;
  server {{
    listen unix:{folder}/https ssl;
    server_name {host};
    ssl_certificate {certificate};
    ssl_certificate_key {certificate};
    location / {{
      auth_basic git;
      auth_basic_user_file {folder}/users;
      fastcgi_pass unix:{folder}/fcgi;
      fastcgi_param SCRIPT_FILENAME {backend};
      fastcgi_param GIT_PROJECT_ROOT {repositories};
      fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param GIT_PROTOCOL $http_git_protocol;
      fastcgi_param PATH_INFO $uri;
      fastcgi_param QUERY_STRING $query_string;
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param CONTENT_TYPE $content_type;
      fastcgi_param CONTENT_LENGTH $content_length;
      fastcgi_param HTTP_CONTENT_ENCODING $http_content_encoding;
      fastcgi_param REMOTE_USER $remote_user;
      fastcgi_param REMOTE_ADDR $remote_addr;
    }}
  }}
}}
"""


class NginxHost(GitHost):
    """Repositories behind nginx: only who has the token reads and writes."""

    async def join(self, internet: Internet) -> None:
        """Become a part of the internet."""
        self.authority.server(HOST)
        internet.names[HOST] = [[PUBLIC]]
        await internet.serve(PUBLIC, 443, self._pass)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_unix_connection(self._sockets / "https")
        await asyncio.gather(_copy(reader, there[1]), _copy(there[0], writer))

    @property
    def _sockets(self) -> Path:
        return self.folder.parent / "nginx"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run nginx while a block runs."""
        programs = (
            installed.debian("nginx", "nginx-light"),
            installed.debian("fcgiwrap", "fcgiwrap"),
            installed.debian("git-http-backend", "git"),
        )
        folder = self._sockets
        folder.mkdir()
        hashed = subprocess.check_output(["openssl", "passwd", "-apr1", TOKEN], text=True).strip()
        (folder / "users").write_text(f"git:{hashed}\n")
        self.authority.server(HOST)
        said = _CONFIGURATION.format(
            folder=folder,
            user="root" if os.geteuid() == 0 else "nobody",
            host=HOST,
            certificate=self.authority.file.parent / f"{HOST}.pem",
            repositories=self.folder,
            backend=programs[2],
        )
        (folder / "nginx.conf").write_text(said)
        commands = (
            [programs[1], "-c", "4"],
            [programs[0], "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")],
        )
        started: list[subprocess.Popen[bytes]] = []
        try:
            with socket.socket(socket.AF_UNIX) as gate:
                gate.bind(str(folder / "fcgi"))
                gate.listen(64)
                for command in commands:
                    started.append(subprocess.Popen(command, stdin=gate.fileno(), start_new_session=True))
            await until((folder / "https").exists, "nginx listens")
            yield
        finally:
            for process in started:
                # The first starts others, which do not end with it.
                os.killpg(process.pid, signal.SIGTERM)
            for process in started:
                process.wait()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
