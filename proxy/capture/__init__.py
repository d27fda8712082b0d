"""From a connection to a round trip: certificates, routing, the upstream proxy, and the recorder addon."""
