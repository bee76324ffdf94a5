"""Responses of search engines and vector stores, by query; requests to `_rank_eval`.

`table` says of each engine where its responses keep what; `responses` finds out which query each
one answers; `hits` takes documents and scores out of them; `folders` reads one response a file.
"""

from idealist.formats.engines.folders import is_folder_of_responses, of_folder
from idealist.formats.engines.responses import lists

__all__ = ["is_folder_of_responses", "lists", "of_folder"]
