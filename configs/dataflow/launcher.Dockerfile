# What the Flex Template starts: it lists, plans, submits the job, and ends.
#
#   python -m build --sdist
#   docker build -f configs/dataflow/launcher.Dockerfile -t REGION-docker.pkg.dev/PROJECT/rechunk/launcher:0.1.0 .
FROM gcr.io/dataflow-templates-base/python311-template-launcher-base:latest AS launcher

FROM python:3.11-slim

COPY --from=launcher /opt/google/dataflow/python_template_launcher /opt/google/dataflow/python_template_launcher

COPY constraints.txt dist/rechunk-*.tar.gz configs/dataflow/launch.py /template/
RUN pip install --no-cache-dir --disable-pip-version-check -c /template/constraints.txt \
        "$(ls /template/rechunk-*.tar.gz)[gcp,gcs,code,fast]" \
    && pip check

ENV FLEX_TEMPLATE_PYTHON_PY_FILE=/template/launch.py

ENTRYPOINT ["/opt/google/dataflow/python_template_launcher"]
