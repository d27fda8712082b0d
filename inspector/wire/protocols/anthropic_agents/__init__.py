"""Anthropic's managed agents: sessions of agents that Anthropic runs."""
