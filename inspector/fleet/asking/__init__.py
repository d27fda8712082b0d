"""SQL over a store: what there is to read, six views over it, named questions, and tapes by their address."""
