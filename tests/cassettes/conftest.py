from plugin_project import project, server

__all__ = ["project", "server"]
