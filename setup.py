"""What `pyproject.toml` cannot say: on the package index, links and pictures of the README lead into the repository."""

import re
from pathlib import Path

from setuptools import setup

FILES = "https://github.com/turntape/turntape/blob/main/"
PICTURES = "https://raw.githubusercontent.com/turntape/turntape/main/"

page = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
page = re.sub(r'(!\[[^\]]*\]\(|src="|srcset=")(?!https?:)', rf"\1{PICTURES}", page)
page = re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?:|#)", rf"\1{FILES}", page)
setup(long_description=page, long_description_content_type="text/markdown")
