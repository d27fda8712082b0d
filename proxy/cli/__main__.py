"""`python -m turntape.proxy.cli`."""

import sys

from . import main

sys.exit(main())
