"""A fake of Google Cloud Storage's JSON API on loopback: objects in memory, conditions enforced, faults on demand.

    with GcsServer() as server:
        server.buckets.make("bucket")
        gcsfs.GCSFileSystem(token="anon", endpoint_url=server.url)

What it does as the real one does, because clients trip over it: paged listings of at most 1,000, generations,
`ifGenerationMatch` on every write, copy and delete, resumable uploads in parts, rewrites in several calls, objects with
gzip Content-Encoding inflated on the way out unless the client accepts gzip.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import format_datetime
from typing import Any

from tests.servers.gcs_objects import Buckets, Conditions, Refused, Stored
from tests.servers.gcs_wire import Answer, Call, Http
from tests.servers.serving import Serving

MOST = 1000
"""Entries in a page of a listing, whatever the client asks for."""


@dataclass(slots=True)
class Upload:
    """A resumable upload under way."""

    bucket: str
    name: str
    conditions: Conditions
    properties: dict[str, Any]
    data: bytearray = field(default_factory=bytearray)


class GcsServer(Serving):
    """The server: `url`, `buckets` (its objects), `faults`, `requests` in their order.

    A rewrite copies `rewrite_bytes` a call (None: all), of a part of an upload the share `keeps` is kept.
    """

    def __init__(self, *, rewrite_bytes: int | None = None) -> None:
        self.buckets = Buckets()
        self.rewrite_bytes = rewrite_bytes
        self.keeps = 1.0
        self._uploads: dict[str, Upload] = {}
        self._rewrites: dict[str, int] = {}
        self._http = Http(self.answer)
        super().__init__(self._http)
        self.faults = self._http.faults
        self.requests = self._http.requests

    def count(self, operation: str | None = None) -> int:
        """Requests so far, of one operation or of all."""
        return sum(1 for request in self.requests if operation in (None, request.operation))

    def answer(self, call: Call) -> Answer:
        """Do what a request asks for."""
        doing: dict[str, Callable[[Call], Answer]] = {
            "buckets": self._list_buckets,
            "make": self._make_bucket,
            "bucket": self._get_bucket,
            "list": self._list,
            "get": self._get,
            "media": self._media,
            "patch": self._patch,
            "delete": self._delete,
            "upload": self._upload,
            "resume": self._resume,
            "rewrite": self._rewrite,
            "copy": self._copy,
            "compose": self._compose,
        }
        if call.operation not in doing:
            raise Refused(404, "Not Found", "notFound")
        return doing[call.operation](call)

    def _list_buckets(self, call: Call) -> Answer:
        items = [{"kind": "storage#bucket", "name": name, "id": name} for name in self.buckets.buckets()]
        return Answer.json({"kind": "storage#buckets", "items": items})

    def _make_bucket(self, call: Call) -> Answer:
        name = json.loads(call.body)["name"]
        self.buckets.make(name)
        return Answer.json({"kind": "storage#bucket", "name": name, "id": name})

    def _get_bucket(self, call: Call) -> Answer:
        self.buckets.objects(call.bucket)
        return Answer.json({"kind": "storage#bucket", "name": call.bucket, "id": call.bucket})

    def _list(self, call: Call) -> Answer:
        asked = int(call.query.get("maxResults") or MOST)
        token = call.query.get("pageToken")
        items, folders, last = self.buckets.page(
            call.bucket,
            call.query.get("prefix", ""),
            call.query.get("delimiter", ""),
            bytes.fromhex(token).decode() if token else None,
            min(asked, MOST),
            call.query.get("startOffset", ""),
            call.query.get("endOffset", ""),
        )
        found: dict[str, Any] = {"kind": "storage#objects"}
        if items:
            found["items"] = [item.resource() for item in items]
        if folders:
            found["prefixes"] = folders
        if last is not None:
            found["nextPageToken"] = last.encode().hex()
        return Answer.json(found)

    def _get(self, call: Call) -> Answer:
        found = self.buckets.get(call.bucket, call.name, call.generation)
        call.conditions.check(found)
        return Answer.json(found.resource(), ETag=found.resource()["etag"])

    def _media(self, call: Call) -> Answer:
        found = self.buckets.get(call.bucket, call.name, call.generation)
        call.conditions.check(found)
        return media(found, call.headers)

    def _patch(self, call: Call) -> Answer:
        changes = json.loads(call.body or b"{}")
        fields = {"contentType": "content_type", "contentEncoding": "content_encoding", "cacheControl": "cache_control"}
        properties = {fields[key]: value for key, value in changes.items() if key in fields}
        if "metadata" in changes:
            properties["metadata"] = changes["metadata"]
        return Answer.json(self.buckets.patch(call.bucket, call.name, **properties).resource())

    def _delete(self, call: Call) -> Answer:
        self.buckets.delete(call.bucket, call.name, call.conditions, call.generation)
        return Answer(204)

    def _upload(self, call: Call) -> Answer:
        kind = call.query.get("uploadType")
        content_type = call.headers.get("Content-Type", "application/octet-stream")
        resource: dict[str, Any] = {}
        data = call.body
        if kind == "multipart":
            resource, content_type, data = _parts(call.body, content_type)
        elif kind == "resumable":
            resource = json.loads(call.body or b"{}")
            content_type = call.headers.get("X-Upload-Content-Type", "application/octet-stream")
        elif kind != "media":
            raise Refused(400, f"Unknown uploadType: {kind}")
        name = call.query.get("name") or resource.get("name")
        if not name:
            raise Refused(400, "Required parameter: name", "required")
        properties = {
            "content_type": resource.get("contentType") or content_type,
            "content_encoding": resource.get("contentEncoding") or call.query.get("contentEncoding"),
            "cache_control": resource.get("cacheControl"),
            "metadata": resource.get("metadata") or {},
        }
        if kind == "resumable":
            self.buckets.objects(call.bucket)
            key = secrets.token_hex(16)
            self._uploads[key] = Upload(call.bucket, name, call.conditions, properties)
            place = f"{self.url}/upload/storage/v1/b/{call.bucket}/o?uploadType=resumable&upload_id={key}"
            return Answer(200, b"", {"Location": place, "X-GUploader-UploadID": key})
        if resource.get("md5Hash") not in (None, base64.b64encode(hashlib.md5(data).digest()).decode()):
            raise Refused(400, "Provided MD5 hash doesn't match calculated MD5 hash.")
        return Answer.json(self.buckets.put(call.bucket, name, data, call.conditions, **properties).resource())

    def _resume(self, call: Call) -> Answer:
        key = call.query["upload_id"]
        upload = self._uploads.get(key)
        if upload is None:
            raise Refused(404, "No such upload", "notFound")
        if call.method == "DELETE":
            del self._uploads[key]
            return Answer(499)
        ranged = re.fullmatch(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)", call.headers.get("Content-Range", "bytes */*"))
        if ranged is None:
            raise Refused(400, "Failed to parse Content-Range header.")
        start, _, total = ranged.groups()
        if start is not None and int(start) > len(upload.data):
            raise Refused(503, "Gap in the upload.", "backendError")
        if start is not None:
            new = call.body[len(upload.data) - int(start) :]
            upload.data += new[: math.ceil(len(new) * self.keeps)]
        if total == "*" or len(upload.data) < int(total):
            done = {"Range": f"bytes=0-{len(upload.data) - 1}"} if upload.data else {}
            return Answer(308, b"", done)
        stored = self.buckets.put(
            upload.bucket, upload.name, bytes(upload.data), upload.conditions, **upload.properties
        )
        del self._uploads[key]
        return Answer.json(stored.resource())

    def _rewrite(self, call: Call) -> Answer:
        source = self.buckets.get(call.bucket, call.name, _number(call.query.get("sourceGeneration")))
        Conditions.of(call.query, "ifSource").check(source)
        size = len(source.data)
        token = call.query.get("rewriteToken")
        done = self._rewrites.pop(token, 0) if token else 0
        done = size if self.rewrite_bytes is None else min(size, done + self.rewrite_bytes)
        found = {"kind": "storage#rewriteResponse", "totalBytesRewritten": str(done), "objectSize": str(size)}
        if done < size:
            call.conditions.check(self.buckets.find(*call.target))
            key = secrets.token_hex(8)
            self._rewrites[key] = done
            return Answer.json(found | {"done": False, "rewriteToken": key})
        return Answer.json(found | {"done": True, "resource": self._copied(source, call).resource()})

    def _copy(self, call: Call) -> Answer:
        source = self.buckets.get(call.bucket, call.name, _number(call.query.get("sourceGeneration")))
        Conditions.of(call.query, "ifSource").check(source)
        return Answer.json(self._copied(source, call).resource())

    def _copied(self, source: Stored, call: Call) -> Stored:
        return self.buckets.put(
            *call.target,
            source.data,
            call.conditions,
            content_type=source.content_type,
            content_encoding=source.content_encoding,
            cache_control=source.cache_control,
            metadata=source.metadata,
            composed=source.composed,
        )

    def _compose(self, call: Call) -> Answer:
        sources = json.loads(call.body)["sourceObjects"]
        data = b"".join(self.buckets.get(call.bucket, source["name"]).data for source in sources)
        return Answer.json(self.buckets.put(call.bucket, call.name, data, call.conditions, composed=True).resource())


def media(found: Stored, headers: Any) -> Answer:
    """The bytes of an object, or a range of them; inflated where the client does not take gzip as it is."""
    hashes = f"crc32c={found.crc32c}" + (f",md5={found.md5}" if found.md5 else "")
    out = {
        "Content-Type": found.content_type,
        "ETag": found.resource()["etag"],
        "Last-Modified": format_datetime(found.updated, usegmt=True),
        "X-Goog-Generation": str(found.generation),
        "X-Goog-Metageneration": str(found.metageneration),
        "X-Goog-Hash": hashes,
        "X-Goog-Stored-Content-Length": str(len(found.data)),
        "X-Goog-Stored-Content-Encoding": found.content_encoding or "identity",
    }
    accepts = "gzip" in (headers.get("Accept-Encoding") or "")
    fixed = "no-transform" in (found.cache_control or "")
    if found.content_encoding == "gzip" and not accepts and not fixed:
        out["Warning"] = "214 UploadServer gunzipped"
        return Answer(200, gzip.decompress(found.data), out, chunked=True)  # whole, whatever the range
    if found.content_encoding:
        out["Content-Encoding"] = found.content_encoding
    ranged = re.fullmatch(r"bytes=(\d*)-(\d*)", headers.get("Range") or "")
    if ranged is None or ranged.groups() == ("", ""):
        return Answer(200, found.data, out)
    size = len(found.data)
    first, last = ranged.groups()
    start = int(first) if first else max(0, size - int(last))
    end = min(int(last) + 1 if first and last else size, size)
    if start >= size:
        return Answer(416, b"", out | {"Content-Range": f"bytes */{size}"})
    return Answer(206, found.data[start:end], out | {"Content-Range": f"bytes {start}-{end - 1}/{size}"})


def _parts(body: bytes, content_type: str) -> tuple[dict[str, Any], str, bytes]:
    """Resource, media type and bytes of a multipart upload."""
    found = re.search(r'boundary="?([^";]+)"?', content_type)
    if found is None:
        raise Refused(400, "Missing multipart boundary")
    mark = b"--" + found[1].encode()
    pieces = re.split(rb"(?:^|\r?\n)" + re.escape(mark), body)[1:]
    if len(pieces) < 3:
        raise Refused(400, "Malformed multipart body")
    described, held = (re.split(rb"\r?\n\r?\n", piece, maxsplit=1) for piece in pieces[:2])
    kind = re.search(rb"(?i)content-type:\s*([^\r\n]+)", held[0])
    return json.loads(described[1]), kind[1].decode() if kind else "application/octet-stream", held[1]


def _number(text: str | None) -> int | None:
    return int(text) if text else None
