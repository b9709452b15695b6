"""The command `rechunk`: one module a command, `parser.py` for the command line, `main.py` for exit codes."""
