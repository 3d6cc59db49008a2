// An onramp and its webhook on the types of openapi-typescript with openapi-fetch: `flow.js http://127.0.0.1:8642`.
import createClient from "openapi-fetch";
import { act, receive, taken } from "./receiver";
import type { components, paths, webhooks } from "./schema";

type Quote = components["schemas"]["CreateQuoteRequest"];
type Onramp = components["schemas"]["OnrampTransaction"];
type Told = webhooks["transaction.completed" | "transaction.created"]["post"]["requestBody"]["content"]["application/json"];

/** What a person chooses on a form: nothing of it is known before the program runs. */
type Form = Pick<Quote, "type" | "network" | "asset" | "fiat_currency" | "method"> & { amount: string; inFiat: boolean };

function quoteFrom(form: Form): Quote {
  const { amount, inFiat, ...chosen } = form;
  return { ...chosen, amount, amount_currency: inFiat ? form.fiat_currency : form.asset };
}

function onrampIn(transaction: components["schemas"]["Transaction"]): Onramp {
  if (transaction.type !== "onramp") throw new Error(`it is of type ${transaction.type}`);
  return transaction;
}

async function main(origin: string): Promise<void> {
  const client = createClient<paths>({ baseUrl: `${origin}/v1` });
  const keys = { public_key: "pk_test_simulator", secret_key: "sk_test_simulator" };
  const token: string = taken(await client.POST("/auth/token", { body: keys })).access_token;
  client.use({
    onRequest: ({ request }) => request.headers.set("Authorization", `Bearer ${token}`),
  });

  const receiver = await receive<Told>();
  taken(await client.POST("/webhooks", { body: { url: receiver.url, events: ["*"] } }));

  const form: Form = JSON.parse(
    '{"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": "mobile_money",' +
      ' "amount": "5000", "inFiat": true}',
  );
  const quote = taken(await client.POST("/quotes", { body: quoteFrom(form) }));
  const made = onrampIn(
    taken(
      await client.POST("/quotes/{id}/confirm", {
        params: { path: { id: quote.id }, header: { "Idempotency-Key": "onramp-1" } },
        body: {
          wallet_address: "0x52908400098527886E0F7030069857D2E4169EE7",
          payer: { phone_number: "+254712345678" },
        },
      }),
    ),
  );
  if (made.status !== "awaiting_payment" || made.payment_instructions.method !== "mobile_money") {
    throw new Error(`unexpected: ${JSON.stringify(made)}`);
  }

  await act(origin, "payment_arrives", made.id);
  await act(origin, "complete", made.id);
  const params = { path: { id: made.id } };
  const read = onrampIn(taken(await client.GET("/transactions/{id}", { params })));

  const event = await receiver.next("transaction.completed");
  if (event.type !== "transaction.completed") throw new Error(`unexpected event ${event.type}`);
  const told = onrampIn(event.data.object);
  if (told.id !== made.id) throw new Error(`the event is about ${told.id}`);
  console.log(JSON.stringify({ onramp: read.status, event: event.type, object: told.status }));
  receiver.close();
}

void main(process.argv[2] ?? "");
