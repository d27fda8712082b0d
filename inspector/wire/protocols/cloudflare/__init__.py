"""Cloudflare Workers AI."""
