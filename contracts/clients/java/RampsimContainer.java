import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.UUID;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

/** A rampsim container for a JUnit run, and calls to its control interface. It needs Testcontainers and JDK 11. */
public class RampsimContainer extends GenericContainer<RampsimContainer> {
  private static final int PORT = 8642;
  private final String token = UUID.randomUUID().toString();
  private final HttpClient http = HttpClient.newHttpClient();

  /** Uses the image that RAMPSIM_IMAGE names, or {@code rampsim}, which {@code docker build -t rampsim .} makes. */
  public RampsimContainer() {
    this(System.getenv().getOrDefault("RAMPSIM_IMAGE", "rampsim"));
  }

  public RampsimContainer(String image) {
    super(image);
    withEnv("SIMULATOR_CONTROL_TOKEN", token);
    withEnv("SIMULATOR_CLOCK", "manual");
    withExtraHost("host.docker.internal", "host-gateway"); // receivers in your tests, as the container reaches them
    withExposedPorts(PORT);
    waitingFor(Wait.forHttp("/_simulator/ready").forPort(PORT).forStatusCode(200));
  }

  public String url() {
    return "http://" + getHost() + ":" + getMappedPort(PORT);
  }

  public String controlToken() {
    return token;
  }

  /** Creates a world, or replaces it. Returns its JSON object, with base URLs and keys. */
  public String createWorld(String id) {
    return control("POST", "/worlds", null, "{\"id\": \"" + id + "\", \"scenarios\": [], \"replace\": true}");
  }

  public void deleteWorld(String id) {
    control("DELETE", "/worlds/" + id, null, null);
  }

  /**
   * Sends a control call such as {@code control("POST", "/clock/advance", "my-world", "{\"by\": \"31m\"}")}. Returns
   * the response body, and throws IllegalStateException if the call is refused.
   */
  public String control(String method, String path, String world, String body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url() + "/_simulator" + path))
            .header("Authorization", "Bearer " + token)
            .header("Content-Type", "application/json")
            .method(method, body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
    if (world != null) {
      request.header("X-Simulator-World", world);
    }
    try {
      HttpResponse<String> response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() >= 400) {
        throw new IllegalStateException(method + " " + path + ": " + response.statusCode() + " " + response.body());
      }
      return response.body();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(error);
    }
  }
}
