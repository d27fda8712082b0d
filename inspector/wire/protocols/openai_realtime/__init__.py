"""OpenAI Realtime: sessions over WebSocket, one turn for each response."""
