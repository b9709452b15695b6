"""Google Cloud Storage: its JSON API with the credentials, endpoint and session of gcsfs."""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from email.utils import parsedate_to_datetime
from importlib import import_module
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from fsspec.asyn import sync

from pipelines.storage.answered import Answered, unchanged
from pipelines.storage.base import Fetched
from pipelines.storage.client import TOKEN, Client, Listed, ShortBody, UnknownOption
from pipelines.storage.times import nanoseconds

PART = 64 * 1024 * 1024
"""Bytes of one part of a large object (a multiple of 256 KiB); an object of fewer is one request."""

CONNECT_SECONDS, SILENCE_SECONDS = 30, 60
"""How long a connection may take to open, and how long the server may say nothing."""

_FIELDS = "nextPageToken,items(name,size,updated,generation)"
_Out = TypeVar("_Out")


class GcsClient(Client):
    """One bucket. Options are gcsfs's: token (`anon`, a file, …), endpoint_url, project, requester_pays, …

    The validator of an object is its generation, which no two contents ever share. gcsfs's own calls are not used: they
    parse names, inflate what is stored compressed, cut an upload that holds their multipart boundary, and ask each
    bucket's type over gRPC, which no emulator answers.
    """

    in_flight = 64  # half a millisecond of CPU each: 1,300 objects a second at 30 ms

    def __init__(self, bucket: str, options: Mapping[str, Any]) -> None:
        self.check(options)
        self._http = import_module("aiohttp")
        self._url = import_module("yarl").URL
        session = {**(options.get("session_kwargs") or {}), "auto_decompress": False}
        chosen = {**options, "session_kwargs": session, "skip_instance_cache": True, "use_listings_cache": False}
        self._files = import_module("gcsfs.core").GCSFileSystem(**chosen)
        self._bucket = bucket

    @staticmethod
    def check(options: Mapping[str, Any]) -> None:
        filesystem = import_module("gcsfs.core").GCSFileSystem
        allowed = set(inspect.signature(filesystem.__init__).parameters) - {"self", "kwargs", "asynchronous", "loop"}
        if unknown := set(options) - allowed:  # gcsfs would take no notice of it
            raise UnknownOption("gcsfs", min(unknown), allowed)

    def page(self, prefix: str, after: str | None) -> tuple[list[Listed], str | None]:
        query = {"prefix": prefix, "maxResults": "1000", "fields": _FIELDS, **({"pageToken": after} if after else {})}
        try:
            answer = self._json("GET", self._objects(), query)
        except FileNotFoundError as error:
            raise Answered(404, "no such bucket") from error
        found = [
            Listed(each["name"], int(each["size"]), nanoseconds(each.get("updated")), each["generation"])
            for each in answer.get("items", ())
        ]
        return found, answer.get("nextPageToken")

    def head(self, key: str) -> Listed:
        found = self._json("GET", self._object(key))
        return Listed(key, int(found["size"]), nanoseconds(found.get("updated")), found["generation"])

    def fetch(self, key: str) -> Fetched:
        headers, data = self._media(key)
        stored = headers.get("X-Goog-Stored-Content-Length")
        if stored is not None and len(data) != int(stored):
            raise ShortBody(len(data), int(stored))
        _check(data, headers.getall("X-Goog-Hash", []))
        return Fetched(data, _when(headers.get("Last-Modified")), headers.get("X-Goog-Generation"))

    def fetch_range(self, key: str, start: int, stop: int, validator: str | None) -> bytes:
        condition = {"ifGenerationMatch": validator} if validator else {}
        return unchanged(stop - start, lambda: self._media(key, condition, {"Range": f"bytes={start}-{stop - 1}"})[1])

    def put(self, key: str, data: bytes) -> None:
        if len(data) <= PART:
            self._upload(key, data, {}, {})
        else:
            self._upload_in_parts(key, data)

    def create(self, key: str, data: bytes, token: str) -> bool:
        try:
            self._upload(key, data, {"metadata": {TOKEN: token}}, {"ifGenerationMatch": "0"})
        except Answered as error:
            if error.status in (409, 412):
                return False
            raise
        return True

    def creator(self, key: str) -> str | None:
        found = self._json("GET", self._object(key)).get("metadata", {}).get(TOKEN)
        return None if found is None else str(found)

    def copy(self, old: str, new: str, size: int) -> None:
        source = self._json("GET", self._object(old))
        target = f"{self._object(old)}/rewriteTo{self._object(new)}"
        query = {"ifSourceGenerationMatch": source["generation"], "ifGenerationMatch": "0"}
        answer: Mapping[str, Any] = {}
        try:
            while not answer.get("done"):  # large objects take several calls
                more = {"rewriteToken": answer["rewriteToken"]} if answer else {}
                answer = self._json("POST", target, {**query, **more})
            copied = answer["resource"]
        except Answered as error:
            if error.status != 412:
                raise
            copied = self._json("GET", self._object(new))  # somebody's copy, perhaps ours of the attempt before
        if (copied["size"], copied.get("crc32c")) != (source["size"], source.get("crc32c")):
            raise ValueError(f"the copy to {new} has other bytes")

    def delete(self, key: str) -> None:
        self._send("DELETE", f"/storage/v1{self._object(key)}")

    def _objects(self) -> str:
        return f"/b/{quote(self._bucket, safe='')}/o"

    def _object(self, key: str) -> str:
        return f"{self._objects()}/{quote(key, safe='')}"

    def _media(
        self, key: str, query: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[Any, bytes]:
        # Whoever takes gzip gets what is stored. For others the store inflates it, with another length and no range.
        return self._send(
            "GET",
            f"/download/storage/v1{self._object(key)}",
            {"alt": "media", **(query or {})},
            {"Accept-Encoding": "gzip", **(headers or {})},
        )

    def _upload(self, key: str, data: bytes, resource: Mapping[str, Any], condition: Mapping[str, str]) -> None:
        """One request; the store refuses what does not have its checksum."""
        described = json.dumps({"name": key, "md5Hash": _md5(data), **resource}).encode()
        boundary = uuid.uuid4().hex.encode()  # of a fresh random one, no data can hold a copy
        body = (
            b"--%b\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n%b\r\n"
            b"--%b\r\nContent-Type: application/octet-stream\r\n\r\n%b\r\n--%b--\r\n"
        ) % (boundary, described, boundary, data, boundary)
        headers = {"Content-Type": f"multipart/related; boundary={boundary.decode()}"}
        query = {"uploadType": "multipart", **condition}
        self._send("POST", f"/upload/storage/v1{self._objects()}", query, headers, body)

    def _upload_in_parts(self, key: str, data: bytes) -> None:
        begin = json.dumps({"name": key, "md5Hash": _md5(data)}).encode()
        headers = {"Content-Type": "application/json", "X-Upload-Content-Type": "application/octet-stream"}
        answer, _ = self._send(
            "POST", f"/upload/storage/v1{self._objects()}", {"uploadType": "resumable"}, headers, begin
        )
        place, start, said = answer["Location"], 0, b""
        while start < len(data):
            stop = min(start + PART, len(data))
            span = {"Content-Range": f"bytes {start}-{stop - 1}/{len(data)}"}
            answer, said = self._send("PUT", place, None, span, data[start:stop])
            kept = answer.get("Range")  # a part may have been kept in part; the last answer has no range
            start = int(kept.rpartition("-")[2]) + 1 if kept else stop
        if not said:
            raise ConnectionError("the store has all parts of the object but has not stored it")

    def _json(self, method: str, path: str, query: Mapping[str, str] | None = None) -> Mapping[str, Any]:
        _, body = self._send(method, f"/storage/v1{path}", query)
        found: Mapping[str, Any] = json.loads(body)
        return found

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> tuple[Any, bytes]:
        """One request: headers (aiohttp's) and body. FileNotFoundError where an object is missing, else `Answered`."""

        async def request() -> tuple[int, Any, bytes]:
            session = await self._files._set_session()
            base = path if path.startswith("http") else f"{self._files._location}{path}"
            parameters = urlencode(self._files._get_params(query or {}), quote_via=quote)
            mark = "&" if "?" in base else "?"
            url = self._url(f"{base}{mark}{parameters}" if parameters else base, encoded=True)
            timeout = self._http.ClientTimeout(sock_connect=CONNECT_SECONDS, sock_read=SILENCE_SECONDS)
            sent = self._files._get_headers({"Accept-Encoding": "identity", **(headers or {})})
            async with session.request(
                method, url, headers=sent, data=body, timeout=timeout, allow_redirects=False
            ) as answer:
                return answer.status, answer.headers, await answer.read()

        status, answered, content = self._run(request)
        if status < 300 or status == 308:  # (of a part that is not the last)
            return answered, content
        reason = _reason(content)
        if status == 404 and "bucket does not exist" not in reason:
            raise FileNotFoundError(reason)
        raise Answered(status, reason)

    def _run(self, call: Callable[[], Coroutine[Any, Any, _Out]]) -> _Out:
        answer: _Out = sync(self._files.loop, call)
        return answer


def _md5(data: bytes) -> str:
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()


def _when(header: str | None) -> int | None:
    """UTC nanoseconds of an HTTP date, which has whole seconds."""
    return nanoseconds(parsedate_to_datetime(header)) if header else None


def _check(data: bytes, announced: Sequence[str]) -> None:
    """Raise when bytes do not have the MD5 that came with them (composed objects have none)."""
    for each in ",".join(announced).split(","):
        name, _, value = each.strip().partition("=")
        if name == "md5" and value != _md5(data):
            raise ConnectionError("the bytes do not have the checksum that the store announced")


def _reason(content: bytes) -> str:
    """What an answer says is wrong."""
    try:
        said = json.loads(content)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        said = content.decode("utf-8", "replace")
    return str(said)
