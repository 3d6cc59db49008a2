// An onramp and its webhook on the client that hey-api makes: `flow.js http://127.0.0.1:8642`.
import { confirmQuote, createQuote, createToken, createWebhook, getTransaction } from "./client";
import type { OnrampTransaction, Transaction, TransactionCompletedEvent, TransactionCreatedEvent } from "./client";
import { client } from "./client/client.gen";
import { act, receive, taken } from "./receiver";

function onrampIn(transaction: Transaction): OnrampTransaction {
  if (transaction.type !== "onramp") throw new Error(`it is of type ${transaction.type}`);
  return transaction;
}

async function main(origin: string): Promise<void> {
  client.setConfig({ baseUrl: `${origin}/v1` });
  const keys = { public_key: "pk_test_simulator", secret_key: "sk_test_simulator" };
  const token = taken(await createToken({ body: keys }));
  client.setConfig({ auth: token.access_token });

  const receiver = await receive<TransactionCompletedEvent | TransactionCreatedEvent>();
  taken(await createWebhook({ body: { url: receiver.url, events: ["*"] } }));

  const quote = taken(
    await createQuote({
      body: {
        type: "onramp",
        network: "celo",
        asset: "USDC",
        fiat_currency: "KES",
        amount: "5000",
        amount_currency: "KES",
        method: "mobile_money",
      },
    }),
  );
  const made = onrampIn(
    taken(
      await confirmQuote({
        path: { id: quote.id },
        headers: { "Idempotency-Key": "onramp-1" },
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
  const read = onrampIn(taken(await getTransaction({ path: { id: made.id } })));

  const event = await receiver.next("transaction.completed");
  if (event.type !== "transaction.completed") throw new Error(`unexpected event ${event.type}`);
  const told = onrampIn(event.data.object);
  if (told.id !== made.id) throw new Error(`the event is about ${told.id}`);
  console.log(JSON.stringify({ onramp: read.status, event: event.type, object: told.status }));
  receiver.close();
}

void main(process.argv[2] ?? "");
