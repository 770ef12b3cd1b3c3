"""Dates in words, resolved against the local day on which they were written.

`resolver.resolve` is the way in, and knows ranges; extraction, quotes and the analysis of questions all use it.
`calendar_spans` has the calendar (spans of days, and dates that recur, which are rules of dateutil), `words` the tokens
and names, `cursor` numbers and digits, `grammar` and `phrases` the phrases, `partial_dates` dates as facts hold them,
and other languages than English, which are dateparser's.
"""
