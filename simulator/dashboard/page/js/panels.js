// Every panel of the page, in the order of the rail. A new one is its module and a row here.
import * as overview from "./panels/overview.js";
import * as resources from "./panels/resources.js";
import * as requests from "./panels/requests.js";
import * as events from "./panels/events.js";
import * as deliveries from "./panels/deliveries.js";
import * as inbox from "./panels/inbox.js";
import * as emails from "./panels/emails.js";
import * as balances from "./panels/balances.js";
import * as rates from "./panels/rates.js";
import * as clock from "./panels/clock.js";
import * as faults from "./panels/faults.js";

/** {id: the first word of its address, title, group, View, key?: goes there after `g`}. */
export const PANELS = [
  { id: "", title: "Overview", group: "", key: "o", View: overview.View },
  { id: "resources", title: "Resources", group: "Seeing", key: "r", View: resources.View },
  { id: "requests", title: "Requests", group: "Seeing", key: "q", View: requests.View },
  { id: "events", title: "Events", group: "Seeing", key: "e", View: events.View },
  { id: "deliveries", title: "Deliveries", group: "Seeing", key: "d", View: deliveries.View },
  { id: "inbox", title: "Inboxes", group: "Seeing", key: "i", View: inbox.View },
  { id: "emails", title: "E-mails", group: "Seeing", View: emails.View },
  { id: "balances", title: "Balances", group: "Seeing", key: "b", View: balances.View },
  { id: "rates", title: "Rates", group: "Seeing", View: rates.View },
  { id: "clock", title: "Clock and timers", group: "Steering", key: "t", View: clock.View },
  { id: "faults", title: "Faults", group: "Steering", key: "f", View: faults.View },
];
