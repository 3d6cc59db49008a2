// An onramp and its webhook, on the client that openapi-generator makes for Go: `flow http://127.0.0.1:8642`.
package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	ramp "ramp/client"
)

const webhookKey = "whk_test_simulator"

func must(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

// genuine says whether a delivery is signed with the webhook key and no more than five minutes old.
func genuine(headers http.Header, body []byte) bool {
	sent, err := strconv.ParseInt(headers.Get("X-Timestamp"), 10, 64)
	if err != nil || time.Since(time.UnixMilli(sent)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, []byte(webhookKey))
	mac.Write([]byte(headers.Get("X-Timestamp") + "."))
	mac.Write(body)
	signature, err := hex.DecodeString(headers.Get("X-Signature"))
	return err == nil && hmac.Equal(signature, mac.Sum(nil))
}

// listen receives webhooks; what is genuine and says that a transaction completed goes into the channel.
func listen(completed chan<- *ramp.TransactionCompletedEvent) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err, "listen")
	receive := func(answer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		if !genuine(request.Header, body) {
			answer.WriteHeader(http.StatusUnauthorized)
			return
		}
		var envelope struct{ Type string }
		must(json.Unmarshal(body, &envelope), "envelope")
		if envelope.Type == "transaction.completed" {
			event := new(ramp.TransactionCompletedEvent)
			must(json.Unmarshal(body, event), "event")
			completed <- event
		}
	}
	go http.Serve(listener, http.HandlerFunc(receive))
	return "http://" + listener.Addr().String()
}

// act is a call of the control interface, which is not part of the service and of its client.
func act(origin, action, target string) {
	body, _ := json.Marshal(map[string]string{"target": target})
	answer, err := http.Post(origin+"/_simulator/actions/"+action, "application/json", bytes.NewReader(body))
	must(err, action)
	if answer.StatusCode != http.StatusOK {
		must(fmt.Errorf("answered %s", answer.Status), action)
	}
	answer.Body.Close()
}

func main() {
	origin := os.Args[1]
	configuration := ramp.NewConfiguration()
	configuration.Servers = ramp.ServerConfigurations{{URL: origin + "/v1"}}
	client := ramp.NewAPIClient(configuration)

	keys := *ramp.NewCreateTokenRequest("pk_test_simulator", "sk_test_simulator")
	token, _, err := client.AuthenticationAPI.CreateToken(context.Background()).CreateTokenRequest(keys).Execute()
	must(err, "token")
	ctx := context.WithValue(context.Background(), ramp.ContextAccessToken, token.AccessToken)

	completed := make(chan *ramp.TransactionCompletedEvent, 1)
	hook := *ramp.NewCreateWebhookRequest(listen(completed), []string{"*"})
	_, _, err = client.WebhooksAPI.CreateWebhook(ctx).CreateWebhookRequest(hook).Execute()
	must(err, "webhook")

	asked := *ramp.NewCreateQuoteRequest("onramp", "celo", "USDC", "KES", "5000", "KES", "mobile_money")
	quote, _, err := client.RampQuotesAndRampsAPI.CreateQuote(ctx).CreateQuoteRequest(asked).Execute()
	must(err, "quote")

	payer := ramp.NewConfirmQuoteRequestPayer()
	payer.SetPhoneNumber("+254712345678")
	confirmation := *ramp.NewConfirmQuoteRequest()
	confirmation.SetWalletAddress("0x52908400098527886E0F7030069857D2E4169EE7")
	confirmation.SetPayer(*payer)
	made, _, err := client.RampQuotesAndRampsAPI.ConfirmQuote(ctx, quote.Id).
		ConfirmQuoteRequest(confirmation).IdempotencyKey("onramp-1").Execute()
	must(err, "confirm")
	onramp := made.OnrampTransaction
	if onramp == nil || onramp.Status != "awaiting_payment" || onramp.PaymentInstructions.RampMobileMoneyInstructions == nil {
		must(fmt.Errorf("unexpected answer %+v", made), "confirm")
	}

	act(origin, "payment_arrives", onramp.Id)
	act(origin, "complete", onramp.Id)
	read, _, err := client.OrdersAndTransactionsAPI.GetTransaction(ctx, onramp.Id).Execute()
	must(err, "read")

	select {
	case event := <-completed:
		told := event.Data.Object.OnrampTransaction
		done := map[string]string{
			"onramp": read.OnrampTransaction.Status, "event": event.Type, "object": told.Status,
		}
		if told.Id != onramp.Id {
			must(fmt.Errorf("it is about %s", told.Id), "event")
		}
		must(json.NewEncoder(os.Stdout).Encode(done), "print")
	case <-time.After(20 * time.Second):
		must(fmt.Errorf("none came"), "event")
	}
}
