"""An independent simulator of each provider's prompt cache, to judge turntape's predictions against.

It shares no code with the prediction: it works on lists of tokens, where the prediction works on digests and counts.
A scripted backend asks it for the usage of each answer.
"""
