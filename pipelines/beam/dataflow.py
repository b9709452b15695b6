"""What Dataflow asks of whoever submits, said before anything is listed. Imports no Beam before it is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.beam.quiet import quiet_beam
from pipelines.errors import UsageError
from pipelines.processes import import_clouds

RUNNERS = ("DataflowRunner", "TestDataflowRunner")

_BUCKET = re.compile(r"gs://[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](/.*)?", re.DOTALL)


def refuse_unready(runner: str, arguments: Sequence[str]) -> None:
    """UsageError for what would only fail, or hang, once the job is submitted or its workers have started."""
    with quiet_beam():
        import_clouds()
        from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions

        try:
            import apache_beam.runners.dataflow.internal.apiclient  # noqa: F401
        except ImportError as error:
            raise UsageError(
                f"{runner} needs Google's libraries, which are missing ({error.name or error}): "
                "pip install 'rechunk[gcp]'"
            ) from None
    options = PipelineOptions(list(arguments))
    cloud = options.view_as(GoogleCloudOptions)
    missing = [name for name in ("project", "region", "temp_location") if not getattr(cloud, name)]
    if missing:
        raise UsageError(f"{runner} needs {', '.join(f'--{name}' for name in missing)}")
    for name in ("temp_location", "staging_location"):
        address = getattr(cloud, name)
        if address and not _BUCKET.fullmatch(address):
            raise UsageError(f"--{name} is {address!r}, which is no folder of a bucket, as gs://bucket/folder")
    _refuse_bare_workers(runner, options.get_all_options())


def _refuse_bare_workers(runner: str, options: dict[str, object]) -> None:
    """Workers start with Beam alone; something must bring rechunk."""
    brings = ("sdk_container_image", "setup_file", "extra_packages", "requirements_file")
    if not any(options.get(name) for name in brings):
        raise UsageError(
            f"workers of {runner} would not have rechunk: give them an image that has it (--sdk_container_image), "
            "or have it installed at their start (--extra_package=dist/rechunk-….tar.gz)"
        )
