"""Azurite, Microsoft's emulator of Azure Blob Storage, from npm: installed once under `build/`, run on loopback."""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from types import TracebackType

VERSION = "3.35.0"
FOLDER = Path(__file__).parents[2] / "build" / f"azurite-{VERSION}"
"""Where it is installed; `make clean` takes it away."""

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account and key that every emulator has; published in Microsoft's documentation, no secret."""


class Unavailable(Exception):
    """It cannot be had here, with the reason."""


def install(timeout: float = 300.0) -> Path:
    """The emulator's script, installed with npm when it is not there yet. At most `timeout` seconds."""
    script = FOLDER / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise Unavailable("node and npm are not installed")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes start at once
        if script.exists():
            return script
        command = [
            npm,
            "install",
            "--prefix",
            str(FOLDER),
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
            "--fetch-retries=1",
        ]
        try:
            done = subprocess.run(
                [*command, f"azurite@{VERSION}"], capture_output=True, text=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            raise Unavailable(f"npm did not finish in {timeout:.0f} s") from None
        if done.returncode or not script.exists():
            raise Unavailable(f"npm cannot install azurite: {(done.stderr or done.stdout).strip()[-300:]}")
    return script


class Azurite:
    """The emulator's blob service, its blobs in memory. Raises `Unavailable` where it cannot be had."""

    def __init__(self) -> None:
        self._script = install()
        self._folder = tempfile.TemporaryDirectory(prefix="azurite-")
        self.url = ""
        self._process: subprocess.Popen[str] | None = None

    @property
    def connection_string(self) -> str:
        """What clients connect with."""
        return (
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={self.url}/{ACCOUNT};"
        )

    def make(self, container: str) -> None:
        """A new container."""
        from azure.storage.blob import BlobServiceClient

        with BlobServiceClient.from_connection_string(self.connection_string) as client:
            client.create_container(container)

    def __enter__(self) -> Azurite:
        options = ["--blobHost", "127.0.0.1", "--blobPort", "0"]
        options += ["--skipApiVersionCheck", "--disableTelemetry", "--inMemoryPersistence"]
        self._process = subprocess.Popen(
            ["node", str(self._script), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self._folder.name,
        )
        assert self._process.stdout is not None
        said = []
        for line in self._process.stdout:
            said.append(line)
            if found := re.search(r"listens on (http://[\d.]+:\d+)", line):
                self.url = found[1]
                break
        else:
            raise Unavailable(f"azurite ended at once: {''.join(said)[-300:]}")
        threading.Thread(target=self._process.stdout.read, daemon=True).start()  # or the pipe fills
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(timeout=30)
        self._folder.cleanup()
