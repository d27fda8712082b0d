"""Alibaba's DashScope by its own endpoints."""
