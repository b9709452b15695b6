"""The library in Beam YAML: the transform `Rechunk`, for the `providers` of a pipeline. Imports no Beam YAML.

providers:
  - type: python
    transforms:
      Rechunk: pipelines.beam.yaml_transforms.Rechunk
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.typehints import typehints
from apache_beam.typehints.schemas import named_fields_from_element_type
from apache_beam.utils.timestamp import Timestamp

from chunkers import InvalidOption
from pipelines.beam.chunk_rows import RecordsToRows
from pipelines.config.model import Budget

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

    The configuration is that of RecordsToRows: `strategy` and its options, and which field is what. `payload` lists the
    fields to keep as columns, whose types are those of the input; or maps them to types. `limits` are what one document
    may cost, as in a configuration of the job. With `error_handling: {output: name}`, documents that cannot be chunked
    are rows of that output.
    """

    def __init__(
        self,
        strategy: str = "auto",
        *,
        id: str = "id",
        text: str = "text",
        title: str | None = None,
        media_type: str | None = None,
        path: str | None = None,
        metadata: Sequence[str] = (),
        payload: Sequence[str] | Mapping[str, str] = (),
        tokens: str | None = None,
        limits: Mapping[str, Any] | None = None,
        error_handling: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._errors = _output(error_handling)
        self._payload = payload
        self._config = {
            "strategy": strategy,
            "id": id,
            "text": text,
            "title": title,
            "media_type": media_type,
            "path": path,
            "metadata": metadata,
            "tokens": tokens,
            "limits": _budget(limits),
            **options,
        }
        RecordsToRows(**self._config)

    def expand(self, rows: beam.PCollection) -> Any:
        """The step itself."""
        payload = self._payload if isinstance(self._payload, Mapping) else _types(rows.element_type, self._payload)
        step = RecordsToRows(**self._config, payload=payload)
        if self._errors is None:
            return rows | step
        good, bad = rows | step.with_exception_handling()
        return {"good": good, self._errors: bad}


def _output(error_handling: Mapping[str, str] | None) -> str | None:
    """The name of the output for failures. InvalidOption for anything else."""
    if error_handling is None:
        return None
    if list(error_handling) != ["output"]:
        raise InvalidOption("error_handling", dict(error_handling), "{output: NAME} and nothing else")
    return error_handling["output"]


def _budget(limits: Mapping[str, Any] | None) -> Budget | None:
    """The limits of one document. InvalidOption for a name that is none."""
    known = [each.name for each in dataclasses.fields(Budget)]
    for name in limits or ():
        if name not in known:
            raise InvalidOption("limits", name, f"of {', '.join(known)}")
    return Budget(**limits) if limits else None


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
