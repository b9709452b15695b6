"""A fake of the Dataflow service's REST API on loopback: it takes jobs, runs none, and says the state it is told to say.

Beam takes it for the real one with `--dataflow_endpoint=<url> --no_auth`; `url` has to say `localhost` for that.
"""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.servers.serving import Serving

_JOBS = re.compile(r"/v1b3/projects/(?P<project>[^/]+)/locations/(?P<region>[^/]+)/jobs(?:/(?P<id>[^/?]+))?")


class DataflowServer(Serving):
    """The server: `jobs` by id as they were given, `states` by id (JOB_STATE_RUNNING unless somebody says otherwise)."""

    def __init__(self) -> None:
        self.jobs: dict[str, dict[str, Any]] = {}
        self.states: dict[str, str] = {}
        super().__init__(_Http(self))
        self.url = self.url.replace("127.0.0.1", "localhost")

    def take(self, job: dict[str, Any], project: str, region: str) -> dict[str, Any]:
        """A new job."""
        name = f"2026-01-31_00_00_00-{len(self.jobs) + 1}"
        self.jobs[name] = job | {"id": name, "projectId": project, "location": region}
        return self.shown(name)

    def shown(self, name: str) -> dict[str, Any]:
        """A job as the service shows it."""
        job = self.jobs[name]
        kept = {
            key: job[key] for key in ("id", "name", "type", "projectId", "location", "clientRequestId") if key in job
        }
        return kept | {"currentState": self.states.get(name, "JOB_STATE_RUNNING")}


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, dataflow: DataflowServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.dataflow = dataflow


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = _JOBS.match(self.path)
        if asked is None or asked["id"]:
            self._answer(404, {})
            return
        self._answer(200, self.server.dataflow.take(json.loads(body), asked["project"], asked["region"]))

    def do_GET(self) -> None:
        asked = _JOBS.match(self.path)
        known = asked is not None and asked["id"] in self.server.dataflow.jobs
        self._answer(200, self.server.dataflow.shown(asked["id"])) if known and asked else self._answer(404, {})

    def _answer(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""
