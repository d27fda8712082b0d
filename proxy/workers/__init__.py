"""`record --workers N`: several processes with the proxy behind one port, and one process that writes the recording."""
