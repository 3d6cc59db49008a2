// A simulator container for tests. It needs `npm install --save-dev testcontainers`, Docker and an image:
// `docker build -t rampsim .` in a checkout, or an image from your registry, named by RAMPSIM_IMAGE.
//
// Vitest: `globalSetup: ["./rampsim-container.ts"]`, once per run. Tests find it through SIMULATOR_URL.
import { randomBytes } from "node:crypto";
import { GenericContainer, type StartedTestContainer, Wait } from "testcontainers";

let container: StartedTestContainer | undefined;

export async function setup(): Promise<void> {
  const token = randomBytes(16).toString("hex");
  container = await new GenericContainer(process.env.RAMPSIM_IMAGE ?? "rampsim")
    .withEnvironment({ SIMULATOR_CONTROL_TOKEN: token, SIMULATOR_CLOCK: "manual" })
    .withExtraHosts([{ host: "host.docker.internal", ipAddress: "host-gateway" }])
    .withExposedPorts(8642)
    .withWaitStrategy(Wait.forHttp("/_simulator/ready", 8642).forStatusCode(200))
    .start();
  process.env.SIMULATOR_URL = `http://${container.getHost()}:${container.getMappedPort(8642)}`;
  process.env.SIMULATOR_ALLOW_HOSTS = container.getHost(); // if Docker runs on another machine
  process.env.SIMULATOR_CONTROL_TOKEN = token;
  process.env.SIMULATOR_RECEIVER_HOST = "host.docker.internal"; // the host of the tests' receivers, as the container reaches it
}

export async function teardown(): Promise<void> {
  await container?.stop();
}
