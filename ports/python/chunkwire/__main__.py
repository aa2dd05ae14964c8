"""python3 -m chunkwire: the port (appendix B)."""

from .port import main

main()
