// Orders from your application under load, with the simulator behind it: k6 run load.js
//
// APP_URL is your application. Change `order` to a call that makes it talk to the ramp service.
import http from "k6/http";
import { check, sleep } from "k6";

const APP = __ENV.APP_URL || "http://127.0.0.1:8000";
const CONTROL = `${__ENV.SIMULATOR_URL || "http://127.0.0.1:8642"}/_simulator`;
const HEADERS = {
  "Content-Type": "application/json",
  "X-Simulator-World": __ENV.SIMULATOR_WORLD || "default",
  ...(__ENV.SIMULATOR_CONTROL_TOKEN ? { Authorization: `Bearer ${__ENV.SIMULATOR_CONTROL_TOKEN}` } : {}),
};

export const options = {
  scenarios: {
    orders: { executor: "constant-arrival-rate", rate: Number(__ENV.RATE || 20), duration: __ENV.DURATION || "1m", preAllocatedVUs: 50 },
  },
  thresholds: { http_req_failed: ["rate<0.01"], "http_req_duration{name:order}": ["p(95)<500"] },
};

export function setup() {
  // The network between your application and the service: a random delay of each call.
  const latency = { median: __ENV.RAMP_MEDIAN || "80ms", p99: __ENV.RAMP_P99 || "1s" };
  const fault = http.post(`${CONTROL}/faults`, JSON.stringify({ match: {}, latency }), { headers: HEADERS });
  if (fault.status !== 201) throw new Error(`POST /faults: ${fault.status} ${fault.body}`);
  return { fault: fault.json("id") };
}

export default function order() {
  const number = `load-${__VU}-${__ITER}`;
  const response = http.post(`${APP}/orders`, JSON.stringify({ number, amount: "5000" }), {
    headers: { "Content-Type": "application/json" },
    tags: { name: "order" },
  });
  check(response, { "order accepted": (one) => one.status < 300 });
  sleep(0.1);
}

export function teardown(data) {
  http.del(`${CONTROL}/faults/${data.fault}`, null, { headers: HEADERS });
  const settled = http.post(`${CONTROL}/settle`, "{}", { headers: HEADERS });
  check(settled, { "webhooks settled": (one) => one.status === 200 });
}
