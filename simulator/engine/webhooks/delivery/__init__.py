"""How an event gets to its endpoints: queues, attempts, retries, faults, and the record of each delivery."""
