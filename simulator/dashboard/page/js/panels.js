// All panels in the order of the navigation. A new panel needs a module and a row here.
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
import * as scenarios from "./panels/scenarios.js";
import * as actions from "./panels/actions.js";
import * as keeping from "./panels/keeping.js";
import * as worlds from "./panels/worlds.js";
import * as advice from "./panels/advice.js";

/** {id: the first part of its address, title, group, View, key?: opens the panel after `g`, more?: listed behind "More"}. */
export const PANELS = [
  { id: "", title: "Overview", group: "", key: "o", View: overview.View },
  { id: "resources", title: "Resources", group: "Inspect", key: "r", View: resources.View },
  { id: "requests", title: "Requests", group: "Inspect", key: "q", View: requests.View },
  { id: "events", title: "Events", group: "Inspect", key: "e", View: events.View },
  { id: "deliveries", title: "Deliveries", group: "Inspect", key: "d", View: deliveries.View },
  { id: "advice", title: "Advice", group: "Inspect", key: "a", View: advice.View },
  { id: "inbox", title: "Inboxes", group: "Inspect", key: "i", more: true, View: inbox.View },
  { id: "balances", title: "Balances", group: "Inspect", key: "b", more: true, View: balances.View },
  { id: "rates", title: "Rates", group: "Inspect", more: true, View: rates.View },
  { id: "emails", title: "E-mails", group: "Inspect", more: true, View: emails.View },
  { id: "actions", title: "Actions", group: "Control", key: "x", View: actions.View },
  { id: "faults", title: "Faults", group: "Control", key: "f", View: faults.View },
  { id: "scenarios", title: "Scenarios", group: "Control", key: "s", View: scenarios.View },
  { id: "clock", title: "Clock and timers", group: "Control", key: "t", more: true, View: clock.View },
  { id: "worlds", title: "Worlds", group: "Worlds", key: "w", more: true, View: worlds.View },
  { id: "settings", title: "Settings", group: "Worlds", more: true, View: worlds.Settings },
  { id: "snapshots", title: "Snapshots", group: "Worlds", more: true, View: keeping.Snapshots },
  { id: "recording", title: "Recording", group: "Worlds", more: true, View: keeping.Recording },
];
