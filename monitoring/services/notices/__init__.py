"""Raise alerts, and send people notices of them.

Start at `notices`, whose two ticks plan and send.

    alerts         raised, renewed and ended by their cause; taken up, snoozed and
                   released by people
    channels       where notices go: e-mail, webhooks, services that the administrator allows
    notices        which alert goes to which channel, and when it is tried again
    messages       notices in words, and how a message is sent over its channel
    sending        by a child process with limits; sending_child is what it does
    trial_notices  a test notice over a channel

Checks, coverage and the guard call `alerts.settle_alert`.
"""
