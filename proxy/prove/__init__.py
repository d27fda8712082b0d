"""Non-interference, proven for a run: witnesses before and behind the proxy, and a comparison of what they saw.

A witness passes bytes on and reads none of them. What the one before us got from the client is what the API would
have got without us; what the one behind us got from the API is what the client would have got.
"""
