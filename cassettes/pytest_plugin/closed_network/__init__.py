"""What is loaded into processes that a test starts, so that their connections are noted or refused.

`sitecustomize.py` is for Python, `closed_network.cjs` for Node.js. Neither imports anything of ours. Both read one
variable and report a connection to the test by a `CONNECT` request to the port in it.
"""

VARIABLE = "TURNTAPE_CLOSED_NETWORK"
"""`{"port": 1234, "closed": true, "allowed": ["example.com"], "refused": ["127.0.0.1:8000"]}`: where to report
connections; whether other machines are refused; hosts, or `host:port`, that are not; and addresses of this machine that
are an LLM API."""
