"""mitmproxy embedded: the recorder addon, routing, upstream proxies and certificates."""
