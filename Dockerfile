# Built by `docker compose build`. What is installed is what requirements.txt names, by hash, and the wheel of this folder.
FROM python:3.12-slim AS build
WORKDIR /src
RUN python -m venv /app
COPY requirements.txt ./
RUN /app/bin/pip install --no-cache-dir --require-hashes --requirement requirements.txt
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY em_pipelines em_pipelines
COPY assets assets
COPY resources resources
COPY sensors sensors
COPY quality quality
RUN /app/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.12-slim
RUN useradd --uid 10001 --create-home em && install --directory --owner em --mode 700 /memory
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH EM_HOME=/memory DAGSTER_HOME=/memory/dagster \
    DAGSTER_DISABLE_TELEMETRY=1 GX_ANALYTICS_ENABLED=false PYTHONDONTWRITEBYTECODE=1
USER em
WORKDIR /app
VOLUME /memory
CMD ["em", "--help"]
