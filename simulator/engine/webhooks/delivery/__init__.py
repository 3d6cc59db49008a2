"""Delivery of events to endpoints: queues, attempts, retries, faults, and the record of each delivery."""
