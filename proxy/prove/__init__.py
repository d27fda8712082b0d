"""Proof of non-interference for one run: witnesses before and behind the proxy, and a comparison of what they saw.

A witness passes bytes on without reading them. What the first got from the client is what the API would have received
without turntape; what the second got from the API is what the client would have received.
"""
