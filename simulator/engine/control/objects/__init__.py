"""Control calls about resources: actions on them, their history, the ledger."""
