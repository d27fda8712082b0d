"""The sealed run: real clients with real tool servers, recorded once and replayed with nothing but the cassette."""
