"""`settle` and `books` of the shop that is at work in the process of the tests: python job.py settle|books."""

import os
import sys
from http.client import HTTPConnection
from pathlib import Path

place = Path(os.environ["SHOP_BOOKS"], os.environ["SIMULATOR_PUBLIC_KEY"])
if not place.exists():
    sys.exit()  # the shop was not opened
port = int(place.read_text())
connection = HTTPConnection("127.0.0.1", port)
connection.request("GET", f"/{sys.argv[1]}")
sys.stdout.write(connection.getresponse().read().decode())
