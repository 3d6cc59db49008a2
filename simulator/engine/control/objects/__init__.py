"""Control calls about resources: their actions and history, and the ledger."""
