"""Control calls about webhooks: deliveries, resends and built-in inboxes."""
