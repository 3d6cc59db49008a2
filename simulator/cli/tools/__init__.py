"""Commands that need no running server or start their own: scenario, certify, explore, conform, compare, docs."""
