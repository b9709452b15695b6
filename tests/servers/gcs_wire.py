"""How requests and answers of the fake of Google Cloud Storage travel: HTTP, names, injected faults."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote

from tests.servers.faults import Fault, Faults, Request
from tests.servers.gcs_objects import Conditions, Refused


@dataclass(slots=True)
class Answer:
    """What a request is answered with. `chunked` sends no length, as the real one does when it inflates."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    chunked: bool = False

    @classmethod
    def json(cls, value: Any, status: int = 200, **headers: str) -> Answer:
        """A JSON answer."""
        body = json.dumps(value).encode()
        return cls(status, body, {"Content-Type": "application/json; charset=UTF-8", **headers})


@dataclass(slots=True)
class Call:
    """A request taken apart. `target` is (operation, bucket, object, bucket and object of a copy's target)."""

    method: str
    query: dict[str, str]
    headers: Any
    body: bytes
    operation: str = ""
    bucket: str = ""
    name: str = ""
    target: tuple[str, str] = ("", "")

    @property
    def conditions(self) -> Conditions:
        """Preconditions on the object that is named (of a copy: on its target)."""
        return Conditions.of(self.query)

    @property
    def generation(self) -> int | None:
        """The generation asked for."""
        text = self.query.get("generation")
        return int(text) if text else None


def routed(method: str, target: str, headers: Any, body: bytes) -> Call:
    """What a request is about. Names are percent-encoded once; one that holds an unencoded slash is no object's."""
    path, _, query = target.partition("?")
    call = Call(method, dict(parse_qsl(query, keep_blank_values=True)), headers, body)
    uploading = path.startswith("/upload/")
    parts = path.removeprefix("/upload").removeprefix("/download").removeprefix("/storage/v1/").split("/")
    match parts:
        case ["b"]:
            call.operation = {"GET": "buckets", "POST": "make"}.get(method, "")
        case ["b", bucket]:
            call.operation, call.bucket = "bucket", unquote(bucket)
        case ["b", bucket, "o"]:
            call.bucket = unquote(bucket)
            call.operation = "list"
            if uploading:
                call.operation = "resume" if "upload_id" in call.query else "upload"
                call.name = call.query.get("name", "")
        case ["b", bucket, "o", name]:
            kinds = {"GET": "media" if call.query.get("alt") == "media" else "get", "PATCH": "patch", "PUT": "patch"}
            call.operation = {**kinds, "DELETE": "delete"}.get(method, "")
            call.bucket, call.name = unquote(bucket), unquote(name)
        case ["b", bucket, "o", name, "compose"]:
            call.operation, call.bucket, call.name = "compose", unquote(bucket), unquote(name)
        case ["b", bucket, "o", name, ("rewriteTo" | "copyTo") as how, "b", other, "o", new]:
            call.operation, call.bucket, call.name = how.removesuffix("To"), unquote(bucket), unquote(name)
            call.target = (unquote(other), unquote(new))
    return call


class Http(ThreadingHTTPServer):
    """A threaded server that hands each request to `answering`, notes it in `requests` and commits `faults`."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, answering: Callable[[Call], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answering = answering
        self.faults = Faults()
        self.requests: list[Request] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients hang up; that is theirs to do."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    server: Http

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(1 << 16)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        call = routed(self.command, self.path, self.headers, self._body())
        name = call.name or call.query.get("prefix", "")
        request = Request(method=call.method, operation=call.operation, bucket=call.bucket, name=name, query=call.query)
        self.server.requests.append(request)
        fault = self.server.faults.of(request)
        if fault is not None and fault.kind == "drop":
            self._hang_up()
            return
        if fault is not None and fault.kind == "status":
            answer = _refusal(Refused(fault.status, "injected", "backendError"))
            if fault.retry_after is not None:
                answer.headers["Retry-After"] = fault.retry_after
        else:
            try:
                answer = self.server.answering(call)
            except Refused as refused:
                answer = _refusal(refused)
        if fault is not None and fault.kind == "lost":
            self._hang_up()
            return
        if fault is not None and fault.kind == "flip":
            answer.body = bytes(byte ^ 1 for byte in answer.body)
        self._send(answer, fault if fault is not None and fault.kind == "short" else None)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, answer: Answer, fault: Fault | None) -> None:
        body = answer.body
        length = len(body)
        if fault is not None:
            body = body[: len(body) // 2]
            length = length if fault.honest else len(body)
        self.send_response(answer.status)
        for key, value in answer.headers.items():
            for each in value.split(",") if key == "X-Goog-Hash" else [value]:  # one header for each, as the real one
                self.send_header(key, each)
        if answer.status != 204:
            if answer.chunked:
                self.send_header("Transfer-Encoding", "chunked")
                body = b"%x\r\n%s\r\n" % (len(body), body) if body else b""
                body += b"0\r\n\r\n" if fault is None else b""
            else:
                self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        if fault is not None and fault.honest:
            self._hang_up()

    def _hang_up(self) -> None:
        self.close_connection = True
        try:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""


def _refusal(refused: Refused) -> Answer:
    error = {"domain": "global", "reason": refused.reason, "message": refused.message}
    value = {"error": {"code": refused.code, "message": refused.message, "errors": [error]}}
    return Answer.json(value, refused.code) if refused.code != 304 else Answer(304)
