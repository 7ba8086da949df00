"""The page that is annotated.

annotating        the page as it looks, with its attributes beside it
gestures          what an editor did; the answer is how the attributes look now
gesture_requests  read what a browser reports of it; anything unexpected is refused
"""
