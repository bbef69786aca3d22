"""Run the command line by `python -m identica`."""

from identica.cli import main

main()
