"""A pool of Python workers that several hosts of an engine may share, as they do on one machine.

Beam's own pool is meant for one host: hosts number their workers alike, and when one of them lets a worker go, the pool
ends the one that another host has under that number, for which the engine then waits without end. Here nobody is ended;
a worker ends when its engine closes the connection.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.worker.worker_pool_main import BeamFnExternalWorkerPoolServicer


class Pool(BeamFnExternalWorkerPoolServicer):
    """Starts workers as processes."""

    def StopWorker(self, request: Any, context: Any) -> Any:
        """Leave it to the worker."""
        return beam_fn_api_pb2.StopWorkerResponse()


if __name__ == "__main__":
    served = Pool.start(use_process=True, port=int(sys.argv[1]))
    threading.Event().wait()
