"""A hub of data sets on this machine, which answers as the Hugging Face hub does.

It speaks as much of the hub's protocol as huggingface_hub and datasets ask for: what a data set
is, its tree, and its files, in parts and through redirects. Commits stay, and a branch moves.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import struct
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

BRANCH = "main"
NAMES = r"(?P<repo>[^/]+(?:/[^/]+)?)"
API = re.compile(rf"/api/datasets/{NAMES}(?:/(?P<what>revision|tree|paths-info)/(?P<rest>.+))?")
FILE = re.compile(rf"/datasets/{NAMES}/resolve/(?P<revision>[^/]+)/(?P<path>.+)")
STORED = re.compile(r"/storage/(?P<digest>[0-9a-f]{64})")

Files = dict[str, bytes]


class Hub:
    """Data sets by name, and how to reach them.

    Files of at least ``large`` bytes are stored apart, where requests for them are redirected to,
    as the hub does with LFS. ``trouble`` may spoil an answer: it gets the method and the path and
    says a status, "close" for a connection that breaks before the answer, "cut" for one that
    breaks in the middle of it, or None. ``asked`` are the requests so far. ``moved`` has the new
    names of data sets that were renamed.
    """

    def __init__(self, large: int = 10_000) -> None:
        self.large = large
        self.branches: dict[str, str] = {}
        self.commits: dict[str, dict[str, Files]] = {}
        self.moved: dict[str, str] = {}
        self.trouble: Callable[[str, str], int | str | None] | None = None
        self.asked: list[str] = []
        self._stored: Files = {}
        self._server = _Server(("127.0.0.1", 0), _Answer)
        self._server.hub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> Hub:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def storage(self) -> str:
        """On another host, as far as names go: the libraries tell a redirect there from others."""
        return f"http://localhost:{self._server.server_address[1]}/storage"

    def environment(self, home: Path) -> dict[str, str]:
        """That of a process for which this is the hub, and which has its caches in ``home``."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING_FACE_"))}
        return kept | {
            "HF_ENDPOINT": self.address,
            "HF_HOME": str(home),
            "NO_PROXY": "127.0.0.1,localhost",
        }

    def commit(self, repo: str, files: Files) -> str:
        """Make ``files`` the content of a data set; the branch is at the new commit, returned."""
        commits = self.commits.setdefault(repo, {})
        digest = hashlib.sha1(f"{repo} {len(commits)}".encode())
        for path, content in sorted(files.items()):
            digest.update(f"{path} {_sha256(content)}".encode())
            self._stored[_sha256(content)] = content
        commits[digest.hexdigest()] = files
        self.branches[repo] = digest.hexdigest()
        return digest.hexdigest()

    @staticmethod
    def digest(content: bytes) -> str:
        """By which a large file is stored; it is in the path that requests for it have."""
        return _sha256(content)

    def stored(self, digest: str) -> bytes:
        return self._stored[digest]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    hub: Hub


