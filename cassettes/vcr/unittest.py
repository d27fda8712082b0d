"""Test cases of `unittest` in which each test has a separate cassette."""

import inspect
import unittest
from pathlib import Path
from typing import Any

from .config import VCR


class VCRMixin:
    """`<class>.<method>.cassette.jsonl` in the folder `cassettes` beside the file of the class. The methods whose names
    begin with `_get_` may be overridden, as with vcrpy."""

    vcr_enabled = True

    def setUp(self) -> None:
        case: Any = super()
        case.setUp()
        if self.vcr_enabled:
            context = self._get_vcr(**self._get_vcr_kwargs()).use_cassette(self._get_cassette_name())
            self.cassette = context.__enter__()
            test: Any = self
            test.addCleanup(context.__exit__, None, None, None)

    def _get_vcr(self, **options: Any) -> VCR:
        options.setdefault("cassette_library_dir", self._get_cassette_library_dir())
        return VCR(**options)

    def _get_vcr_kwargs(self, **options: Any) -> dict[str, Any]:
        return options

    def _get_cassette_library_dir(self) -> str:
        return str(Path(inspect.getfile(type(self))).parent / "cassettes")

    def _get_cassette_name(self) -> str:
        test: Any = self
        return f"{type(self).__name__}.{test._testMethodName}.yaml"


class VCRTestCase(VCRMixin, unittest.TestCase):
    """A test case with `VCRMixin`."""
