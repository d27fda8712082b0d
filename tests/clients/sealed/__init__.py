"""The sealed run: real clients with real tool servers, recorded once and replayed from the cassette alone."""
