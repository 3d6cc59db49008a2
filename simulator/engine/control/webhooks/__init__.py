"""Control calls about webhooks: deliveries, resends, the built-in inbox."""
