"""A loop on plain requests."""

import requests
from raw_loop import HEADERS, STREAMED, URL, body, joined, talk

with requests.Session() as session:

    def ask():
        with session.post(URL, json=body(), headers=HEADERS, stream=STREAMED, timeout=30) as response:
            response.raise_for_status()
            if not STREAMED:
                return response.json()["choices"][0]["message"]
            return joined(line.decode() for line in response.iter_lines())

    talk(ask)
