"""Control calls about worlds: creation, settings, snapshots, state documents and usage."""
