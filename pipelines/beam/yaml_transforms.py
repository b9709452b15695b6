"""The library in Beam YAML: the transform `Rechunk`, for the `providers` of a pipeline. Imports no Beam YAML.

providers:
  - type: python
    transforms:
      Rechunk: pipelines.beam.yaml_transforms.Rechunk
"""

from collections.abc import Mapping, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.typehints import typehints
from apache_beam.typehints.schemas import named_fields_from_element_type
from apache_beam.utils.timestamp import Timestamp

from chunkers import InvalidOption
from pipelines.beam.chunk_rows import RecordsToRows

_PAYLOAD: Mapping[str, tuple[type, ...]] = {
    "bool": (bool, np.bool_),
    "int64": (int, np.integer),
    "double": (float, np.floating),
    "string": (str,),
    "binary": (bytes,),
    "timestamp": (Timestamp,),
}


class Rechunk(beam.PTransform):
    """Chunks rows: one row of text in, one row a chunk out, with the columns of the chunks table.

    The configuration is that of RecordsToRows: `strategy` and its options, and which field is what (`id`, `text`,
    `title`, `media_type`, `path`, `metadata`). `payload` lists the fields to keep as columns, whose types are those of
    the input; or maps them to types. With `error_handling: {output: name}`, documents that cannot be chunked are rows
    of that output.
    """

    def __init__(
        self,
        *,
        error_handling: Mapping[str, str] | None = None,
        payload: Sequence[str] | Mapping[str, str] | None = None,
        **config: Any,
    ) -> None:
        super().__init__()
        given = dict(error_handling or {})
        self._errors = given.pop("output", None)
        if given or (error_handling is not None and self._errors is None):
            raise InvalidOption("error_handling", error_handling, "{output: NAME} and nothing else")
        self._payload: Any = payload or {}
        self._config = config
        RecordsToRows(**config)

    def expand(self, rows: beam.PCollection) -> Any:
        """The step itself."""
        payload = self._payload if isinstance(self._payload, Mapping) else _types(rows.element_type, self._payload)
        step = RecordsToRows(payload=payload, **self._config)
        if self._errors is None:
            return rows | step
        good, bad = rows | step.with_exception_handling()
        return {"good": good, self._errors: bad}


def _types(row: Any, names: Sequence[str]) -> dict[str, str]:
    """The payload types of these fields of a row. InvalidOption for one that it has not, or that is of no such type."""
    fields = dict(named_fields_from_element_type(row))
    found = {}
    for name in names:
        if name not in fields:
            raise InvalidOption("payload", name, f"a field of the input: {', '.join(fields)}")
        found[name] = _type(name, fields[name])
    return found


def _type(name: str, given: Any) -> str:
    type_ = typehints.normalize(given)
    if isinstance(type_, typehints.UnionConstraint):  # what may be null
        type_ = next((each for each in type_.union_types if each is not type(None)), type_)
    for word, types in _PAYLOAD.items():  # a bool is an int too, and comes first
        if isinstance(type_, type) and issubclass(type_, types):
            return word
    raise InvalidOption("payload", name, f"a field of a plain type, not {given}; or map it to a type")
