"""MCP as the tape sees it: no path belongs to it."""

from turntape.cassettes.apis.interface import Api

API = Api()
