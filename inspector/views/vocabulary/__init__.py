"""What every view calls and draws the same way: the kinds of tokens with their colours, and the signs with words."""
