"""A loop on plain httpx."""

import httpx
from raw_loop import HEADERS, STREAMED, URL, body, joined, talk

with httpx.Client(headers=HEADERS, timeout=30) as client:

    def ask():
        if not STREAMED:
            return client.post(URL, json=body()).raise_for_status().json()["choices"][0]["message"]
        with client.stream("POST", URL, json=body()) as response:
            return joined(response.raise_for_status().iter_lines())

    talk(ask)
