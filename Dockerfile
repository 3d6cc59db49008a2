FROM python:3.11-slim

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1
WORKDIR /app
COPY requirements.lock pyproject.toml README.md LICENSE ./
COPY simulator simulator
COPY scenarios scenarios
COPY contracts contracts
# What it needs besides, for example `--build-arg EXTRAS=postgres`.
ARG EXTRAS=
RUN PIP_CONSTRAINT=requirements.lock PIP_BUILD_CONSTRAINT=requirements.lock pip install ".${EXTRAS:+[$EXTRAS]}" \
    && rm -rf /app/* \
    && useradd --system --no-create-home --shell /usr/sbin/nologin rampsim
USER rampsim

# Other machines can reach a container, so it does not start without SIMULATOR_CONTROL_TOKEN.
ENV SIMULATOR_HOST=0.0.0.0 SIMULATOR_PORT=8642
EXPOSE 8642
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD \
    ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8642/_simulator/ready', timeout=2)"]
ENTRYPOINT ["rampsim"]
CMD ["serve"]
