"""The program that the Flex Template's launcher starts, with the template's parameters as options."""

import sys

from pipelines.cli.template import launch

if __name__ == "__main__":
    sys.exit(launch())
