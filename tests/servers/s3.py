"""A light server of the S3 API on loopback: objects in memory, faults on demand, costing far less than its clients.

    with S3Server() as server:
        server.make("bucket")
        open_store("s3://bucket/docs", {"s3": {"endpoint_url": server.url, "anon": True}})

Signatures are not looked at. `exclusive=False` ignores `If-None-Match`, as some servers do. As a program it serves by
itself: `python -m tests.servers.s3 --latency 0.03 --objects 10000 --size 2000`.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import itertools
import threading
import time
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, field
from email.utils import formatdate
from types import TracebackType
from urllib.parse import parse_qsl, quote, unquote
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from tests.servers.faults import Fault, Faults, Request

MOST = 1000
"""Keys in a page of a listing."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One object."""

    data: bytes
    etag: str
    modified: int
    metadata: dict[str, str]


@dataclass(slots=True)
class Bucket:
    """The objects of a bucket. `order` is their keys as UTF-8 sorts them, None when that is to be found out."""

    objects: dict[str, Stored] = field(default_factory=dict)
    order: list[bytes] | None = None

    def put(self, key: str, data: bytes, metadata: dict[str, str] | None = None, etag: str | None = None) -> Stored:
        if key not in self.objects:
            self.order = None
        stored = Stored(data, etag or f'"{hashlib.md5(data).hexdigest()}"', int(time.time()), metadata or {})
        self.objects[key] = stored
        return stored

    def delete(self, key: str) -> None:
        if self.objects.pop(key, None) is not None:
            self.order = None

    def page(self, prefix: bytes, after: bytes | None, most: int) -> tuple[list[str], bool]:
        if self.order is None:
            self.order = sorted(key.encode() for key in self.objects)
        start = bisect_left(self.order, prefix) if after is None else bisect_right(self.order, after)
        found = [*itertools.takewhile(lambda key: key.startswith(prefix), self.order[start : start + most + 1])]
        return [key.decode() for key in found[:most]], len(found) > most


@dataclass(slots=True)
class Parts:
    """An upload in parts that has not ended."""

    bucket: Bucket
    key: str
    begun: float
    parts: dict[int, bytes] = field(default_factory=dict)


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, code: str) -> None:
        self.status, self.code = status, code


