"""The workbench: see, compare and judge in a browser, served on this machine."""
