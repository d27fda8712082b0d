"""The compacted table, which is made from the landing rows, and deletion permanently."""
