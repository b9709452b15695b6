"""Fit a tide to water levels and forecast it.

Heights are millimetres above the station's zero, times are seconds since 1970 in UTC. Nothing is filled in: a
missing reading is left out of the fit and has no place in the forecast.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: Speed of each constituent in degrees per hour.
SPEEDS = {
    "M2": 28.9841042,
    "S2": 30.0000000,
    "N2": 28.4397295,
    "K2": 30.0821373,
    "K1": 15.0410686,
    "O1": 13.9430356,
    "P1": 14.9589314,
    "Q1": 13.3986609,
    "M4": 57.9682084,
    "MS4": 58.9841042,
}


@dataclass(frozen=True)
class Constituent:
    """One cosine of the tide: `amplitude` in mm, `phase` in degrees at the epoch."""

    name: str
    amplitude: float
    phase: float

    def height(self, seconds: float) -> float:
        """Its share of the height at a time, in mm."""
        angle = math.radians(SPEEDS[self.name] * seconds / 3600 - self.phase)
        return self.amplitude * math.cos(angle)


@dataclass(frozen=True)
class Tide:
    """A mean and its constituents."""

    mean: float
    constituents: tuple[Constituent, ...]

    def height(self, seconds: float) -> float:
        """The height at a time, in mm above the station's zero."""
        return self.mean + sum(one.height(seconds) for one in self.constituents)

    def highs(self, start: float, end: float, step: float = 60.0) -> list[tuple[float, float]]:
        """Times and heights of the high waters in [start, end), found on a grid of `step` seconds."""
        found = []
        before, here = self.height(start - step), self.height(start)
        moment = start
        while moment < end:
            after = self.height(moment + step)
            if before < here >= after:
                found.append((moment, here))
            before, here = here, after
            moment += step
        return found


def fit(readings: Iterable[tuple[float, int]], names: Sequence[str] = tuple(SPEEDS)) -> Tide:
    """The tide that fits the readings best in the sense of least squares.

    `readings` are pairs of time and height. Raises ValueError when there are fewer readings than unknowns.
    """
    unknowns = 1 + 2 * len(names)
    normal = [[0.0] * unknowns for _ in range(unknowns)]
    right = [0.0] * unknowns
    count = 0
    for seconds, height in readings:
        row = _row(seconds, names)
        for i, left in enumerate(row):
            right[i] += left * height
            for j, other in enumerate(row):
                normal[i][j] += left * other
        count += 1
    if count < unknowns:
        raise ValueError(f"{count} readings cannot fix {unknowns} unknowns")
    solution = _solve(normal, right)
    constituents = []
    for k, name in enumerate(names):
        cosine, sine = solution[1 + 2 * k], solution[2 + 2 * k]
        constituents.append(Constituent(name, math.hypot(cosine, sine), math.degrees(math.atan2(sine, cosine)) % 360))
    return Tide(solution[0], tuple(constituents))


def _row(seconds: float, names: Sequence[str]) -> list[float]:
    row = [1.0]
    for name in names:
        angle = math.radians(SPEEDS[name] * seconds / 3600)
        row += [math.cos(angle), math.sin(angle)]
    return row


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gauss with partial pivoting. The matrix is small: 21 rows for ten constituents."""
    size = len(right)
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda r: abs(rows[r][column]))
        if abs(rows[pivot][column]) < 1e-9:
            raise ValueError("the readings are too short to tell the constituents apart")
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for below in range(column + 1, size):
            factor = rows[below][column] / rows[column][column]
            for k in range(column, size + 1):
                rows[below][k] -= factor * rows[column][k]
    solution = [0.0] * size
    for row in reversed(range(size)):
        known = sum(rows[row][k] * solution[k] for k in range(row + 1, size))
        solution[row] = (rows[row][size] - known) / rows[row][row]
    return solution


class Residuals:
    """What the tide leaves, and when it is worth waking somebody."""

    def __init__(self, tide: Tide, threshold: float = 300.0) -> None:
        self.tide = tide
        self.threshold = threshold

    def of(self, readings: Iterable[tuple[float, int]]) -> list[tuple[float, float]]:
        """Times and residuals in mm, in the order of the readings."""
        return [(seconds, height - self.tide.height(seconds)) for seconds, height in readings]

    def alarms(self, readings: Iterable[tuple[float, int]], minutes: int = 30) -> list[float]:
        """Times at which the residual has been above the threshold for so many minutes.

        A gull does not stay for half an hour. A surge does.
        """
        since: float | None = None
        times = []
        for seconds, rest in self.of(readings):
            if abs(rest) <= self.threshold:
                since = None
                continue
            if since is None:
                since = seconds
            if seconds - since >= minutes * 60:
                times.append(seconds)
                since = None
        return times
