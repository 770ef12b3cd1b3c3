"""Dates in words, resolved against the local day on which they were written.

`resolver.resolve` is the way in; extraction, quotes and the analysis of questions all use it. `calendar_spans` has the
calendar (spans of days, and dates that recur, which are rules of dateutil), `words` the tokens and numbers, `grammar`
the phrases, `ranges` what joins two of them, `foreign` other languages than English, which are dateparser's.
"""
