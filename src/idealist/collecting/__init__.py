"""Collecting runs from live engines: asked, timed, and written as they answer.

`engine_addresses` finds out which engine is meant, `request_templates` what it is asked. A module
an engine family knows how to ask and makes an `Answer` of what comes back; `collector` asks all
queries at a given pace; `collected_files` keeps each answer as soon as it is there.
"""
