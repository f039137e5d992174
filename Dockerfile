# Sayso in a container: docs/operate.md says how to run it and what it needs from the host.
# The base is pinned by its tag only; to pin it by digest: --build-arg PYTHON=python:...@sha256:...
ARG PYTHON=python:3.13-slim-bookworm

FROM ${PYTHON} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1
WORKDIR /build
COPY requirements.lock deploy/locked.py ./
RUN python locked.py requirements.lock >runtime.lock && python locked.py requirements.lock hatchling >backend.lock
RUN pip install --require-hashes --only-binary=:all: -r backend.lock
RUN python -m venv --without-pip /opt/sayso
RUN pip --python /opt/sayso/bin/python install --require-hashes --only-binary=:all: -r runtime.lock
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
COPY adapters adapters
COPY approvals approvals
COPY core core
COPY runbooks runbooks
RUN pip wheel --no-deps --no-build-isolation --no-index --wheel-dir dist .
RUN pip --python /opt/sayso/bin/python install --no-deps --no-index dist/*.whl

FROM ${PYTHON}
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 10001 sayso && useradd --uid 10001 --gid sayso --home-dir /srv/sayso --no-create-home --no-log-init --shell /usr/sbin/nologin sayso && install -d -o sayso -g sayso -m 0700 /srv/sayso/data /srv/sayso/work
COPY --from=build /opt/sayso /opt/sayso
ENV PATH=/opt/sayso/bin:/usr/local/bin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /srv/sayso
VOLUME ["/srv/sayso/data", "/srv/sayso/work"]
STOPSIGNAL SIGTERM
# Nothing tells from outside whether it gets on with its work, so nothing is checked: it ends when it cannot.
HEALTHCHECK NONE
ENTRYPOINT ["sayso"]
CMD ["run"]
