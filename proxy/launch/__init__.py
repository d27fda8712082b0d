"""Starting a recording and the command behind it: environment, child process, viewer."""
