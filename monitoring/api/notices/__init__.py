"""Routes of alerts and channels.

alerts    alerts, and what people do with them
channels  where notices go
"""
