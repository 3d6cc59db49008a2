export { isGenuine, Webhooks } from "./webhooks.js";
export { World } from "./world.js";
export { Calls, Refused } from "./calls.js";