@dataclass(slots=True)
class Answer:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class S3Server:
    """`url`; `requests` counts operations; `faults`; `bucket(name)` for a look at the objects, or to change them."""

    def __init__(self, *, latency: float = 0.0, exclusive: bool = True) -> None:
        self.latency = latency
        self.exclusive = exclusive
        self.damage_copies = False
        self.faults = Faults()
        self.requests: Counter[str] = Counter()
        self.most_at_once = 0
        self._at_once = 0
        self._buckets: dict[str, Bucket] = {}
        self.uploads: dict[str, Parts] = {}
        self._numbers = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self.url = ""

    def make(self, name: str) -> Bucket:
        return self._buckets.setdefault(name, Bucket())

    bucket = make

    def clear(self) -> None:
        """As new: no buckets, no faults, no habits."""
        self._buckets.clear()
        self.uploads.clear()
        self.faults.clear()
        self.requests.clear()
        self.latency, self.exclusive, self.damage_copies = 0.0, True, False

    def __enter__(self) -> S3Server:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        asyncio.run_coroutine_threadsafe(self._stop(self._server), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 20, backlog=512)

    async def _stop(self, server: asyncio.Server) -> None:
        server.close()
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    # HTTP

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client hung up, or the server is closed
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; whether the connection goes on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if "aws-chunked" in headers.get("content-encoding", ""):
            body = _unchunked(body)
        path, _, query_text = target.partition("?")
        query = dict(parse_qsl(query_text, keep_blank_values=True))
        bucket, _, key = path.lstrip("/").partition("/")
        bucket, key = unquote(bucket), unquote(key)
        operation = _operation(method, key, query, headers)
        self.requests[operation] += 1
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        if self.latency:
            await asyncio.sleep(self.latency)
        name = key or query.get("prefix", "")
        fault = self.faults.of(Request(method=method, operation=operation, bucket=bucket, name=name, query=query))
        self._at_once -= 1
        if fault is not None and fault.kind == "drop":
            return False
        try:
            if fault is not None and fault.kind == "status":
                raise Refused(fault.status, {503: "SlowDown", 500: "InternalError"}.get(fault.status, "Injected"))
            answer = self._answer(operation, bucket, key, query, headers, body)
        except Refused as refused:
            text = f"<Error><Code>{refused.code}</Code><Message>refused</Message></Error>"
            answer = Answer(refused.status, text.encode())
        if fault is not None and fault.kind == "lost":
            return False
        return await _send(writer, answer, method, fault)

    # S3

    def _answer(
        self, operation: str, bucket: str, key: str, query: dict[str, str], headers: dict[str, str], body: bytes
    ) -> Answer:
        if bucket not in self._buckets:
            raise Refused(404, "NoSuchBucket")
        found = self._buckets[bucket]
        match operation:
            case "list":
                return _listing(found, query)
            case "get" | "head":
                return _object(_existing(found, key), headers)
            case "put":
                return self._put(found, key, headers, body)
            case "copy":
                source, _, old = unquote(headers["x-amz-copy-source"]).lstrip("/").partition("/")
                stored = _existing(self._buckets[source], old)
                data = stored.data[:-1] if self.damage_copies else stored.data
                copied = found.put(key, data, stored.metadata)
                return Answer(body=f"<CopyObjectResult><ETag>{copied.etag}</ETag></CopyObjectResult>".encode())
            case "delete":
                found.delete(key)
                return Answer(204)
            case "begin":
                number = str(next(self._numbers))
                self.uploads[number] = Parts(found, key, time.time())
                text = f"<InitiateMultipartUploadResult><UploadId>{number}</UploadId></InitiateMultipartUploadResult>"
                return Answer(body=text.encode())
            case "part":
                self._upload(query).parts[int(query["partNumber"])] = body
                return Answer(headers={"ETag": f'"{hashlib.md5(body).hexdigest()}"'})
            case "end":
                return self._complete(found, query, body)
            case "abort":
                self._upload(query)
                del self.uploads[query["uploadId"]]
                return Answer(204)
            case "list uploads":
                return self._list_uploads(found, query)
        raise Refused(501, "NotImplemented")

    def _put(self, bucket: Bucket, key: str, headers: dict[str, str], body: bytes) -> Answer:
        if headers.get("if-none-match") == "*" and self.exclusive and key in bucket.objects:
            raise Refused(412, "PreconditionFailed")
        start = "x-amz-meta-"
        metadata = {name[len(start) :]: value for name, value in headers.items() if name.startswith(start)}
        return Answer(headers={"ETag": bucket.put(key, body, metadata).etag})

    def _upload(self, query: dict[str, str]) -> Parts:
        found = self.uploads.get(query["uploadId"])
        if found is None:
            raise Refused(404, "NoSuchUpload")
        return found

    def _list_uploads(self, bucket: Bucket, query: dict[str, str]) -> Answer:
        """Two a page."""
        marker = (query.get("key-marker", ""), query.get("upload-id-marker", ""))
        mine = [(each.key, number, each.begun) for number, each in self.uploads.items() if each.bucket is bucket]
        asked = sorted(each for each in mine if each[0].startswith(query.get("prefix", "")) and each[:2] > marker)
        items = [
            f"<Upload><Key>{escape(key)}</Key><UploadId>{number}</UploadId>"
            f"<Initiated>{time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(begun))}</Initiated></Upload>"
            for key, number, begun in asked[:2]
        ]
        more = len(asked) > 2
        key, number, _ = asked[:2][-1] if asked else ("", "", 0.0)
        end = f"<NextKeyMarker>{escape(key)}</NextKeyMarker><NextUploadIdMarker>{number}</NextUploadIdMarker>"
        text = (
            f"<ListMultipartUploadsResult><IsTruncated>{str(more).lower()}</IsTruncated>{end if more else ''}"
            f"{''.join(items)}</ListMultipartUploadsResult>"
        )
        return Answer(body=text.encode())

    def _complete(self, bucket: Bucket, query: dict[str, str], body: bytes) -> Answer:
        upload = self._upload(query)
        del self.uploads[query["uploadId"]]
        key, parts = upload.key, upload.parts
        asked = [int(each.text or 0) for each in ElementTree.fromstring(body).iter() if each.tag.endswith("PartNumber")]
        data = b"".join(parts[number] for number in asked)
        stored = bucket.put(key, data, etag=f'"{hashlib.md5(data).hexdigest()}-{len(asked)}"')
        text = f"<CompleteMultipartUploadResult><ETag>{stored.etag}</ETag></CompleteMultipartUploadResult>"
        return Answer(body=text.encode())

    @property
    def unfinished_uploads(self) -> int:
        """Multipart uploads that were neither completed nor aborted."""
        return len(self.uploads)


