"""Control calls about scenarios, recordings and faults."""
