"""The commands, one file each; `main` loads a command's module when it is called."""
