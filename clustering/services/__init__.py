"""All writes of this app, by subject.

`outbox`, beside the rooms, sends messages of any app to addresses that people gave: it stands here
since `fetching` does.
"""
