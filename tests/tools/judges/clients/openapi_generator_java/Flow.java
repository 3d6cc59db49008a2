// An onramp and its webhook on the client that openapi-generator makes for Java: `java Flow http://127.0.0.1:8642`.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.openapitools.client.ApiClient;
import org.openapitools.client.JSON;
import org.openapitools.client.api.AuthenticationApi;
import org.openapitools.client.api.OrdersAndTransactionsApi;
import org.openapitools.client.api.RampQuotesAndRampsApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.ConfirmQuoteRequest;
import org.openapitools.client.model.CreateQuoteRequest;
import org.openapitools.client.model.CreateTokenRequest;
import org.openapitools.client.model.CreateWebhookRequest;
import org.openapitools.client.model.OnrampTransaction;
import org.openapitools.client.model.RampMobileMoneyInstructions;
import org.openapitools.client.model.ConfirmQuoteRequestPayer;
import org.openapitools.client.model.TransactionCompletedEvent;

public class Flow {
    private static final byte[] WEBHOOK_KEY = "whk_test_simulator".getBytes(StandardCharsets.UTF_8);
    private static final long OLDEST_MS = 300_000;
    private static final BlockingQueue<TransactionCompletedEvent> COMPLETED = new LinkedBlockingQueue<>();

    /** Whether a delivery is signed with the webhook key and no more than five minutes old. */
    private static boolean genuine(String timestamp, String signature, byte[] body) throws Exception {
        if (Math.abs(System.currentTimeMillis() - Long.parseLong(timestamp)) > OLDEST_MS) {
            return false;
        }
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(WEBHOOK_KEY, "HmacSHA256"));
        mac.update((timestamp + ".").getBytes(StandardCharsets.UTF_8));
        return MessageDigest.isEqual(mac.doFinal(body), HexFormat.of().parseHex(signature));
    }

    private static void receive(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        int status = 401;
        try {
            String timestamp = exchange.getRequestHeaders().getFirst("X-Timestamp");
            if (genuine(timestamp, exchange.getRequestHeaders().getFirst("X-Signature"), body)) {
                status = 200;
                var mapper = JSON.getDefault().getMapper();
                if (mapper.readTree(body).path("type").asText().equals("transaction.completed")) {
                    COMPLETED.add(mapper.readValue(body, TransactionCompletedEvent.class));
                }
            }
        } catch (Exception problem) {
            problem.printStackTrace();
            status = 500;
        }
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    /** Lets the outside world do something: a call of the control interface, which no client of the service has. */
    private static void act(String origin, String action, String target) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(origin + "/_simulator/actions/" + action))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"target\": \"" + target + "\"}"))
            .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IllegalStateException(action + " answered " + answer.statusCode() + ": " + answer.body());
        }
    }

    private static void check(boolean holds, Object seen) {
        if (!holds) {
            throw new IllegalStateException("unexpected: " + seen);
        }
    }

    public static void main(String[] arguments) throws Exception {
        String origin = arguments[0];
        ApiClient client = new ApiClient();
        client.updateBaseUri(origin + "/v1");
        String token = new AuthenticationApi(client)
            .createToken(new CreateTokenRequest().publicKey("pk_test_simulator").secretKey("sk_test_simulator"))
            .getAccessToken();
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));

        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", Flow::receive);
        server.start();
        String url = "http://127.0.0.1:" + server.getAddress().getPort();
        var everything = List.of(CreateWebhookRequest.EventsEnum.fromValue("*"));
        new WebhooksApi(client).createWebhook(new CreateWebhookRequest().url(url).events(everything), null);

        RampQuotesAndRampsApi ramps = new RampQuotesAndRampsApi(client);
        var quote = ramps.createQuote(
            new CreateQuoteRequest()
                .type(CreateQuoteRequest.TypeEnum.ONRAMP)
                .network(CreateQuoteRequest.NetworkEnum.CELO)
                .asset(CreateQuoteRequest.AssetEnum.USDC)
                .fiatCurrency(CreateQuoteRequest.FiatCurrencyEnum.KES)
                .amount("5000")
                .amountCurrency(CreateQuoteRequest.AmountCurrencyEnum.KES)
                .method(CreateQuoteRequest.MethodEnum.MOBILE_MONEY),
            null);
        OnrampTransaction made = ramps.confirmQuote(
            quote.getId(),
            new ConfirmQuoteRequest()
                .walletAddress("0x52908400098527886E0F7030069857D2E4169EE7")
                .payer(new ConfirmQuoteRequestPayer().phoneNumber("+254712345678")),
            "onramp-1").getOnrampTransaction();
        check(made.getStatus().equals("awaiting_payment"), made);
        check(made.getPaymentInstructions().getActualInstance() instanceof RampMobileMoneyInstructions, made);

        act(origin, "payment_arrives", made.getId());
        act(origin, "complete", made.getId());
        OnrampTransaction read =
            new OrdersAndTransactionsApi(client).getTransaction(made.getId()).getOnrampTransaction();

        TransactionCompletedEvent event = COMPLETED.poll(20, TimeUnit.SECONDS);
        check(event != null, "no event");
        OnrampTransaction told = event.getData().getObject().getOnrampTransaction();
        check(told.getId().equals(made.getId()), told);
        System.out.printf("{\"onramp\": \"%s\", \"event\": \"%s\", \"object\": \"%s\"}%n",
            read.getStatus(), event.getType().getValue(), told.getStatus());
        server.stop(0);
        System.exit(0);
    }
}
