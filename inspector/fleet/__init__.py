"""Every run of a team in one place: an object store, open Parquet files, and the engines that already read them.

`rows` makes the rows of a recording, `store` opens a bucket or a folder, `shipping` puts recordings and their rows
there, `table` compacts them and deletes permanently, and `asking` is SQL over all of it. There is no server, catalog or
lock: the names of objects follow from their content, so any number of shippers may work at once.

pyarrow, obstore and DuckDB (`turntape[fleet]`) are imported only when they are used.
"""
