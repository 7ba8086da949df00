"""Running an installation: broker, web server, supervision, health, metrics, logs and traces.

supervision        several processes as one: started, started again when dead, stopped together
gunicorn           how the web server serves; patient_worker waits for no client, by kept_answers
request_limits     what a request may be before anybody is asked who they are
page_requests      requests that read strangers' pages, handed to processes with limits
page_process       the program of such a process; page_answers is what it answers
scheduler          the clock's ticks, which go on although the machine's clock is put back
lock_patience      how long requests wait for what somebody else is changing
file_broker        the broker that needs no server
caches             the cache of an installation; redis_cache where its address is given
known_services     which services the settings name: no other is connected to
identity_provider  how the identity provider is asked
health             whether the process lives, and whether it can serve
metrics            figures for Prometheus
logs               what goes into the log; worker_logs for workers
tracing            who asks, under which id, and how long the answer took
bill_of_materials  what the product is made of
"""
