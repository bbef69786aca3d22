"""Run the command line by `python -m identica.cli`."""

from identica.cli import main

main()
