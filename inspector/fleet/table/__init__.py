"""The compacted table, which is made from the landing rows, and what is deleted from it and from the rest."""
