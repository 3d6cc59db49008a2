package org.testcontainers.containers;

import org.testcontainers.containers.wait.strategy.HttpWaitStrategy;

/** A stand-in: the server that STUB_PORT names takes the place of the container. */
public class GenericContainer<SELF> {
  public GenericContainer(String image) {}
  public SELF withEnv(String name, String value) { return self(); }
  public SELF withExtraHost(String name, String address) { return self(); }
  public SELF withExposedPorts(Integer... ports) { return self(); }
  public SELF waitingFor(HttpWaitStrategy strategy) { return self(); }
  public void start() {}
  public String getHost() { return "127.0.0.1"; }
  public Integer getMappedPort(int port) { return Integer.valueOf(System.getenv("STUB_PORT")); }
  @SuppressWarnings("unchecked")
  private SELF self() { return (SELF) this; }
}
