"""OpenAI's Agents API: sessions of agents that OpenAI runs."""
