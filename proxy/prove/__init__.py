"""Proof of non-interference for one run: a witness on each side of the proxy, and a comparison of what they saw.

A witness passes bytes on without parsing them. The first one sees what the client sends, which the API would have
received without turntape. The second one sees what the API sends, which the client would have received.
"""
