"""The synchronous grammar of English, French and Korean sentences."""
