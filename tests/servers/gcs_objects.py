"""The objects behind the fake of Google Cloud Storage: buckets, generations, conditions."""

from __future__ import annotations

import base64
import bisect
import datetime
import hashlib
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote


class Refused(Exception):
    """An answer other than 2xx."""

    def __init__(self, code: int, message: str, reason: str = "invalid") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One generation of an object."""

    bucket: str
    name: str
    data: bytes
    generation: int
    metageneration: int = 1
    updated: datetime.datetime
    content_type: str = "application/octet-stream"
    content_encoding: str | None = None
    cache_control: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    composed: bool = False

    @property
    def crc32c(self) -> str:
        """Checksum as the API writes it."""
        import google_crc32c  # comes with gcsfs, which not every installation has

        return base64.b64encode(google_crc32c.value(self.data).to_bytes(4, "big")).decode()

    @property
    def md5(self) -> str | None:
        """Checksum as the API writes it; composed objects have none."""
        return None if self.composed else base64.b64encode(hashlib.md5(self.data).digest()).decode()

    def resource(self) -> dict[str, Any]:
        """The JSON resource."""
        when = self.updated.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.updated.microsecond // 1000:03d}Z"
        found: dict[str, Any] = {
            "kind": "storage#object",
            "id": f"{self.bucket}/{self.name}/{self.generation}",
            "selfLink": f"https://www.googleapis.com/storage/v1/b/{self.bucket}/o/{quote(self.name, safe='')}",
            "name": self.name,
            "bucket": self.bucket,
            "generation": str(self.generation),
            "metageneration": str(self.metageneration),
            "contentType": self.content_type,
            "storageClass": "STANDARD",
            "size": str(len(self.data)),
            "crc32c": self.crc32c,
            "etag": base64.b64encode(f"{self.generation}/{self.metageneration}".encode()).decode(),
            "timeCreated": when,
            "updated": when,
        }
        optional = {
            "md5Hash": self.md5,
            "contentEncoding": self.content_encoding,
            "cacheControl": self.cache_control,
            "metadata": self.metadata or None,
        }
        return found | {key: value for key, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Conditions:
    """Preconditions of a request, as its query has them."""

    generation_match: int | None = None
    generation_not_match: int | None = None
    metageneration_match: int | None = None

    @classmethod
    def of(cls, query: dict[str, str], start: str = "if") -> Conditions:
        """Those named `ifGenerationMatch` and so on; with `ifSource` those of a copy's source."""

        def number(name: str) -> int | None:
            text = query.get(start + name)
            if text is None:
                return None
            if not text.isdecimal():
                raise Refused(400, f"Invalid value for {start}{name}: {text}")
            return int(text)

        return cls(number("GenerationMatch"), number("GenerationNotMatch"), number("MetagenerationMatch"))

    def check(self, found: Stored | None) -> None:
        """Refuse when they do not hold of what is stored."""
        generation = found.generation if found else 0
        if self.generation_match is not None and self.generation_match != generation:
            raise Refused(412, "At least one of the pre-conditions you specified did not hold.", "conditionNotMet")
        if self.generation_not_match is not None and self.generation_not_match == generation:
            raise Refused(304, "Not Modified", "notModified")
        wanted = self.metageneration_match
        if wanted is not None and (found is None or found.metageneration != wanted):
            raise Refused(412, "At least one of the pre-conditions you specified did not hold.", "conditionNotMet")


