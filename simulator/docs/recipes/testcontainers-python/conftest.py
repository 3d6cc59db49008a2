"""A container of the simulator for this run of pytest.

It needs `pip install testcontainers "./rampsim-0.1.0-py3-none-any.whl[testing]"`.

Docker has to be there, and an image: `docker build -t rampsim .` in a checkout, or one from your registry by the
variable RAMPSIM_IMAGE. The fixtures `world` and `webhooks` of rampsim use it, because SIMULATOR_URL names it.
"""

import os
import secrets

import pytest
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

IMAGE = os.environ.get("RAMPSIM_IMAGE", "rampsim")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or "SIMULATOR_URL" in os.environ:  # one for all workers of pytest-xdist
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
    os.environ["SIMULATOR_ALLOW_HOSTS"] = host  # where Docker runs on another machine
    os.environ["SIMULATOR_CONTROL_TOKEN"] = token
    os.environ["SIMULATOR_RECEIVER_HOST"] = "host.docker.internal"  # how the container reaches receivers of the tests
