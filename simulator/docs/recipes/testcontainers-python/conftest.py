"""A simulator container for this pytest run.

It needs `pip install testcontainers "./rampsim-0.1.0-py3-none-any.whl[testing]"`.

It also needs Docker and an image: `docker build -t rampsim .` in a checkout, or an image from your registry, named by
RAMPSIM_IMAGE. The fixtures `world` and `webhooks` use the container, because SIMULATOR_URL points to it.
"""

import os
import secrets

import pytest
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

IMAGE = os.environ.get("RAMPSIM_IMAGE", "rampsim")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or "SIMULATOR_URL" in os.environ:  # one container for all pytest-xdist workers
        return
    token = secrets.token_urlsafe()
    container = (
        DockerContainer(IMAGE)
        .with_env("SIMULATOR_CONTROL_TOKEN", token)
        .with_env("SIMULATOR_CLOCK", "manual")
        .with_kwargs(extra_hosts={"host.docker.internal": "host-gateway"})
        .with_exposed_ports(8642)
        .waiting_for(HttpWaitStrategy(8642, "/_simulator/ready").for_status_code(200))
    )
    container.start()
    config.add_cleanup(container.stop)
    host = container.get_container_host_ip()
    os.environ["SIMULATOR_URL"] = f"http://{host}:{container.get_exposed_port(8642)}"
    os.environ["SIMULATOR_ALLOW_HOSTS"] = host  # if Docker runs on another machine
    os.environ["SIMULATOR_CONTROL_TOKEN"] = token
    os.environ["SIMULATOR_RECEIVER_HOST"] = "host.docker.internal"  # for webhooks from the container