class Buckets:
    """All buckets. Every method is atomic. `enforcing` false makes them ignore conditions, as some emulators do."""

    def __init__(self) -> None:
        self.enforcing = True
        self._buckets: dict[str, dict[str, Stored]] = {}
        self._names: dict[str, list[str]] = {}
        self._generation = 0
        self._lock = threading.RLock()

    def make(self, bucket: str) -> None:
        """A new bucket."""
        with self._lock:
            if bucket in self._buckets:
                raise Refused(409, "Your previous request to create the named bucket succeeded.", "conflict")
            self._buckets[bucket] = {}
            self._names[bucket] = []

    def buckets(self) -> list[str]:
        """Their names."""
        with self._lock:
            return sorted(self._buckets)

    def objects(self, bucket: str) -> dict[str, Stored]:
        """A bucket's objects."""
        with self._lock:
            return dict(self._bucket(bucket))

    def get(self, bucket: str, name: str, generation: int | None = None) -> Stored:
        """An object, if it (still) has that generation."""
        with self._lock:
            found = self._bucket(bucket).get(name)
            if found is None or generation not in (None, found.generation):
                raise Refused(404, f"No such object: {bucket}/{name}", "notFound")
            return found

    def find(self, bucket: str, name: str) -> Stored | None:
        """An object, or None."""
        with self._lock:
            return self._bucket(bucket).get(name)

    def put(self, bucket: str, name: str, data: bytes, conditions: Conditions, **properties: Any) -> Stored:
        """Store an object as a new generation."""
        _check_name(name)
        with self._lock:
            objects = self._bucket(bucket)
            if self.enforcing:
                conditions.check(objects.get(name))
            now = datetime.datetime.now(tz=datetime.UTC)
            self._generation = max(self._generation + 1, time.time_ns() // 1000)
            stored = Stored(bucket=bucket, name=name, data=data, generation=self._generation, updated=now, **properties)
            if name not in objects:
                bisect.insort(self._names[bucket], name, key=str.encode)
            objects[name] = stored
            return stored

    def patch(self, bucket: str, name: str, **properties: Any) -> Stored:
        """Change an object's metadata: its generation stays."""
        with self._lock:
            found = self.get(bucket, name)
            now = datetime.datetime.now(tz=datetime.UTC)
            changed = replace(found, metageneration=found.metageneration + 1, updated=now, **properties)
            self._buckets[bucket][name] = changed
            return changed

    def delete(self, bucket: str, name: str, conditions: Conditions, generation: int | None = None) -> None:
        """Remove an object."""
        with self._lock:
            found = self.get(bucket, name, generation)
            if self.enforcing:
                conditions.check(found)
            del self._buckets[bucket][name]
            self._names[bucket].remove(name)

    def page(
        self, bucket: str, prefix: str, delimiter: str, after: str | None, most: int, start: str = "", end: str = ""
    ) -> tuple[list[Stored], list[str], str | None]:
        """At most `most` objects and folders whose names follow `after`; and the last one's name if there are more."""
        items: list[Stored] = []
        folders: list[str] = []
        last: str | None = None
        with self._lock:
            objects, names = self._bucket(bucket), self._names[bucket]
            first = max(prefix, start, after or "", key=str.encode)
            position = bisect.bisect_left(names, first.encode(), key=str.encode)
            for name in names[position:]:
                if not name.startswith(prefix) or (end and name.encode() >= end.encode()):
                    break
                if after is not None and name.encode() <= after.encode():
                    continue
                cut = name.find(delimiter, len(prefix)) if delimiter else -1
                folder = name[: cut + len(delimiter)] if cut >= 0 else None
                if folder is not None and (folder == after or (folders and folders[-1] == folder)):
                    continue
                if len(items) + len(folders) == most:
                    return items, folders, last
                last = folder or name
                if folder is None:
                    items.append(objects[name])
                else:
                    folders.append(folder)
        return items, folders, None

    def _bucket(self, bucket: str) -> dict[str, Stored]:
        if bucket not in self._buckets:
            raise Refused(404, "The specified bucket does not exist.", "notFound")
        return self._buckets[bucket]


def _check_name(name: str) -> None:
    if not 1 <= len(name.encode()) <= 1024 or name in (".", "..") or "\r" in name or "\n" in name:
        raise Refused(400, f"Invalid object name: {name!r}")
    if name.startswith(".well-known/acme-challenge/"):
        raise Refused(400, f"Invalid object name: {name!r}")
