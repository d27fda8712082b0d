"""Our HTTP and WebSocket layers, subclasses of those of mitmproxy."""
