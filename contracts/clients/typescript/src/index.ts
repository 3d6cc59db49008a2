export { type Delivery, isGenuine, type WebhookEvent, Webhooks } from "./webhooks.js";
export { type Keys, type Receipt, type Service, type Target, type Until, World, type WorldOptions } from "./world.js";
export { Calls, Refused } from "./calls.js";
