"""What `verify` checks, one kind of statement a module. Each yields `Problem`s and raises nothing for damaged files."""
