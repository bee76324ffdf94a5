"""What it takes to ask others over a network: patience, secrets that stay secret, a good end.

Models that judge and engines that search are asked alike; nothing here knows of either.
"""
