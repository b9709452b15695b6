"""Amazon S3 and what speaks its API, through s3fs's connection and its native keys."""

from __future__ import annotations

import inspect
import os
import pickle
import re
from collections.abc import Callable, Coroutine, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import fsspec
from fsspec.asyn import sync

from pipelines.storage.base import Fetched
from pipelines.storage.client import TOKEN, Begun, Changed, Client, Listed, ShortBody, UnknownOption
from pipelines.storage.times import nanoseconds

CONNECTIONS = 64
"""Requests that one process may have under way."""

PART = 64 * 1024 * 1024
"""Bytes of one part of a large object; an object of fewer is one put."""

_AMAZON = re.compile(r"https://s3(\.[a-z0-9-]+)?\.amazonaws\.com")

_COPY_PART = 1024 * 1024 * 1024
_COPY_MOST = 5 * 1024 * 1024 * 1024

_Out = TypeVar("_Out")


class S3Client(Client):
    """One bucket. Options are s3fs's: endpoint_url, anon, profile, key, secret, token, client_kwargs, config_kwargs."""

    def __init__(self, bucket: str, options: Mapping[str, Any]) -> None:
        self.check(options)
        self._files = _filesystem(os.getpid(), pickle.dumps(dict(options)))
        self._bucket = self.bucket = bucket

    @staticmethod
    def check(options: Mapping[str, Any]) -> None:
        filesystem = fsspec.get_filesystem_class("s3")
        named = set(inspect.signature(filesystem.__init__).parameters) - {"self", "kwargs", "asynchronous", "loop"}
        allowed = named - {"session"} | {"profile"}  # what it does not name goes to botocore's session
        if unknown := set(options) - allowed:
            raise UnknownOption("s3fs", min(unknown), allowed)

    def place(self) -> tuple[str | None, str | None]:
        """The endpoint that was chosen, by options, environment or profile (None: Amazon's own), and the region.

        Raises LookupError where one address does not say it: FIPS, dual-stack and accelerated endpoints.
        """
        meta = self._run(self._client).meta
        config = meta.config
        if (
            config.use_fips_endpoint
            or config.use_dualstack_endpoint
            or (config.s3 or {}).get("use_accelerate_endpoint")
        ):
            raise LookupError("a kind of endpoint that has no address of its own")
        return None if _AMAZON.fullmatch(meta.endpoint_url) else meta.endpoint_url, meta.region_name

    def credentials(self) -> tuple[str, str, str | None]:
        """Key, secret and token that requests are signed with now. Raises LookupError when there are none."""

        async def found() -> Any:
            await self._client()
            signer = (await self._client())._request_signer
            return await signer._credentials.get_frozen_credentials() if signer._credentials else None

        frozen = self._run(found)
        if frozen is None:
            raise LookupError("no credentials")
        return frozen.access_key, frozen.secret_key, frozen.token

    def page(self, prefix: str, after: str | None) -> tuple[list[Listed], str | None]:
        more = {"ContinuationToken": after} if after else {}
        answer = self._call("list_objects_v2", Prefix=prefix, **more)
        found = [
            Listed(each["Key"], each["Size"], nanoseconds(each.get("LastModified")), each.get("ETag"))
            for each in answer.get("Contents", ())
        ]
        return found, answer.get("NextContinuationToken") if answer.get("IsTruncated") else None

    def head(self, key: str) -> Listed:
        answer = self._call("head_object", Key=key)
        return Listed(key, answer["ContentLength"], nanoseconds(answer.get("LastModified")), answer.get("ETag"))

    def fetch(self, key: str) -> Fetched:
        data, answer = self._get(key)
        return Fetched(data, nanoseconds(answer.get("LastModified")), answer.get("ETag"))

    def fetch_range(self, key: str, start: int, stop: int, validator: str | None) -> bytes:
        condition = {"IfMatch": validator} if validator else {}
        try:
            data, _ = self._get(key, Range=f"bytes={start}-{stop - 1}", **condition)
        except Exception as error:
            if _status(error) == 412:
                raise Changed from error
            raise
        if len(data) != stop - start:
            raise ShortBody(len(data), stop - start)
        return data

    def fetch_start(self, key: str, most: int) -> tuple[Fetched, int]:
        try:
            data, answer = self._get(key, Range=f"bytes=0-{most - 1}")
        except Exception as error:
            if _status(error) != 416:
                raise
            return self.fetch(key), 0  # an empty object has no first byte
        size = int(answer.get("ContentRange", f"/{len(data)}").rpartition("/")[2])
        return Fetched(data, nanoseconds(answer.get("LastModified")), answer.get("ETag")), size

    def put(self, key: str, data: bytes) -> None:
        if len(data) <= PART:
            self._call("put_object", Key=key, Body=data)
            return
        upload = self._call("create_multipart_upload", Key=key)["UploadId"]
        try:
            parts = []
            for number, start in enumerate(range(0, len(data), PART), 1):
                where = {"Key": key, "UploadId": upload, "PartNumber": number}
                answer = self._call("upload_part", Body=data[start : start + PART], **where)
                parts.append({"PartNumber": number, "ETag": answer["ETag"]})
            self._call("complete_multipart_upload", Key=key, UploadId=upload, MultipartUpload={"Parts": parts})
        except BaseException:
            self._abort(key, upload)
            raise

    def create(self, key: str, data: bytes, token: str) -> bool:
        try:
            self._call("put_object", Key=key, Body=data, IfNoneMatch="*", Metadata={TOKEN: token})
        except Exception as error:
            if _status(error) in (409, 412):
                return False
            raise
        return True

    def creator(self, key: str) -> str | None:
        found = self._call("head_object", Key=key).get("Metadata", {}).get(TOKEN)
        return None if found is None else str(found)

    def copy(self, old: str, new: str, size: int) -> None:
        source = {"Bucket": self._bucket, "Key": old}
        if size < _COPY_MOST:
            self._call("copy_object", Key=new, CopySource=source)
            return
        upload = self._call("create_multipart_upload", Key=new)["UploadId"]
        try:
            parts = []
            for number, start in enumerate(range(0, size, _COPY_PART), 1):
                span = f"bytes={start}-{min(start + _COPY_PART, size) - 1}"
                where = {"Key": new, "UploadId": upload, "PartNumber": number}
                answer = self._call("upload_part_copy", CopySource=source, CopySourceRange=span, **where)
                parts.append({"PartNumber": number, "ETag": answer["CopyPartResult"]["ETag"]})
            self._call("complete_multipart_upload", Key=new, UploadId=upload, MultipartUpload={"Parts": parts})
        except BaseException:
            self._abort(new, upload)
            raise

    def delete(self, key: str) -> None:
        self._call("delete_object", Key=key)

    def uploads(self, prefix: str) -> list[Begun]:
        found: list[Begun] = []
        after: dict[str, str] = {}
        while True:
            answer = self._call("list_multipart_uploads", Prefix=prefix, **after)
            found += [
                Begun(each["Key"], nanoseconds(each.get("Initiated")), each["UploadId"])
                for each in answer.get("Uploads", ())
            ]
            if not answer.get("IsTruncated"):
                return found
            after = {"KeyMarker": answer["NextKeyMarker"], "UploadIdMarker": answer["NextUploadIdMarker"]}

    def abort(self, key: str, number: str) -> None:
        self._call("abort_multipart_upload", Key=key, UploadId=number)

    def _abort(self, key: str, upload: str) -> None:
        try:
            self.abort(key, upload)
        except Exception:
            return  # what went wrong before matters more; `gc` takes the parts

    def _get(self, key: str, **more: Any) -> tuple[bytes, Mapping[str, Any]]:
        async def whole() -> tuple[bytes, Mapping[str, Any]]:
            client = await self._client()
            answer = await client.get_object(Bucket=self._bucket, Key=key, **more)
            async with answer["Body"] as body:
                data = await body.read()
            return data, answer

        data, answer = self._run(whole)
        announced = answer.get("ContentLength")
        if announced is not None and len(data) != announced:
            raise ShortBody(len(data), announced)
        return data, answer

    def _call(self, method: str, **arguments: Any) -> Mapping[str, Any]:
        async def call() -> Mapping[str, Any]:
            client = await self._client()
            answer: Mapping[str, Any] = await getattr(client, method)(Bucket=self._bucket, **arguments)
            return answer

        return self._run(call)

    async def _client(self) -> Any:
        await self._files.set_session()
        return await self._files.get_s3(self._bucket)

    def _run(self, call: Callable[[], Coroutine[Any, Any, _Out]]) -> _Out:
        try:
            answer: _Out = sync(self._files.loop, call)
        except Exception as error:
            # (a missing bucket has the same status: its objects are not gone, there is nothing to know of them)
            if _status(error) == 404 and _code(error) != "NoSuchBucket":
                raise FileNotFoundError from error
            raise
        return answer


@lru_cache(maxsize=8)
def _filesystem(process: int, options: bytes) -> Any:
    """The connection of a process, for all its buckets: botocore takes half a second to make one."""
    given = pickle.loads(options)
    config = {"max_pool_connections": CONNECTIONS, "retries": {"total_max_attempts": 1, "mode": "standard"}}
    if given.get("endpoint_url") or given.get("client_kwargs", {}).get("endpoint_url"):
        config["request_checksum_calculation"] = "when_required"  # others than AWS often know no trailing checksums
    chosen = {**given, "config_kwargs": {**config, **given.get("config_kwargs", {})}}
    return fsspec.filesystem("s3", skip_instance_cache=True, use_listings_cache=False, **chosen)


def _status(error: Exception) -> int | None:
    response = getattr(error, "response", None)
    return response.get("ResponseMetadata", {}).get("HTTPStatusCode") if isinstance(response, dict) else None


def _code(error: Exception) -> str:
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""
