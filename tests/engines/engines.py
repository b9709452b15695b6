"""Engines to run on: Prism, and Flink and Spark in their job server's process or as clusters of several."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.engines.fetching import ROOT, dask, jars, prism
from tests.engines.servers import Servers, command_line, descendants, free_port, worker_pool

_MEGABYTE = 1 << 20

_OPEN_TO_SPARK = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in (
        *("java.lang", "java.lang.invoke", "java.io", "java.net", "java.nio", "java.util", "java.util.concurrent"),
        *("sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar"),
    )
]
"""What Spark 3.5 reaches into, which Java 17 forbids otherwise."""


@dataclass
class Engine:
    """An engine that runs: the pipeline options that lead to it, and processes that a test may kill.

    One that `logs` does so where it is started from.
    """

    options: list[str]
    servers: Servers
    pool: str = ""
    workers: list[int] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    logs: bool = False

    def python_workers(self) -> list[int]:
        """The Python processes that work now."""
        pools = [process for name, process in self.servers.processes() if name == self.pool]
        return [each for pool in pools for each in descendants(pool) if "SdkHarness" in command_line(each)]


@contextmanager
def engine(name: str, folder: Path) -> Iterator[Engine]:
    """The engine of that name, started, and ended after it. Skips the test where it cannot be had."""
    servers = Servers(folder)
    try:
        yield ENGINES[name](servers)
    finally:
        servers.stop()


def _prism(servers: Servers) -> Engine:
    port = worker_pool(servers)
    options = ["--runner", "PrismRunner", "--prism_location", str(prism()), *_external(port)]
    return Engine(options=options, servers=servers, pool="pool")


def _flink(servers: Servers) -> Engine:
    return _with_job_server(servers, "FlinkRunner", _flink_server(servers, "[local]"))


def _spark(servers: Servers) -> Engine:
    return _with_job_server(servers, "SparkRunner", _spark_server(servers, "local[2]"))


def _flink_cluster(servers: Servers) -> Engine:
    """A session cluster with two task managers."""
    rpc, rest = free_port(), free_port()
    settings = {
        "jobmanager.rpc.address": "localhost",
        "jobmanager.rpc.port": rpc,
        "rest.address": "localhost",
        "rest.port": rest,
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": 5,
        "restart-strategy.fixed-delay.delay": "1 s",
        "heartbeat.interval": 1000,
        "heartbeat.timeout": 10000,
        "taskmanager.numberOfTaskSlots": 2,  # one that is left must have room for the whole job
    }
    (servers.folder / "flink-conf.yaml").write_text("".join(f"{key}: {value}\n" for key, value in settings.items()))
    at = ["--configDir", str(servers.folder)]
    entry = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
    servers.start("jobmanager", ["java", "-Xmx384m", "-cp", jars("flink"), entry, *at])
    servers.wait_for(rest)
    sizes = {
        **dict.fromkeys(("framework.heap", "task.heap", "framework.off-heap", "task.off-heap", "managed"), 128),
        **dict.fromkeys(("jvm-metaspace", "network.min", "network.max", "jvm-overhead.min", "jvm-overhead.max"), 128),
    }
    memory = [
        f"taskmanager.memory.{name}{'' if name.endswith(('.min', '.max')) else '.size'}={size * _MEGABYTE}b"
        for name, size in sizes.items()
    ]
    entry = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
    java = ["java", "-Xmx320m", "-XX:MaxDirectMemorySize=512m", "-cp", jars("flink"), entry, *at]
    tokens = [token for setting in ("taskmanager.cpu.cores=1.0", *memory) for token in ("-D", setting)]
    workers = [servers.start(f"taskmanager-{number}", [*java, *tokens]) for number in range(2)]
    found = _with_job_server(servers, "FlinkRunner", _flink_server(servers, f"localhost:{rest}"))
    found.workers = workers
    found.options += ["--parallelism", "2"]  # what the cluster's default says does not reach Beam's job server
    return found


def _spark_cluster(servers: Servers) -> Engine:
    """A standalone cluster with two workers, which start an executor each."""
    home = servers.folder / "home"
    home.mkdir()
    (home / "jars").symlink_to(Path(jars("spark")).parent)
    environment = {"SPARK_HOME": str(home), "SPARK_SCALA_VERSION": "2.12", "SPARK_LOCAL_IP": "127.0.0.1"}
    port, page = free_port(), free_port()
    java = ["java", "-Xmx256m", *_OPEN_TO_SPARK, "-cp", jars("spark")]
    at = ["--host", "localhost", "--port", str(port), "--webui-port", str(page)]
    servers.start("master", [*java, "org.apache.spark.deploy.master.Master", *at], environment)
    servers.wait_for(port)
    place = ["--cores", "1", "--memory", "1g", "--webui-port", "0", f"spark://localhost:{port}"]
    for number in range(2):
        servers.start(f"worker-{number}", [*java, "org.apache.spark.deploy.worker.Worker", *place], environment)
    options = ["-Dspark.driver.host=localhost", "-Dspark.executor.memory=512m"]
    server = _spark_server(servers, f"spark://localhost:{port}", options, environment)
    return _with_job_server(servers, "SparkRunner", server)


def _dask(servers: Servers) -> Engine:
    """Two worker processes, started by Dask's own client."""
    path = f"{ROOT}{os.pathsep}{dask()}"
    options = ["--runner", "apache_beam.runners.dask.dask_runner.DaskRunner"]
    environment = {"PYTHONPATH": path, "DASK_LOGGING__DISTRIBUTED": "critical"}
    return Engine(options=options, servers=servers, environment=environment, logs=True)


