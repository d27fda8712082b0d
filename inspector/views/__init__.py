"""The views of a run: text, JSON, the HTML report and the terminal viewer."""
