"""How true the ledger's numbers are: bars against scripted backends and recorded traffic."""
