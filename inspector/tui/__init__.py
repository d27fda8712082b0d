"""The run in the terminal. `page`, `outline` and the `…_page` modules make values; the widgets only show them."""
