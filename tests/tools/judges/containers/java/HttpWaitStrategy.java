package org.testcontainers.containers.wait.strategy;

public class HttpWaitStrategy {
  public HttpWaitStrategy forPort(int port) { return this; }
  public HttpWaitStrategy forStatusCode(int code) { return this; }
}