def _operation(method: str, key: str, query: dict[str, str], headers: dict[str, str]) -> str:
    if not key:
        return "bucket" if method != "GET" else "list uploads" if "uploads" in query else "list"
    if "uploads" in query:
        return "begin"
    if "uploadId" in query:
        return {"PUT": "part", "POST": "end", "DELETE": "abort"}[method]
    if method == "PUT":
        return "copy" if "x-amz-copy-source" in headers else "put"
    return method.lower()


def _existing(bucket: Bucket, key: str) -> Stored:
    if key not in bucket.objects:
        raise Refused(404, "NoSuchKey")
    return bucket.objects[key]


def _object(stored: Stored, headers: dict[str, str]) -> Answer:
    if headers.get("if-match", stored.etag) != stored.etag:
        raise Refused(412, "PreconditionFailed")
    told = {"ETag": stored.etag, "Last-Modified": formatdate(stored.modified, usegmt=True)}
    told |= {f"x-amz-meta-{name}": value for name, value in stored.metadata.items()}
    if wanted := headers.get("range", "").removeprefix("bytes="):
        first, _, last = wanted.partition("-")
        body = stored.data[int(first) : int(last) + 1 if last else None]
        if not body:
            raise Refused(416, "InvalidRange")
        told["Content-Range"] = f"bytes {first}-{int(first) + len(body) - 1}/{len(stored.data)}"
        return Answer(206, body, told)
    return Answer(200, stored.data, told)


def _listing(bucket: Bucket, query: dict[str, str]) -> Answer:
    token = query.get("continuation-token") or query.get("start-after")
    keys, more = bucket.page(
        query.get("prefix", "").encode(), token.encode() if token else None, min(MOST, int(query.get("max-keys", MOST)))
    )
    encoded = query.get("encoding-type") == "url"
    items = []
    for key in keys:
        stored = bucket.objects[key]
        when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(stored.modified))
        name = quote(key, safe="/") if encoded else escape(key)
        items.append(
            f"<Contents><Key>{name}</Key><LastModified>{when}</LastModified><ETag>{escape(stored.etag)}</ETag>"
            f"<Size>{len(stored.data)}</Size><StorageClass>STANDARD</StorageClass></Contents>"
        )
    end = f"<NextContinuationToken>{escape(keys[-1])}</NextContinuationToken>" if more else ""
    text = (
        f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>{str(more).lower()}</IsTruncated>'
        f"<KeyCount>{len(keys)}</KeyCount>{'<EncodingType>url</EncodingType>' if encoded else ''}{''.join(items)}{end}"
        "</ListBucketResult>"
    )
    return Answer(body=text.encode(), headers={"Content-Type": "application/xml"})


async def _send(writer: asyncio.StreamWriter, answer: Answer, method: str, fault: Fault | None) -> bool:
    body = answer.body
    length = len(body)
    short = fault is not None and fault.kind == "short"
    if short:
        body = body[: len(body) // 2]
        length = length if fault is not None and fault.honest else len(body)
    lines = [f"HTTP/1.1 {answer.status} X", f"Content-Length: {length}", f"Date: {formatdate(usegmt=True)}"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    if answer.status == 204:
        del lines[1]
    writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (b"" if method == "HEAD" else body))
    await writer.drain()
    return not short or (fault is not None and not fault.honest)


def _unchunked(body: bytes) -> bytes:
    """The content of a body in `aws-chunked` form, with or without trailing checksums."""
    parts, at = [], 0
    while True:
        end = body.index(b"\r\n", at)
        size = int(body[at:end].split(b";")[0], 16)
        if not size:
            return b"".join(parts)
        parts.append(body[end + 2 : end + 2 + size])
        at = end + 2 + size + 2


def main() -> None:
    """This module as a program: serves until its stdin is closed; prints its address."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--objects", type=int, default=0)
    parser.add_argument("--size", type=int, default=2000)
    chosen = parser.parse_args()
    with S3Server(latency=chosen.latency) as server:
        bucket = server.make("bucket")
        text = "The harbour froze early that year, and nobody had paid the lamplighter.\n\n"
        body = (text * (chosen.size // len(text) + 1)).encode()
        for number in range(chosen.objects):
            bucket.put(f"docs/{number // 1000:03d}/{number:06d}.txt", f"{number}. ".encode() + body[: chosen.size])
        print(server.url, flush=True)
        for _ in iter(lambda: input_or_none(), None):
            print(dict(server.requests), server.most_at_once, flush=True)
            server.requests.clear()


def input_or_none() -> str | None:
    """A line of stdin, None at its end."""
    try:
        return input()
    except EOFError:
        return None


if __name__ == "__main__":
    main()
