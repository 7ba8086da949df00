"""Review a rule before it serves: propose, judge, compare, publish, and go back.

Start at `reviewing.propose_rule`.

    reviewing      propose, send back, publish as the site's policy allows
    judging        what people say of the pages of a review
    impacts        what publishing would change, computed by a job
    publishing     the switch itself: bellwethers and golden records in the same transaction
    rolling_back   publish the version that served before
    hand_versions  save what somebody wrote as the next version
"""
