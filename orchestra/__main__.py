"""`python -m orchestra` is `orchestra`, for when the script is not on the path."""

from orchestra.cli.main import main

if __name__ == "__main__":
    main()
