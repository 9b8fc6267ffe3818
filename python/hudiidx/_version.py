"""The release. The build of the jars and the wheel, the command and every index written take it from here."""

__version__ = "0.1.0"
