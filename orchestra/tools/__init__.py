"""WHAT AN AGENT MAY DO: the port, the toolbox, result processors, and the tools that ship."""