def executors(servers: Servers) -> list[int]:
    """The processes in which a Spark cluster does its work now."""
    workers = [process for name, process in servers.processes() if name.startswith("worker-")]
    found = [each for worker in workers for each in descendants(worker)]
    return [each for each in found if "CoarseGrainedExecutorBackend" in command_line(each)]


def _flink_server(servers: Servers, master: str) -> int:
    java = ["java", "-Xmx512m", "-cp", jars("flink"), "org.apache.beam.runners.flink.FlinkJobServerDriver"]
    return _job_server(servers, [*java, "--flink-master", master])


def _spark_server(
    servers: Servers, master: str, options: list[str] | None = None, environment: dict[str, str] | None = None
) -> int:
    java = ["java", "-Xmx768m", *_OPEN_TO_SPARK, *(options or []), "-cp", jars("spark")]
    server = "org.apache.beam.runners.spark.SparkJobServerDriver"
    return _job_server(servers, [*java, server, "--spark-master-url", master], environment)


def _job_server(servers: Servers, command: list[str], environment: dict[str, str] | None = None) -> int:
    """Beam's job server, which is given pipelines. The port it listens at."""
    port = free_port()
    ports = ["--job-port", str(port), "--artifact-port", "0", "--expansion-port", "0"]
    here = ["--job-host", "localhost", "--artifacts-dir", str(servers.folder / "artifacts")]
    servers.start("jobserver", [*command, *ports, *here], environment)
    servers.wait_for(port)
    return port


def _with_job_server(servers: Servers, runner: str, port: int) -> Engine:
    external = _external(worker_pool(servers))
    options = ["--runner", runner, "--job_endpoint", f"localhost:{port}", *external]
    return Engine(options=options, servers=servers, pool="pool")


def _external(port: int) -> list[str]:
    return ["--environment_type", "EXTERNAL", "--environment_config", f"localhost:{port}"]


ENGINES = {
    "prism": _prism,
    "flink": _flink,
    "spark": _spark,
    "dask": _dask,
    "flink-cluster": _flink_cluster,
    "spark-cluster": _spark_cluster,
}