class _NotFound(Exception):
    """With the code that the hub gives."""


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        """Nothing: the tests' output is for the tests."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        hub, url = self.server.hub, urlsplit(self.path)
        hub.asked.append(f"{self.command} {self.path} {self.headers.get('Range', '')}".strip())
        wrong = hub.trouble and hub.trouble(self.command, url.path)
        if wrong == "close":
            self._break_off()
        elif isinstance(wrong, int):
            self._send(wrong, b"out of order", {})
        else:
            try:
                status, content, headers = self._found(url.path, parse_qs(url.query), body)
            except _NotFound as code:
                said = {"X-Error-Code": str(code), "X-Error-Message": f"{code}"}
                self._send(404, b"{}", said)
            else:
                self._send(status, content, headers, cut=wrong == "cut")

    def _found(
        self, path: str, query: dict[str, list[str]], body: bytes
    ) -> tuple[int, bytes, dict[str, str]]:
        if match := API.fullmatch(path):
            return self._about(match["repo"], match["what"], match["rest"], query, body)
        if match := FILE.fullmatch(path):
            return self._file(match["repo"], unquote(match["revision"]), unquote(match["path"]))
        if match := STORED.fullmatch(path):
            return self._part(self.server.hub.stored(match["digest"]), {})
        raise _NotFound("EntryNotFound")

    def _about(
        self,
        repo: str,
        what: str | None,
        rest: str | None,
        query: dict[str, list[str]],
        body: bytes,
    ) -> tuple[int, bytes, dict[str, str]]:
        hub = self.server.hub
        if repo in hub.moved:
            return 307, b"", {"Location": self.path.replace(repo, hub.moved[repo], 1)}
        revision, _, folder = (rest or BRANCH).partition("/")
        commit, files = self._commit(repo, unquote(revision))
        if what == "tree":
            found = _tree(files, unquote(folder), query.get("recursive") in (["true"], ["True"]))
            if not found:
                raise _NotFound("EntryNotFound")
            return _json([hub_entry(path, files) for path in found])
        if what == "paths-info":
            asked = _paths(self.headers.get("Content-Type", ""), body)
            return _json([hub_entry(path, files) for path in asked if _exists(path, files)])
        siblings = [{"rfilename": path} for path in files]
        return _json({"id": repo, "sha": commit, "siblings": siblings, "private": False})

    def _file(self, repo: str, revision: str, path: str) -> tuple[int, bytes, dict[str, str]]:
        hub = self.server.hub
        if repo in hub.moved:
            return 307, b"", {"Location": self.path.replace(repo, hub.moved[repo], 1)}
        commit, files = self._commit(repo, revision)
        about = {"X-Repo-Commit": commit}
        if path not in files:
            raise _NotFound("EntryNotFound")
        digest = _sha256(files[path])
        if len(files[path]) < hub.large:
            return self._part(files[path], about | {"ETag": f'"{digest[:40]}"'})
        about |= {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(files[path]))}
        return 302, b"", about | {"Location": f"{hub.storage}/{digest}"}

    def _part(self, content: bytes, headers: dict[str, str]) -> tuple[int, bytes, dict[str, str]]:
        headers = {"Accept-Ranges": "bytes"} | headers
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not wanted:
            return 200, content, headers
        start, end = int(wanted[1]), min(int(wanted[2] or len(content)), len(content) - 1)
        if start > end:
            return 416, b"", headers | {"Content-Range": f"bytes */{len(content)}"}
        headers["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
        return 206, content[start : end + 1], headers

    def _commit(self, repo: str, revision: str) -> tuple[str, Files]:
        hub = self.server.hub
        if repo not in hub.commits:
            raise _NotFound("RepoNotFound")
        commit = hub.branches[repo] if revision == BRANCH else revision
        if commit not in hub.commits[repo]:
            raise _NotFound("RevisionNotFound")
        return commit, hub.commits[repo][commit]

    def _send(
        self, status: int, content: bytes, headers: dict[str, str], cut: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            self._break_off()

    def _break_off(self) -> None:
        """As a machine that goes away: a reset, without a word."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True


def hub_entry(path: str, files: Files) -> dict[str, object]:
    """A file or folder as the hub's tree has it."""
    if path not in files:
        return {"type": "directory", "oid": _sha256(path.encode())[:40], "size": 0, "path": path}
    content = files[path]
    return {"type": "file", "oid": _sha256(content)[:40], "size": len(content), "path": path}


def _tree(files: Files, folder: str, recursive: bool) -> list[str]:
    prefix = f"{folder}/" if folder else ""
    found: set[str] = set()
    for path in files:
        if path.startswith(prefix):
            parts = path[len(prefix) :].split("/")
            depth = len(parts) if recursive else 1
            found |= {prefix + "/".join(parts[:n]) for n in range(1, depth + 1)}
    return sorted(found)


def _exists(path: str, files: Files) -> bool:
    return any(each == path or each.startswith(f"{path}/") for each in files)


def _paths(kind: str, body: bytes) -> list[str]:
    values = json.loads(body) if "json" in kind else parse_qs(body.decode())
    paths: list[str] = values["paths"]
    return paths


def _json(values: object) -> tuple[int, bytes, dict[str, str]]:
    return 200, json.dumps(values).encode(), {"Content-Type": "application/json"}


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
