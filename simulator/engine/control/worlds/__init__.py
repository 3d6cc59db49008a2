"""Control calls about worlds: creation, settings, snapshots, documents, usage."""
