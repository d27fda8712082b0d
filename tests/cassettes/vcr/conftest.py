from vcr_recordings import recorded

__all__ = ["recorded"]
