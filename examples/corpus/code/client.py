"""A small client for Estuary. Reads pages until there are no more, and waits when it is told to."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request

BASE = "https://estuary.saltmarsh.example/v3"


class EstuaryError(Exception):
    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


class Client:
    def __init__(self, key, base=BASE, patience=5):
        self.key = key
        self.base = base
        self.patience = patience

    def stations(self):
        return self._get("/stations", {})

    def readings(self, station, **query):
        """Yield the readings of a station, oldest first."""
        cursor = None
        while True:
            page = self._get(f"/stations/{station}/readings", {**query, **({"cursor": cursor} if cursor else {})})
            yield from page["readings"]
            cursor = page.get("next")
            if cursor is None:
                return

    def _get(self, path, query):
        address = f"{self.base}{path}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {self.key}"})
        for _ in range(self.patience):
            try:
                with urllib.request.urlopen(request, timeout=30) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                if error.code != 429:
                    body = json.load(error)
                    raise EstuaryError(body["code"], body["message"]) from None
                time.sleep(int(error.headers["Retry-After"]))
        raise EstuaryError("slow_down", f"still refused after {self.patience} tries")
