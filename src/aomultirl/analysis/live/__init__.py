"""A run as it goes on, for a page that shows it live.

    choosing -> playing (plays a cell, step by step)      -> story (what is shown)
             -> following (reads what another run writes) -> story

Nothing is written here, and nothing is drawn: :mod:`aomultirl.reports.live_server` shows the story.
"""
