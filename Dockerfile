# Builds for amd64 and arm64: docker buildx build --platform linux/amd64,linux/arm64 -t rampsim .
# Everything is installed where there are compilers, for machines that have no wheels of something, and copied from there.
FROM python:3.11 AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
COPY requirements.lock pyproject.toml README.md LICENSE ./
COPY simulator simulator
COPY scenarios scenarios
COPY contracts contracts
# What it needs besides, for example `--build-arg EXTRAS=postgres`.
ARG EXTRAS=
RUN python -m venv --without-pip /opt/rampsim \
    && PIP_CONSTRAINT=requirements.lock PIP_BUILD_CONSTRAINT=requirements.lock \
       pip --python /opt/rampsim/bin/python install ".${EXTRAS:+[$EXTRAS]}"
# Half of it is what nobody needs who only serves: symbols for debuggers, names of places for telephone numbers, self-tests.
RUN find /opt/rampsim -name '*.so*' -type f -exec strip --strip-debug {} + \
    && rm -rf /opt/rampsim/lib/python3.*/site-packages/phonenumbers/geodata \
              /opt/rampsim/lib/python3.*/site-packages/Crypto/SelfTest

FROM python:3.11-slim
COPY --from=build /opt/rampsim /opt/rampsim
# /scenarios is for scenario files of your own, /data for a store: SIMULATOR_STORE=sqlite:////data/worlds.db.
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin rampsim \
    && mkdir /scenarios /data \
    && chown rampsim /data
# By number: an orchestrator can tell that it is not root.
USER 10001
WORKDIR /data

# All settings are variables (`rampsim serve --help` names them). Other machines can reach a container, so it does not start
# without SIMULATOR_CONTROL_TOKEN.
ENV PATH=/opt/rampsim/bin:$PATH PYTHONUNBUFFERED=1 \
    SIMULATOR_HOST=0.0.0.0 SIMULATOR_PORT=8642 SIMULATOR_SCENARIOS=/scenarios
EXPOSE 8642
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --start-interval=1s CMD \
    ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"SIMULATOR_PORT\"]}/_simulator/ready', timeout=2)"]
ENTRYPOINT ["rampsim"]
CMD ["serve"]
