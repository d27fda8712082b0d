"""`python -m turntape` is the command `turntape`."""

import sys

from turntape.proxy.cli import main

sys.exit(main())
