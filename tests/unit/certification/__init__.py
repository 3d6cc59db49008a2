"""The pure parts of certify."""
