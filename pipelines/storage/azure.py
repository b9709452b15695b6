"""Azure Blob Storage: Microsoft's SDK with the account and credentials that adlfs finds."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Coroutine, Mapping
from importlib import import_module
from typing import Any, TypeVar

from fsspec.asyn import sync

from pipelines.storage.answered import Answered, unchanged
from pipelines.storage.base import Fetched
from pipelines.storage.client import TOKEN, Client, Listed, ShortBody, UnknownOption
from pipelines.storage.times import nanoseconds

_TOKEN = TOKEN.replace("-", "_")
"""Names of metadata are identifiers here."""

_COPY_SECONDS = 600.0
_IN_ADDRESS = re.compile(r"(?P<container>[^@]+)@(?P<account>[^.@]+)\.(?:dfs|blob)\.[^@]+")
_Out = TypeVar("_Out")


class AzureClient(Client):
    """One container. Options are adlfs's: connection_string, account_name, account_key, sas_token, anon, tenant_id, …

    `container` may be written with its account, as in `abfss://container@account.dfs.core.windows.net`. The validator
    of an object is its etag, which every write changes.
    """

    def __init__(self, container: str, options: Mapping[str, Any]) -> None:
        self.check(options)
        chosen = dict(options)
        if named := _IN_ADDRESS.fullmatch(container):
            container = named["container"]
            chosen.setdefault("account_name", named["account"])
        self._files = import_module("adlfs").AzureBlobFileSystem(
            **chosen, skip_instance_cache=True, use_listings_cache=False
        )
        self._container = container
        core = import_module("azure.core")
        self._same, self._missing = core.MatchConditions.IfNotModified, core.MatchConditions.IfMissing

    @staticmethod
    def check(options: Mapping[str, Any]) -> None:
        filesystem = import_module("adlfs").AzureBlobFileSystem
        allowed = set(inspect.signature(filesystem.__init__).parameters) - {"self", "kwargs", "asynchronous", "loop"}
        unknown = {name for name in set(options) - allowed if not name.startswith("exclude_")}
        if unknown:  # adlfs would take no notice of it
            raise UnknownOption("adlfs", min(unknown), allowed)

    def page(self, prefix: str, after: str | None) -> tuple[list[Listed], str | None]:
        async def one() -> tuple[list[Listed], str | None]:
            listing = self._blobs().list_blobs(name_starts_with=prefix or None, retry_total=0)
            pages = listing.by_page(continuation_token=after)
            async for page in pages:
                found = [
                    Listed(each.name, each.size, nanoseconds(each.last_modified), _quoted(each.etag))
                    async for each in page
                ]
                return found, pages.continuation_token or None
            return [], None

        return self._run(one)

    def head(self, key: str) -> Listed:
        found = self._properties(key)
        return Listed(key, found.size, nanoseconds(found.last_modified), _quoted(found.etag))

    def fetch(self, key: str) -> Fetched:
        data, found = self._download(key)
        if len(data) != found.size:
            raise ShortBody(len(data), found.size)
        return Fetched(data, nanoseconds(found.last_modified), _quoted(found.etag))

    def fetch_range(self, key: str, start: int, stop: int, validator: str | None) -> bytes:
        condition = {"etag": validator, "match_condition": self._same} if validator else {}
        return unchanged(stop - start, lambda: self._download(key, offset=start, length=stop - start, **condition)[0])

    def put(self, key: str, data: bytes) -> None:
        # (above 64 MiB the SDK stores blocks and then the list of them: the object appears at once)
        self._run(lambda: self._blob(key).upload_blob(data, overwrite=True, retry_total=0))

    def create(self, key: str, data: bytes, token: str) -> bool:
        put = {"overwrite": False, "metadata": {_TOKEN: token}, "retry_total": 0}  # sends If-None-Match: *
        try:
            self._run(lambda: self._blob(key).upload_blob(data, **put))
        except Answered as error:
            if error.status in (409, 412):
                return False
            raise
        return True

    def creator(self, key: str) -> str | None:
        found = self._properties(key).metadata.get(_TOKEN)
        return None if found is None else str(found)

    def copy(self, old: str, new: str, size: int) -> None:
        source = self._properties(old)
        conditions = {
            "source_etag": source.etag,
            "source_match_condition": self._same,
            "match_condition": self._missing,
        }
        try:
            self._run(lambda: self._copied(old, new, conditions))
        except Answered as error:
            if error.status not in (409, 412):
                raise
            # Somebody's copy, perhaps ours of the attempt before: fine if it is the same.
            if self.fetch(old).data != self.fetch(new).data:
                raise ValueError(f"the copy to {new} has other bytes") from error

    def delete(self, key: str) -> None:
        self._run(lambda: self._blob(key).delete_blob(retry_total=0))

    async def _copied(self, old: str, new: str, conditions: Mapping[str, Any]) -> None:
        """Start the store's copy and wait until it is whole."""
        blob = self._blob(new)
        answer = await blob.start_copy_from_url(self._blob(old).url, retry_total=0, **conditions)
        status, waited, pause = answer["copy_status"], 0.0, 0.05
        while status == "pending":
            if waited > _COPY_SECONDS:
                await blob.abort_copy(answer["copy_id"], retry_total=0)
                raise TimeoutError(f"the store has not copied it in {waited:.0f} s")
            await asyncio.sleep(pause)
            waited, pause = waited + pause, min(2 * pause, 5.0)
            status = (await blob.get_blob_properties(retry_total=0)).copy.status
        if status != "success":
            raise ValueError(f"the store's copy ended as {status!r}")

    def _properties(self, key: str) -> Any:
        return self._run(lambda: self._blob(key).get_blob_properties(retry_total=0))

    def _download(self, key: str, **wanted: Any) -> tuple[bytes, Any]:
        async def whole() -> tuple[bytes, Any]:
            # As it is stored: the SDK inflates gzip otherwise. Parts of a large object are of one etag or it raises.
            stream = await self._blob(key).download_blob(decompress=False, retry_total=0, **wanted)
            return await stream.readall(), stream.properties

        return self._run(whole)

    def _blobs(self) -> Any:
        return self._files.service_client.get_container_client(self._container)

    def _blob(self, key: str) -> Any:
        return self._files.service_client.get_blob_client(self._container, key)

    def _run(self, call: Callable[[], Coroutine[Any, Any, _Out]]) -> _Out:
        try:
            answer: _Out = sync(self._files.loop, call)
            return answer
        except Exception as error:
            status = getattr(error, "status_code", None)
            if not isinstance(status, int):
                raise
            code, reason = str(getattr(error, "error_code", None) or ""), str(getattr(error, "message", error))
        if status == 404 and "Container" not in code:
            raise FileNotFoundError(code)
        raise Answered(status, f"{code} {reason}".strip())  # (the SDK's own runs over many lines)


def _quoted(etag: str) -> str:
    """The etag as its header has it; listings leave the quotes off."""
    return etag if etag.startswith('"') else f'"{etag}"'
