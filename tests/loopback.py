"""A web server on this machine, with the faults of real ones, a wheel for pip to find, and a dataset in both."""

from __future__ import annotations

import hashlib
import io
import os
import socket
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sgclearn.datasets.download
from sgclearn.datasets.registry import REGISTRY, parse_registry


@dataclass
class Site:
    """What the server has and how it behaves; each entry of a list of faults is for one request."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    break_after: list[int] = field(default_factory=list)  # bytes of the body
    statuses: list[int] = field(default_factory=list)
    ignores_range: bool = False
    hides_length: bool = False
    stall: threading.Event | None = None  # to wait for after the part of a body, with the connection open
    requests: list[tuple[str, str | None]] = field(default_factory=list)  # name and Range


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        name, asked = self.path.lstrip("/"), self.headers.get("Range")
        self.site.requests.append((name, asked))
        if self.site.statuses and (status := self.site.statuses.pop(0)) != 200:
            return self.send_error(status) if status else None  # 0: no answer at all
        if name not in self.site.files:
            return self.send_error(404)
        content = self.site.files[name]
        start = 0 if asked is None or self.site.ignores_range else int(asked[len("bytes=") : -1])
        if start >= len(content):
            return self.send_error(416)
        self.send_response(206 if start else 200)
        self.send_header(
            "Content-Type", "text/html" if name.endswith((".html", "/")) else "application/octet-stream"
        )
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if not self.site.hides_length:
            self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        stop = start + self.site.break_after.pop(0) if self.site.break_after else None
        self.wfile.write(content[start:stop])
        if stop is not None and stop < len(content) and self.site.stall is not None:
            self.site.stall.wait(30)
        return None

    def log_message(self, *given: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Site]:
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    site.address = f"http://127.0.0.1:{server.server_address[1]}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_wheel(folder: Path, members: dict[str, bytes], *, tag: str = "cp39-cp39-manylinux1_x86_64") -> Path:
    """Wheel `tinygraphs` 1.0 with some files inside, for another Python than the one that runs."""
    path = folder / f"tinygraphs-1.0-{tag}.whl"
    info = "tinygraphs-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in members.items():
            wheel.writestr(name, content)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinygraphs\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


ENTRY = """
[wheels.tiny]
requirement = "tinygraphs==1.0"
file = "{wheel.name}"
bytes = {wheel_bytes}
sha256 = "{wheel_sha256}"

[datasets.tiny]
title = "A ring"
description = "Node: number."
nodes = 20
edges = 20
features = 2
classes = 2
license = "none needed"
source = "drawn"
citation = "none"
per_class = [2, 1]
[[datasets.tiny.forms]]
layout = "npz"
folder = "tiny"
address = "{address}"
wheel = "tiny"
wheel_folder = "tinygraphs/data"
files = [{{ name = "ring.npz", bytes = {bytes}, sha256 = "{sha256}" }}]
"""


def ring() -> bytes:
    stream = io.BytesIO()
    nodes = np.arange(20)
    np.savez(
        stream,
        x_shape=np.array([20, 2]),
        x_indptr=np.arange(21),
        x_indices=nodes % 2,
        x_data=np.ones(20),
        edges=np.stack([nodes, (nodes + 1) % 20], axis=1),
        y=nodes % 2,
        class_names=np.array(["even", "odd"]),
    )
    return stream.getvalue()


@dataclass
class World:
    """A dataset `tiny`, the server that has its file, and the wheel in which pip finds it too."""

    site: Site
    content: bytes
    wheel: Path
    address: str

    @classmethod
    def make(cls, site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
        content = site.files["ring.npz"] = ring()
        folder.mkdir()
        wheel = write_wheel(folder, {"tinygraphs/data/ring.npz": content})
        monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
        monkeypatch.delenv("SGCLEARN_DATA", raising=False)
        made = cls(site, content, wheel, site.address)
        made.register(monkeypatch)
        return made

    def register(self, monkeypatch: pytest.MonkeyPatch) -> None:
        held = self.wheel.read_bytes()
        text = ENTRY.format(
            wheel=self.wheel,
            wheel_bytes=len(held),
            wheel_sha256=sha256(held),
            address=self.address,
            bytes=len(self.content),
            sha256=sha256(self.content),
        )
        monkeypatch.setitem(REGISTRY, "tiny", parse_registry(text)["tiny"])


def keep_away(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Use an empty cache; connections to other machines fail, and pip looks in no index."""
    monkeypatch.setenv("SGCLEARN_CACHE", str(cache))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setattr(sgclearn.datasets.download, "PAUSE", 0.0)
    look_up = socket.getaddrinfo

    def near(host: Any, *given: Any, **more: Any) -> Any:
        if host != "127.0.0.1":
            raise socket.gaierror(socket.EAI_NONAME, "no network in tests")
        return look_up(host, *given, **more)

    monkeypatch.setattr(socket, "getaddrinfo", near)
