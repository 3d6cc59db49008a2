import { describe, expect } from "vitest";
import { test } from "../src/vitest.js";
import { Refused } from "../src/index.js";
import type { World } from "../src/index.js";

const ONRAMP = { type: "onramp", network: "celo", asset: "USDC", fiat_currency: "KES", method: "mobile_money" } as const;
const OFFRAMP = { ...ONRAMP, type: "offramp" } as const;
const WALLET = "0x52908400098527886E0F7030069857D2E4169EE7";

const quoted = (world: World) =>
  world.call("post", "/quotes", { body: { ...ONRAMP, amount: "5000", amount_currency: "KES" } });

async function onramp(world: World) {
  const { id } = await quoted(world);
  const body = { wallet_address: WALLET, payer: { phone_number: "+254712345678" } };
  return world.call("post", "/quotes/{id}/confirm", { path: { id }, body, headers: { "Idempotency-Key": `order-${id}` } });
}

test("an onramp completes, and its webhook is genuine", async ({ world, webhooks }) => {
  const made = await onramp(world);
  await world.act("payment_arrives", made);
  await world.act("complete", made);
  const delivery = await webhooks.waitFor("transaction.completed", made);
  expect(delivery.genuine).toBe(true);
  expect((await world.call("get", "/transactions/{id}", { path: { id: made.id } })).status).toBe("completed");
});

test("an offramp completes, and its webhook is genuine", async ({ world, webhooks }) => {
  await world.scenario("autopilot");
  const beneficiary = await world.call("post", "/beneficiaries", {
    body: {
      type: "phone_number",
      name: "Wanjiru Otieno",
      country: "KE",
      fiat_currency: "KES",
      phone_number: { phone_number: "+254722000000", provider: "mpesa" },
    },
  });
  const quote = await world.call("post", "/quotes", { body: { ...OFFRAMP, amount: "30", amount_currency: "USDC" } });
  const body = { beneficiary_id: beneficiary.id, refund_address: WALLET };
  const made = await world.call("post", "/quotes/{id}/confirm", { path: { id: quote.id }, body });
  await world.until(made, "completed");
  expect((await webhooks.waitFor("transaction.completed", made)).genuine).toBe(true);
});

test("a quote expires", async ({ world }) => {
  const quote = await quoted(world);
  await world.advance("31m");
  expect((await world.call("get", "/quotes/{id}", { path: { id: quote.id } })).status).toBe("expired");
});

test("a token that has lapsed is fetched anew", async ({ world }) => {
  await quoted(world);
  await world.advance("2h");
  expect((await quoted(world)).status).toBe("active");
});

test("a webhook that is not taken comes again", async ({ world, webhooks }) => {
  const answers = [500, 500];
  webhooks.answer = () => answers.shift() ?? 200;
  await world.trigger("beneficiary.created");
  await world.advance("6m");
  expect(webhooks.received.map(({ event }) => event.type)).toEqual(Array(3).fill("beneficiary.created"));
});

test("a fault acts until it is taken away", async ({ world }) => {
  const lift = await world.fault({ match: { path: "/profile" }, respond: { status: 503, code: "service_unavailable" } });
  const refused = await world.call("get", "/profile").catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Refused);
  expect(refused).toMatchObject({ status: 503, code: "service_unavailable" });
  await lift();
  expect((await world.call("get", "/profile")).kyc_status).toBe("approved");
});

test("what never comes is refused", async ({ world }) => {
  await expect(world.until(await onramp(world), "completed")).rejects.toMatchObject({ code: "not_reached" });
});

describe.concurrent("side by side", () => {
  for (const amount of ["5000", "7000"]) {
    test(`a payer of ${amount}`, async ({ world, webhooks, expect }) => {
      const { id } = await world.call("post", "/quotes", { body: { ...ONRAMP, amount, amount_currency: "KES" } });
      const body = { wallet_address: WALLET, payer: { phone_number: "+254712345678" } };
      const made = await world.call("post", "/quotes/{id}/confirm", { path: { id }, body });
      await world.act("payment_arrives", made);
      await world.act("complete", made);
      await webhooks.waitFor("transaction.completed", made);
      const { data } = await world.call("get", "/transactions");
      expect(data.map((one) => one.id)).toEqual([made.id]);
      expect(new Set(webhooks.received.map(({ event }) => (event.data.object as { id: string }).id)).size).toBe(1);
    });
  }
});
