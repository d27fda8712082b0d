"""What keys, clicks and messages do to the screen: one responsibility per module, composed by `RunScreen`."""
