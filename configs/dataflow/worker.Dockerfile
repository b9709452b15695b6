# What workers run: Beam's own image with rechunk in it, so that a worker installs nothing when it starts.
#
#   python -m build --sdist
#   docker build -f configs/dataflow/worker.Dockerfile -t REGION-docker.pkg.dev/PROJECT/rechunk/worker:0.1.0 .
#
# Beam and Python must be those of whoever submits: constraints.txt and the launcher's image say the same.
FROM apache/beam_python3.11_sdk:2.77.0

COPY constraints.txt dist/rechunk-*.tar.gz /opt/rechunk/
RUN pip install --no-cache-dir --disable-pip-version-check -c /opt/rechunk/constraints.txt \
        "$(ls /opt/rechunk/rechunk-*.tar.gz)[gcs,code,fast]" \
    && pip check

ENTRYPOINT ["/opt/apache/beam/boot"]
