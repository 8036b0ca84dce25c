# An image of a worker; docs/deployment.md says how it is run.
#
#     docker build -t semcrawl .
#     docker run --rm -v "$PWD/out:/job" --user "$(id -u)" semcrawl harvest https://example.org/ --out .
#
# Settings come as environment variables of their names (docs/settings.md).

FROM python:3.12.8-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
# optional parts (pyproject.toml): here those that a worker beside others has a use for
ARG EXTRAS=compression,postgresql
WORKDIR /src
RUN python -m venv /opt/semcrawl
COPY pyproject.toml setup.py README.md LICENSE ./
COPY semcrawl semcrawl
RUN /opt/semcrawl/bin/pip install ".[${EXTRAS}]" \
    && /opt/semcrawl/bin/pip uninstall --yes pip

FROM python:3.12.8-slim-bookworm
RUN groupadd --gid 10001 semcrawl \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /job semcrawl \
    && install --directory --owner=10001 --group=10001 /job
COPY --from=build /opt/semcrawl /opt/semcrawl
ENV PATH=/opt/semcrawl/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SCRAPY_SETTINGS_MODULE=semcrawl.config.environment \
    SEMCRAWL_JOBDIR=/job \
    SEMCRAWL_HEARTBEATS=/tmp/semcrawl
USER 10001:10001
WORKDIR /job
VOLUME /job
# the first SIGTERM finishes and writes what is in flight
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=60s --timeout=10s --start-period=60s --retries=2 \
    CMD ["python", "-m", "semcrawl.heartbeats"]
ENTRYPOINT ["semcrawl"]
CMD ["--help"]
